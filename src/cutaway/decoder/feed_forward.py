"""The feed-forward half of a layer: one network, or a mixture of experts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.core.config import ModelConfig
from cutaway.decoder.experts import choose_experts, mix_experts
from cutaway.decoder.layer_params import LayerParams
from cutaway.layers import (
    NetworkWeights,
    feed_forward,
    from_numpy,
    linear,
    to_numpy,
)

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float


class FeedForward:
    """What a layer does between its second norm and its residual sum.

    It holds no weights; it is made once for a model and serves all layers.

    Args:
        config: The model.
        impl: ``"numpy"`` or ``"torch"``.
    """

    def __init__(self, config: ModelConfig, *, impl: str) -> None:
        self._ffn = config.ffn
        self._moe = config.moe
        self._impl = impl

    def __call__(
        self, weights: LayerParams, h: Float[Any, "tokens hidden"]
    ) -> Float[Any, "tokens hidden"]:
        """Run the tokens through the network, or each through its experts.

        Args:
            weights: Of the layer; with a router they are of experts.
            h: The tokens, normalised.
        """
        if weights.router is None:
            return self._network(_dense(weights), h)
        mixed = self._mixture(weights, h)
        if weights.w_shared_up is None:
            return mixed
        return mixed + self._network(_shared(weights), h)

    def _mixture(self, weights: LayerParams, h: Any) -> Any:
        """Choose experts for every token and add up what they make."""
        impl, moe = self._impl, self._moe
        assert moe is not None  # or the layer would have no router
        logits = linear(h, weights.router, weights.router_bias, impl=impl)
        bias = weights.choice_bias
        ids, shares = choose_experts(
            to_numpy(logits, impl=impl),
            None if bias is None else to_numpy(bias, impl=impl),
            moe,
        )

        def expert(number: int, rows: Any) -> Any:
            return self._network(_one_of(weights, number), rows)

        return mix_experts(h, ids, from_numpy(shares, impl=impl), expert)

    def _network(self, weights: NetworkWeights, h: Any) -> Any:
        return feed_forward(h, weights, self._ffn, impl=self._impl)


def _dense(weights: LayerParams) -> NetworkWeights:
    """Return the one network of a layer, or all experts' at once."""
    return NetworkWeights(
        up=weights.w_up,
        down=weights.w_down,
        gate=weights.w_gate,
        up_bias=weights.b_up,
        down_bias=weights.b_down,
        gate_bias=weights.b_gate,
    )


def _one_of(weights: LayerParams, number: int) -> NetworkWeights:
    """Return the network of an expert; views, no copies."""
    return NetworkWeights(
        *(None if part is None else part[number] for part in _dense(weights))
    )


def _shared(weights: LayerParams) -> NetworkWeights:
    """Return the network that all tokens share."""
    return NetworkWeights(
        up=weights.w_shared_up,
        down=weights.w_shared_down,
        gate=weights.w_shared_gate,
    )
