"""Named accelerators: dense peaks, bandwidth, memory, and who says so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from cutaway.core.checks import check_choice, check_int, check_real

_TB = 1e12
_TFLOP = 1e12
_GB = 10**9


@dataclass(frozen=True, kw_only=True)
class Hardware:
    """What the roofline must know of one machine.

    Attributes:
        name: The exact product (form factor and memory size included).
        peak_flops: Peak of dense matrix products by dtype name, FLOP/s.
        bandwidth_bytes_per_s: Peak of reads from main memory.
        memory_bytes: Size of that memory.
        source: Where the figures stand.
        note: What to watch for when quoting them.

    Invariants: every figure is positive; peaks are without sparsity.

    Source: Williams, Waterman and Patterson 2009, section 3.

    >>> round(hardware("h100-sxm").ridge("bfloat16"), 1)
    295.3
    """

    name: str
    peak_flops: Mapping[str, float]
    bandwidth_bytes_per_s: float
    memory_bytes: int
    source: str
    note: str = ""

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


def _gpu(
    name: str,
    tflops: float,
    terabytes_per_s: float,
    gigabytes: int,
    source: str,
    note: str,
    *,
    float8_tflops: float | None = None,
) -> Hardware:
    """Return a GPU whose 16-bit formats share one peak."""
    peaks = {"bfloat16": tflops * _TFLOP, "float16": tflops * _TFLOP}
    if float8_tflops is not None:
        peaks["float8"] = float8_tflops * _TFLOP
    return Hardware(
        name=name,
        peak_flops=peaks,
        bandwidth_bytes_per_s=terabytes_per_s * _TB,
        memory_bytes=gigabytes * _GB,
        source=source,
        note=note,
    )


HARDWARE: Mapping[str, Hardware] = MappingProxyType(
    {
        "a100-sxm-80gb": _gpu(
            "NVIDIA A100 SXM 80 GB",
            312,
            2.039,
            80,
            "NVIDIA A100 architecture white paper (2020) and A100 data sheet",
            "Tables also print 624, with 2:4 sparsity. The 40 GB and the "
            "PCIe cards read memory more slowly: another ridge.",
        ),
        "h100-sxm": _gpu(
            "NVIDIA H100 SXM5 80 GB",
            989.4,
            3.35,
            80,
            "NVIDIA H100 architecture white paper (2022) and H100 data sheet",
            "The data sheet prints 1,979 for bfloat16: with 2:4 sparsity, "
            "twice the dense rate. The PCIe card is slower in both respects.",
            float8_tflops=1978.9,
        ),
        "h200-sxm": _gpu(
            "NVIDIA H200 SXM 141 GB",
            989.4,
            4.8,
            141,
            "NVIDIA H200 data sheet (2023)",
            "Same chip as the H100, faster and larger memory; the data "
            "sheet prints sparse rates.",
            float8_tflops=1978.9,
        ),
        "b200-hgx": _gpu(
            "NVIDIA B200 (HGX/DGX) 180 GB",
            2250,
            8.0,
            180,
            "NVIDIA HGX and DGX B200 data sheets (2024)",
            "Tables print 4,500, with 2:4 sparsity. NVIDIA prints 7.7 and "
            "8.0 TB/s, 180 and 192 GB, by document: these are of HGX.",
            float8_tflops=4500,
        ),
        "gb200": _gpu(
            "NVIDIA GB200 (one of its two GPUs) 186 GB",
            2500,
            8.0,
            186,
            "NVIDIA GB200 NVL72 data sheet (2024)",
            "Tables print 5,000 a GPU, with 2:4 sparsity; memory is given "
            "as 186 or 192 GB by document.",
        ),
        "mi300x": _gpu(
            "AMD Instinct MI300X 192 GB",
            1307,
            5.3,
            192,
            "AMD Instinct MI300X data sheet (2023)",
            "The data sheet also prints 2,615, with sparsity.",
        ),
    }
)


def hardware(name: str) -> Hardware:
    """Return a named accelerator of the table.

    Args:
        name: A key of ``HARDWARE``; case does not matter.

    Raises:
        ArgumentError: The name is unknown; the message lists the known.

    >>> hardware("H100-SXM").memory_bytes
    80000000000
    """
    key = str(name).lower()
    check_choice("hardware", key, tuple(HARDWARE))
    return HARDWARE[key]
