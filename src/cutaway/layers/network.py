"""The feed-forward network of every kind: gated or not, any activation."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cutaway.core.backends import backend
from cutaway.core.block_config import FFNConfig
from cutaway.core.checks import check
from cutaway.layers.ffn import swiglu
from cutaway.layers.linear import linear

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float


class NetworkWeights(NamedTuple):
    """Matrices ``[out, in]`` of a network, and their biases or None.

    Attributes:
        up: Makes the content.
        down: Goes back to the residual stream.
        gate: Makes the gate; None in a network without.
        up_bias: Added behind ``up``.
        down_bias: Added behind ``down``.
        gate_bias: Added behind ``gate``.

    >>> import numpy as np
    >>> NetworkWeights(up=np.eye(2), down=np.eye(2)).gate is None
    True
    """

    up: Float[Any, "ffn hidden"]
    down: Float[Any, "hidden ffn"]
    gate: Float[Any, "ffn hidden"] | None = None
    up_bias: Float[Any, " ffn"] | None = None
    down_bias: Float[Any, " hidden"] | None = None
    gate_bias: Float[Any, " ffn"] | None = None


def feed_forward(
    x: Float[Any, "tokens hidden"],
    weights: NetworkWeights,
    kind: FFNConfig,
    *,
    impl: str,
) -> Float[Any, "tokens hidden"]:
    """Widen, activate and narrow.

    ``down(act(gate(x)) * up(x))`` with a gate, ``down(act(up(x)))``
    without.

    Args:
        x: The rows.
        weights: Matrices and biases; with a gate if ``kind.gated``.
        kind: Gated or not, and the activation.
        impl: ``"numpy"`` or ``"torch"``.

    Returns:
        Rows of the width of ``x``.

    Raises:
        ArgumentError: The matrices do not fit each other or ``x``, or
            there is a gate where none belongs, or none where one does.

    Cost: 2 x tokens x hidden x ffn FLOPs for each matrix.

    >>> import numpy as np
    >>> one = np.ones((1, 1))
    >>> kind = FFNConfig(gated=False, activation="relu")
    >>> weights = NetworkWeights(-2 * one, one, up_bias=np.array([5.0]))
    >>> feed_forward(one, weights, kind, impl="numpy")
    array([[3.]])
    """
    got = "no matrix" if weights.gate is None else "a matrix"
    fits = (weights.gate is not None) == kind.gated
    check(fits, "weights.gate", got, f"kind.gated = {kind.gated}")
    gate, up, down = weights.gate, weights.up, weights.down
    if kind == SWIGLU and not any(b is not None for b in weights[3:]):
        return swiglu(x, gate, up, down, impl=impl)
    content = linear(x, up, weights.up_bias, impl=impl)
    if kind.gated:
        gates = linear(x, gate, weights.gate_bias, impl=impl)
        hidden = _gated(gates, content, kind, impl)
    else:
        hidden = _activated(content, kind, impl)
    return linear(hidden, down, weights.down_bias, impl=impl)


SWIGLU = FFNConfig()


def _gated(gate: Any, content: Any, kind: FFNConfig, impl: str) -> Any:
    """Return what the gate lets through.

    Source: gpt-oss, ``gpt_oss/torch/model.py``, function ``swiglu``: the
    clamp, and a content that is larger by 1.
    """
    if kind.clamp is not None:
        gate = gate.clip(max=kind.clamp)
        content = content.clip(-kind.clamp, kind.clamp) + 1
    return _activated(gate, kind, impl) * content


def _activated(x: Any, kind: FFNConfig, impl: str) -> Any:
    """Return the activation of every number."""
    module = backend(__package__, impl)
    if kind.activation == "silu":
        return module.silu(x, kind.sigmoid_gain)
    function = {"gelu_tanh": module.gelu_tanh, "relu": module.relu}
    return function[kind.activation](x)
