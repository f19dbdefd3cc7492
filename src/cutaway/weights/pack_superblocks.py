"""Quantisers of the k-quants: superblocks of 256 elements.

First each group gets the scale that loses least, by search. Then the scales
of a superblock are quantised themselves, and the elements are rounded anew
with the scales as the file will have them. Functions have the form of those
in ``pack_blocks``, and reverse those in ``quant_superblocks``.

Source: ggml, src/ggml-quants.c, ``quantize_row_q4_K_ref`` and the like.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.weights.pack_blocks import inverse, put_half
from cutaway.weights.quant_blocks import half_column
from cutaway.weights.scale_search import search_scale, search_scale_and_minimum

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float32, UInt8

    Values = Float32[Any, "blocks block_size"]
    Out = UInt8[Any, "blocks block_bytes"]


def _round_scales(
    values: Float32[Any, "blocks groups"], top: int
) -> tuple[Float32[Any, "blocks 1"], UInt8[Any, "blocks groups"]]:
    """Quantise the scales of a superblock to integers from 0 to top."""
    largest = values.max(axis=1, keepdims=True)
    positive = largest > 0
    unit = np.where(positive, top / np.where(positive, largest, 1), 0)
    rounded = np.rint(unit.astype(np.float32) * values)
    codes = np.minimum(rounded, top).astype(np.uint8)
    return np.where(positive, largest / np.float32(top), 0), codes


def _pack_scales(
    scales: UInt8[Any, "blocks 8"], minima: UInt8[Any, "blocks 8"]
) -> UInt8[Any, "blocks 12"]:
    """Pack eight 6-bit scales and minima in 12 bytes (see quant_superblocks).

    The upper two bits of scales and minima 4-7 go on top of those of 0-3.
    """
    low = scales[:, :4] | (scales[:, 4:] >> 4 << 6)
    mid = minima[:, :4] | (minima[:, 4:] >> 4 << 6)
    high = (scales[:, 4:] & 15) | (minima[:, 4:] & 15) << 4
    return np.concatenate([low, mid, high], axis=1)


def _affine_groups(
    x: Values, out: Out, top: int, *, first: float, candidates: int
) -> UInt8[Any, "blocks 8 32"]:
    """Write d, dmin, scales and minima; return the integers 0 to top."""
    groups = x.reshape(-1, 8, 32)
    scale, minimum = search_scale_and_minimum(
        groups.reshape(-1, 32), top, first=first, steps=candidates
    )
    d, scales = _round_scales(scale.reshape(-1, 8), 63)
    dmin, minima = _round_scales(minimum.reshape(-1, 8), 63)
    put_half(out, 0, d)
    put_half(out, 2, dmin)
    out[:, 4:16] = _pack_scales(scales, minima)
    step = (half_column(out, 0) * scales)[:, :, None]
    shift = (half_column(out, 2) * minima)[:, :, None]
    q = groups + shift
    q *= inverse(step)
    np.rint(q, out=q)
    return np.clip(q, 0, top, out=q).astype(np.uint8)


def q4_k(x: Values, out: Out) -> None:
    """Eight groups of 32 with scale and minimum, 4 bits an element."""
    q = _affine_groups(x, out, 15, first=-1.0, candidates=21)
    packed = q[:, 0::2] | q[:, 1::2] << 4
    out[:, 16:] = packed.reshape(-1, 128)


def q5_k(x: Values, out: Out) -> None:
    """As Q4_K, with 5 bits an element."""
    q = _affine_groups(x, out, 31, first=-0.5, candidates=16)
    fifth = np.packbits(q >> 4, axis=1, bitorder="little")
    out[:, 16:48] = fifth.reshape(-1, 32)
    packed = (q[:, 0::2] & 15) | q[:, 1::2] << 4
    out[:, 48:] = packed.reshape(-1, 128)


def q6_k(x: Values, out: Out) -> None:
    """Sixteen groups of 16 with a signed scale, 6 bits an element."""
    scale = search_scale(x.reshape(-1, 16), 32).reshape(-1, 16)
    place = np.abs(scale).argmax(axis=1, keepdims=True)
    d = np.take_along_axis(scale, place, axis=1) / np.float32(-128)
    codes = np.minimum(np.rint(scale * inverse(d)), 127).astype(np.int8)
    put_half(out, 208, d)
    out[:, 192:208] = codes.view(np.uint8)
    step = (half_column(out, 208) * codes)[:, :, None]
    q = x.reshape(-1, 16, 16) * inverse(step)
    np.rint(q, out=q)
    q = (np.clip(q, -32, 31, out=q) + 32).astype(np.uint8)
    runs = q.reshape(-1, 2, 4, 32)
    lower = (runs[:, :, :2] & 15) | runs[:, :, 2:] << 4
    out[:, :128] = lower.reshape(-1, 128)
    pairs = runs >> 4 << np.array([0, 2, 4, 6], np.uint8)[:, None]
    out[:, 128:192] = np.bitwise_or.reduce(pairs, axis=2).reshape(-1, 64)
