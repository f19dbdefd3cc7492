"""What the roofline must know of one machine."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from cutaway.core.checks import check_choice, check_int, check_real


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """What the roofline must know of one machine.

    Attributes:
        name: The exact product (form factor and memory size included).
        peak_flops: Peak of dense matrix products by dtype name, FLOP/s.
        bandwidth_bytes_per_s: Peak of reads from main memory.
        memory_bytes: Size of that memory.
        num_sms: Streaming multiprocessors, or None where not known here.
        l2_bytes: Size of the cache that they share, or None.
        shared_bytes_per_sm: Scratch memory of each that a kernel may
            use, or None.
        source: Where the figures stand.
        note: What to watch for when quoting them.

    Invariants: every figure is positive; peaks are without sparsity.

    Source: Williams, Waterman and Patterson 2009, section 3.

    >>> from cutaway.roofline import hardware
    >>> round(hardware("h100-sxm").ridge("bfloat16"), 1)
    295.3
    """

    name: str
    peak_flops: Mapping[str, float]
    bandwidth_bytes_per_s: float
    memory_bytes: int
    source: str
    note: str = ""
    num_sms: int | None = None
    l2_bytes: int | None = None
    shared_bytes_per_sm: int | None = None

    def __post_init__(self) -> None:
        peaks = dict(self.peak_flops)
        for dtype, peak in peaks.items():
            check_real(f"peak_flops[{dtype!r}]", peak, 0, open_low=True)
        check_real(
            "bandwidth_bytes_per_s",
            self.bandwidth_bytes_per_s,
            0,
            open_low=True,
        )
        check_int("memory_bytes", self.memory_bytes, low=1)
        for name in ("num_sms", "l2_bytes", "shared_bytes_per_sm"):
            if getattr(self, name) is not None:
                check_int(name, getattr(self, name), low=1)
        object.__setattr__(self, "peak_flops", MappingProxyType(peaks))

    def peak(self, dtype: str) -> float:
        """Return the dense peak in FLOP/s for a dtype.

        Raises:
            ArgumentError: No figure for that dtype is known here.
        """
        check_choice("dtype", dtype, tuple(self.peak_flops))
        return self.peak_flops[dtype]

    def ridge(self, dtype: str) -> float:
        """Return the ridge point in FLOP/byte: peak over bandwidth.

        Work of a lower intensity waits for memory, of a higher one for
        the arithmetic units.

        Raises:
            ArgumentError: No figure for that dtype is known here.
        """
        return self.peak(dtype) / self.bandwidth_bytes_per_s
