"""Dequantisers of the k-quants: superblocks of 256 elements.

A superblock is cut into groups of 16 or 32 elements. The groups' scales are
small integers themselves, and one float16 scales them all: two levels of
quantisation. Functions have the form of those in ``quant_blocks``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.weights.quant_blocks import half_column

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float32, UInt8

    Raw = UInt8[Any, "blocks block_bytes"]
    Out = Float32[Any, "blocks block_size"]


def unpack_scales(
    packed: UInt8[Any, "blocks 12"],
) -> tuple[UInt8[Any, "blocks 8"], UInt8[Any, "blocks 8"]]:
    """Unpack eight 6-bit scales and eight 6-bit minima from 12 bytes.

    Bytes 0-3 hold scales 0-3 and bytes 4-7 minima 0-3, in their lower six
    bits. Bytes 8-11 hold the lower four bits of scales and minima 4-7; the
    two bits that are missing are the upper two of bytes 0-3 and 4-7.
    """
    low, mid, high = packed[:, 0:4], packed[:, 4:8], packed[:, 8:12]
    scales = (low & 63, (high & 15) | (low >> 6 << 4))
    minima = (mid & 63, (high >> 4) | (mid >> 6 << 4))
    return np.concatenate(scales, axis=1), np.concatenate(minima, axis=1)


def q4_k(raw: Raw, out: Out) -> None:
    """``(d * scale) * q - dmin * minimum`` in eight groups of 32.

    Layout: f16 d, f16 dmin, 12 bytes of scales and minima, 128 bytes of
    4-bit numbers. Each run of 32 bytes holds two groups: low halves first.
    """
    packed = raw[:, 16:].reshape(-1, 4, 32)
    pairs = out.reshape(-1, 4, 2, 32)
    pairs[:, :, 0] = packed & 15
    pairs[:, :, 1] = packed >> 4
    _scale_groups(raw, out)


def q5_k(raw: Raw, out: Out) -> None:
    """As Q4_K, with 32 bytes of fifth bits before the 4-bit numbers.

    Bit g of byte j is the fifth bit of element j of group g.
    """
    fifth = raw[:, 16:48]
    packed = raw[:, 48:].reshape(-1, 4, 32)
    groups = out.reshape(-1, 8, 32)
    groups[:, 0::2] = packed & 15
    groups[:, 1::2] = packed >> 4
    for group in range(8):
        groups[:, group] += (fifth >> group & 1) << 4
    _scale_groups(raw, out)


def _scale_groups(raw: Raw, out: Out) -> None:
    """Turn integers into weights, with the scales of Q4_K and Q5_K."""
    scales, minima = unpack_scales(raw[:, 4:16])
    groups = out.reshape(-1, 8, 32)
    groups *= (half_column(raw, 0) * scales)[:, :, None]
    groups -= (half_column(raw, 2) * minima)[:, :, None]


def q6_k(raw: Raw, out: Out) -> None:
    """``(d * scale) * (q - 32)`` in sixteen groups of 16.

    Layout: 128 bytes of lower four bits, 64 bytes of upper two bits, 16
    signed scales, f16 d last. Each half of the superblock is four runs of
    32 elements: run r takes its lower bits from 32 bytes (run r % 2) and
    half-byte r // 2, and its upper bits from bit pair r of 32 bytes.
    """
    lower = raw[:, :128].reshape(-1, 2, 2, 32)
    upper = raw[:, 128:192].reshape(-1, 2, 32)
    scales = raw[:, 192:208].view(np.int8)
    runs = out.reshape(-1, 2, 4, 32)
    runs[:, :, 0:2] = lower & 15
    runs[:, :, 2:4] = lower >> 4
    for run in range(4):
        runs[:, :, run] += (upper >> 2 * run & 3) << 4
    out -= 32
    groups = out.reshape(-1, 16, 16)
    groups *= (half_column(raw, 208) * scales)[:, :, None]
