"""The gated feed-forward network."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.core.backends import backend
from cutaway.layers.arrays import check_array

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float


def swiglu(
    x: Float[Any, "tokens hidden"],
    w_gate: Float[Any, "ffn hidden"],
    w_up: Float[Any, "ffn hidden"],
    w_down: Float[Any, "hidden ffn"],
    *,
    impl: str,
) -> Float[Any, "tokens hidden"]:
    """Widen, gate and narrow: W_down (silu(W_gate x) * W_up x).

    Two matrices widen the row; the first, through silu(g) = g / (1 +
    e^-g), decides how much of the second passes; the third narrows back.

    Args:
        x: The rows.
        w_gate: The gate's matrix.
        w_up: The content's matrix.
        w_down: The matrix back to the residual stream.
        impl: ``"numpy"`` or ``"torch"``.

    Returns:
        Rows of the width of ``x``.

    Raises:
        ArgumentError: The matrices do not fit each other or ``x``.

    Cost: 6 x tokens x hidden x ffn FLOPs, about two thirds of a layer.
    Source: Shazeer 2020, arXiv 2002.05202, equation 6.

    >>> import numpy as np
    >>> one = np.ones((1, 1))
    >>> swiglu(one, one, one, one, impl="numpy")
    array([[0.73105858]])
    """
    check_array("x", x, ("tokens", "hidden"), impl=impl)
    hidden = x.shape[-1]
    check_array("w_gate", w_gate, ("ffn", hidden), impl=impl)
    ffn = w_gate.shape[0]
    check_array("w_up", w_up, (ffn, hidden), impl=impl)
    check_array("w_down", w_down, (hidden, ffn), impl=impl)
    return backend(__package__, impl).swiglu(x, w_gate, w_up, w_down)
