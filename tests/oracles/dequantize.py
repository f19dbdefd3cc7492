"""Slow dequantisers, one element at a time, after ggml's C code.

Every product and sum is rounded to float32 on its own, in ggml's order.
Imports nothing of the package.
"""

from __future__ import annotations

import numpy as np

F = np.float32


def _half(block: bytes, at: int) -> np.float32:
    return F(np.frombuffer(block, "<f2", 1, at)[0])


def _signed(byte: int) -> int:
    return byte - 256 if byte > 127 else byte


def _nibble(block: bytes, first: int, j: int) -> int:
    byte = block[first + j % 16]
    return byte & 15 if j < 16 else byte >> 4


def _fifth(block: bytes, first: int, j: int) -> int:
    mask = int.from_bytes(block[first : first + 4], "little")
    return (mask >> j & 1) << 4


def q4_0(block: bytes) -> list[np.float32]:
    d = _half(block, 0)
    return [F(_nibble(block, 2, j) - 8) * d for j in range(32)]


def q4_1(block: bytes) -> list[np.float32]:
    d, m = _half(block, 0), _half(block, 2)
    return [F(_nibble(block, 4, j)) * d + m for j in range(32)]


def q5_0(block: bytes) -> list[np.float32]:
    d = _half(block, 0)
    q = [_nibble(block, 6, j) | _fifth(block, 2, j) for j in range(32)]
    return [F(value - 16) * d for value in q]


def q5_1(block: bytes) -> list[np.float32]:
    d, m = _half(block, 0), _half(block, 2)
    q = [_nibble(block, 8, j) | _fifth(block, 4, j) for j in range(32)]
    return [F(value) * d + m for value in q]


def q8_0(block: bytes) -> list[np.float32]:
    d = _half(block, 0)
    return [F(_signed(block[2 + j])) * d for j in range(32)]


E2M1 = [0, 0.5, 1, 1.5, 2, 3, 4, 6, 0, -0.5, -1, -1.5, -2, -3, -4, -6]


def mxfp4(block: bytes) -> list[np.float32]:
    # Exact in float64; a result beyond float32 becomes infinite.
    scale = 2.0 ** (block[0] - 127)
    return [F(E2M1[_nibble(block, 1, j)] * scale) for j in range(32)]


def _scale_min(j: int, packed: bytes) -> tuple[int, int]:
    """ggml's get_scale_min_k4."""
    if j < 4:
        return packed[j] & 63, packed[j + 4] & 63
    scale = (packed[j + 4] & 15) | (packed[j - 4] >> 6 << 4)
    minimum = (packed[j + 4] >> 4) | (packed[j] >> 6 << 4)
    return scale, minimum


def _k45(block: bytes, quants: int, high: int | None) -> list[np.float32]:
    d, dmin = _half(block, 0), _half(block, 2)
    out = []
    for group in range(8):
        scale, minimum = _scale_min(group, block[4:16])
        for j in range(32):
            byte = block[quants + 32 * (group // 2) + j]
            q = byte >> 4 if group % 2 else byte & 15
            if high is not None:
                q += 16 * (block[high + j] >> group & 1)
            out.append(d * F(scale) * F(q) - dmin * F(minimum))
    return out


def q4_k(block: bytes) -> list[np.float32]:
    return _k45(block, 16, None)


def q5_k(block: bytes) -> list[np.float32]:
    return _k45(block, 48, 16)


def q6_k(block: bytes) -> list[np.float32]:
    d = _half(block, 208)
    out = [F(0)] * 256
    for half in range(2):
        ql, qh = block[64 * half :], block[128 + 32 * half :]
        scales = block[192 + 8 * half :]
        for j in range(32):
            for run in range(4):
                low = ql[j + 32 * (run % 2)]
                low = low >> 4 if run > 1 else low & 15
                q = (low | (qh[j] >> 2 * run & 3) << 4) - 32
                scale = _signed(scales[j // 16 + 2 * run])
                out[128 * half + 32 * run + j] = d * F(scale) * F(q)
    return out
