"""The work of one kind of operation, summed over its layers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class OpCount:
    """One kind of operation in a forward pass, summed over its layers.

    Attributes:
        name: The operation; matrix products bear the name of the weight.
        layer_count: How many times it runs, once a layer; the fields
            below are totals over all of them.
        flops: Floating-point operations of its matrix products.
        weight_bytes: Bytes of parameters read.
        kv_bytes: Bytes of the KV cache read or written.
        activation_bytes: Bytes of inputs read and outputs written, if
            nothing is fused.

    >>> op = OpCount(name="wo", layer_count=1, flops=64, weight_bytes=16)
    >>> op.total_bytes, op.intensity
    (16, 4.0)
    """

    name: str
    layer_count: int
    flops: int = 0
    weight_bytes: float = 0
    kv_bytes: float = 0
    activation_bytes: float = 0

    @property
    def total_bytes(self) -> float:
        """Bytes of weights, cache and activations together."""
        return self.weight_bytes + self.kv_bytes + self.activation_bytes

    @property
    def intensity(self) -> float:
        """FLOPs per byte; 0 for an operation that moves nothing."""
        return self.flops / self.total_bytes if self.total_bytes else 0.0
