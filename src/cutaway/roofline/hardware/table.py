"""Named accelerators: dense peaks, bandwidth, memory, and who says so.

Sizes of caches are in binary units, as the driver reports them; vendors
print the same numbers as "MB" and "KB". Memory is in GB of 10^9 bytes.
"""

from __future__ import annotations

from cutaway.roofline.hardware.spec import Hardware

_TB = 1e12
_TFLOP = 1e12
_GB = 10**9
_MIB = 2**20
_KIB = 2**10


def _gpu(
    name: str,
    tflops: float,
    terabytes_per_s: float,
    gigabytes: int,
    *,
    source: str,
    note: str,
    float8_tflops: float | None = None,
    chip: tuple[int | None, int | None, int | None] = (None, None, None),
) -> Hardware:
    """Return a GPU whose 16-bit formats share one peak.

    ``chip`` holds its SMs, MiB of L2 and KiB of shared memory an SM;
    None for what no source at hand states.
    """
    peaks = {"bfloat16": tflops * _TFLOP, "float16": tflops * _TFLOP}
    if float8_tflops is not None:
        peaks["float8"] = float8_tflops * _TFLOP
    sms, l2, shared = chip
    return Hardware(
        name=name,
        peak_flops=peaks,
        bandwidth_bytes_per_s=terabytes_per_s * _TB,
        memory_bytes=gigabytes * _GB,
        source=source,
        note=note,
        num_sms=sms,
        l2_bytes=None if l2 is None else l2 * _MIB,
        shared_bytes_per_sm=None if shared is None else shared * _KIB,
    )


_A100_CHIP = (108, 40, 164)
_H100_CHIP = (132, 50, 228)
_H100_PCIE_CHIP = (114, 50, 228)
_H200_CHIP = (None, None, 228)
_B200_CHIP = (148, None, 228)

# name, dense TFLOP/s in 16 bits, TB/s, GB
GPUS = {
    "a100-sxm-40gb": _gpu(
        "NVIDIA A100 SXM 40 GB",
        312,
        1.555,
        40,
        source="NVIDIA A100 architecture white paper (2020)",
        note="The first A100, with HBM2: its ridge is not that of the 80 GB "
        "card. Tables also print 624, with 2:4 sparsity.",
        chip=_A100_CHIP,
    ),
    "a100-sxm-80gb": _gpu(
        "NVIDIA A100 SXM 80 GB",
        312,
        2.039,
        80,
        source="NVIDIA A100 architecture white paper (2020) and data sheet",
        note="Tables also print 624, with 2:4 sparsity. The 40 GB and the "
        "PCIe cards read memory more slowly: another ridge.",
        chip=_A100_CHIP,
    ),
    "h100-pcie": _gpu(
        "NVIDIA H100 PCIe 80 GB",
        756,
        2.0,
        80,
        source="NVIDIA H100 architecture white paper (2022) and data sheet",
        note="The data sheet prints 1,513 for bfloat16, with 2:4 sparsity, "
        "and 756 for TF32, sparse too. Slower than the SXM card in both "
        "respects, by different factors.",
        float8_tflops=1513,
        chip=_H100_PCIE_CHIP,
    ),
    "h100-sxm": _gpu(
        "NVIDIA H100 SXM5 80 GB",
        989.4,
        3.35,
        80,
        source="NVIDIA H100 architecture white paper (2022) and data sheet",
        note="The data sheet prints 1,979 for bfloat16: with 2:4 sparsity, "
        "twice the dense rate. The PCIe card is slower in both respects.",
        float8_tflops=1978.9,
        chip=_H100_CHIP,
    ),
    "h200-sxm": _gpu(
        "NVIDIA H200 SXM 141 GB",
        989.4,
        4.8,
        141,
        source="NVIDIA H200 data sheet (2023)",
        note="Same chip as the H100, faster and larger memory; the data "
        "sheet prints sparse rates.",
        float8_tflops=1978.9,
        chip=_H200_CHIP,
    ),
    "b200-hgx": _gpu(
        "NVIDIA B200 (HGX/DGX) 180 GB",
        2250,
        8.0,
        180,
        source="NVIDIA HGX and DGX B200 data sheets (2024)",
        note="Tables print 4,500, with 2:4 sparsity. NVIDIA prints 7.7 and "
        "8.0 TB/s, 180 and 192 GB, by document: these are of HGX.",
        float8_tflops=4500,
        chip=_B200_CHIP,
    ),
    "b200-hgx-7.7tb": _gpu(
        "NVIDIA B200 (HGX/DGX) 180 GB, at 7.7 TB/s",
        2250,
        7.7,
        180,
        source="NVIDIA HGX and DGX B200 data sheets (2024), other editions",
        note="The B200 as documents describe it that print 7.7 TB/s; tables "
        "print 4,500, with 2:4 sparsity. Say which one you take.",
        float8_tflops=4500,
        chip=_B200_CHIP,
    ),
    "gb200": _gpu(
        "NVIDIA GB200 (one of its two GPUs) 186 GB",
        2500,
        8.0,
        186,
        source="NVIDIA GB200 NVL72 data sheet (2024)",
        note="Tables print 5,000 a GPU, with 2:4 sparsity; memory is given "
        "as 186 or 192 GB by document.",
    ),
    "mi300x": _gpu(
        "AMD Instinct MI300X 192 GB",
        1307,
        5.3,
        192,
        source="AMD Instinct MI300X data sheet (2023)",
        note="The data sheet also prints 2,615, with sparsity.",
    ),
}
