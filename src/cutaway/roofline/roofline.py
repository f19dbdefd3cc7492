"""The roofline: a bound on time from FLOPs, bytes and two peaks."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from cutaway.core.checks import check_real
from cutaway.roofline.counts import OpCount
from cutaway.roofline.hardware import Hardware

Bound = Literal["compute", "memory"]


@dataclass(frozen=True, kw_only=True)
class OpTime:
    """The least time of one operation, and what it waits for.

    Attributes:
        name: The operation, as in ``OpCount``.
        compute_s: Its FLOPs at the machine's peak.
        memory_s: Its bytes at the machine's bandwidth.
    """

    name: str
    compute_s: float
    memory_s: float

    @property
    def time_s(self) -> float:
        """The longer of the two: they overlap at best."""
        return max(self.compute_s, self.memory_s)

    @property
    def bound(self) -> Bound:
        """What the operation waits for; memory when the two are equal."""
        return "compute" if self.compute_s > self.memory_s else "memory"


@dataclass(frozen=True, kw_only=True)
class Prediction:
    """The least time of a forward pass, operation after operation.

    Attributes:
        ops: One entry an operation, in order.
        hardware: The name of the machine.

    Invariants: ``total_s`` is at least ``compute_s`` and ``memory_s``.
    """

    ops: tuple[OpTime, ...]
    hardware: str

    @property
    def total_s(self) -> float:
        """Time of the pass: the sum over its operations."""
        return sum(op.time_s for op in self.ops)

    @property
    def compute_s(self) -> float:
        """All FLOPs at the machine's peak."""
        return sum(op.compute_s for op in self.ops)

    @property
    def memory_s(self) -> float:
        """All bytes at the machine's bandwidth."""
        return sum(op.memory_s for op in self.ops)

    @property
    def bound(self) -> Bound:
        """What most of the time is spent waiting for."""
        waiting = sum(op.time_s for op in self.ops if op.bound == "compute")
        return "compute" if waiting > self.total_s / 2 else "memory"


def predict_time(
    ops: Iterable[OpCount],
    hardware: Hardware,
    dtype: str = "float32",
    *,
    activations: bool = True,
) -> Prediction:
    """Predict the least time of a forward pass on a machine.

    Each operation takes the longer of its arithmetic and its traffic;
    operations follow one another.

    Args:
        ops: What ``forward_counts`` returned.
        hardware: The machine; its figures are peaks, so real runs take
            longer.
        dtype: Which of the machine's peaks the matrix products reach.
        activations: Count the traffic of intermediate results; False
            supposes that they never leave the caches.

    Raises:
        ArgumentError: The machine has no peak for ``dtype``.

    Source: Williams, Waterman and Patterson 2009.

    >>> from cutaway.roofline.hardware import hardware
    >>> ops = [OpCount(name="w", layer_count=1, flops=2, weight_bytes=2)]
    >>> predict_time(ops, hardware("h100-sxm"), "bfloat16").bound
    'memory'
    """
    peak = hardware.peak(dtype)
    times = []
    for op in ops:
        moved = (
            op.total_bytes if activations else (op.weight_bytes + op.kv_bytes)
        )
        times.append(
            OpTime(
                name=op.name,
                compute_s=op.flops / peak,
                memory_s=moved / hardware.bandwidth_bytes_per_s,
            )
        )
    return Prediction(ops=tuple(times), hardware=hardware.name)


def attainable_flops(
    intensity: float, hardware: Hardware, dtype: str = "float32"
) -> float:
    """Return the FLOP/s that work of an intensity can reach: the roof.

    Args:
        intensity: FLOPs per byte of memory traffic.
        hardware: The machine.
        dtype: Which of its peaks is the flat part.

    >>> from cutaway.roofline.hardware import hardware
    >>> attainable_flops(1, hardware("h100-sxm"), "bfloat16")
    3350000000000.0
    """
    check_real("intensity", intensity, 0)
    slope = intensity * hardware.bandwidth_bytes_per_s
    return min(hardware.peak(dtype), slope)


def read_time_s(num_bytes: float, hardware: Hardware) -> float:
    """Return the time to read bytes once at the machine's bandwidth.

    With the bytes of all weights it is the bound on a decode step of one
    sequence, whatever the arithmetic.

    >>> from cutaway.roofline.hardware import hardware
    >>> round(read_time_s(16_060_522_496, hardware("h100-sxm")) * 1e3, 2)
    4.79
    """
    check_real("num_bytes", num_bytes, 0)
    return num_bytes / hardware.bandwidth_bytes_per_s
