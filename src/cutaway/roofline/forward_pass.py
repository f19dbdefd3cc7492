"""One forward pass to be counted: its sizes, and the plain operations."""

from __future__ import annotations

from dataclasses import dataclass

from cutaway.core.config import ModelConfig
from cutaway.roofline.op_count import OpCount
from cutaway.roofline.params import norm_params


@dataclass(frozen=True)
class ForwardPass:
    """The sizes of one forward pass, and the op kinds made from them.

    Attributes:
        config: The model.
        q_len: New tokens.
        context_len: Tokens already in the cache.
        weight_size: Bytes of a weight.
        kv_size: Bytes of a cached number.
        act_size: Bytes of an intermediate number.
    """

    config: ModelConfig
    q_len: int
    context_len: int
    weight_size: float
    kv_size: float
    act_size: float

    def linear(
        self,
        name: str,
        width_in: int,
        width_out: int,
        *,
        layers: int | None = None,
        vectors: int = 0,
        kv_out: int = 0,
    ) -> OpCount:
        """Return a projection of every new token, in every layer.

        Args:
            name: Name of the weight.
            width_in: Length of a row.
            width_out: Length of a row of the result.
            layers: Layers that have it; None for all.
            vectors: Numbers of its bias.
            kv_out: Numbers of a result that go into the cache.
        """
        layers = self.config.num_layers if layers is None else layers
        rows = self.q_len
        weights = layers * width_in * width_out
        read = weights + layers * vectors if rows else 0
        moved = layers * rows * (width_in + width_out)
        return OpCount(
            name=name,
            layer_count=layers,
            flops=2 * rows * weights,
            weight_bytes=read * self.weight_size,
            kv_bytes=layers * rows * kv_out * self.kv_size,
            activation_bytes=moved * self.act_size,
        )

    def elementwise(
        self,
        name: str,
        moved_per_token: int,
        *,
        layers: int | None = None,
        weights: int = 0,
    ) -> OpCount:
        """Return an operation without a matrix product."""
        layers = self.config.num_layers if layers is None else layers
        rows = self.q_len
        return OpCount(
            name=name,
            layer_count=layers,
            weight_bytes=layers * weights * self.weight_size if rows else 0,
            activation_bytes=layers * rows * moved_per_token * self.act_size,
        )

    def norm(self, name: str) -> OpCount:
        """Return a norm of the residual stream; LayerNorm has a bias."""
        moved = 2 * self.config.hidden_size
        return self.elementwise(name, moved, weights=norm_params(self.config))
