"""Quantisers of the plain types and of blocks of 32 elements.

Each function takes ``x``, float32 ``[blocks, block_size]``, all finite, and
fills ``out``, uint8 ``[blocks, block_bytes]``. It is the reverse of the
function of the same name in ``quant_blocks``.

A scale is rounded to float16 for the file, but the integers are found with
the scale as it was before: so ggml does it, and so do we, to be bit-equal.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.weights.quant_blocks import MXFP4_VALUES

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float32, UInt8

    Values = Float32[Any, "blocks block_size"]
    Out = UInt8[Any, "blocks block_bytes"]
    Column = Float32[Any, "blocks 1"]


def put_half(out: Out, first: int, column: Column) -> None:
    """Write a column of numbers as float16 at byte ``first`` of each block."""
    half = column.reshape(-1, 1).astype("<f2")
    out[:, first : first + 2] = half.view(np.uint8)


def inverse(scale: Column) -> Column:
    """Return 1 / scale, and 0 where that is no float32 (scale 0 or tiny)."""
    with np.errstate(divide="ignore", over="ignore"):
        inverted = 1 / scale
    return np.where(np.isfinite(inverted), inverted, np.float32(0))


def _put_nibbles(out: Out, first: int, q: UInt8[Any, "blocks 32"]) -> None:
    """Pack 4-bit numbers: element j low, element j + 16 high in byte j."""
    out[:, first : first + 16] = (q[:, :16] & 15) | (q[:, 16:] << 4)


def _put_fifth_bits(out: Out, first: int, q: UInt8[Any, "blocks 32"]) -> None:
    """Pack the bit of worth 16 of each element into a 32-bit mask."""
    mask = np.packbits(q >> 4, axis=1, bitorder="little")
    out[:, first : first + 4] = mask


def f32(x: Values, out: Out) -> None:
    """Copy: the bytes are the numbers."""
    out.reshape(-1).view("<f4")[...] = x.reshape(-1)


def f16(x: Values, out: Out) -> None:
    """Round to float16, ties to even."""
    out.reshape(-1).view("<f2")[...] = x.reshape(-1)


def bf16(x: Values, out: Out) -> None:
    """Keep the upper half of each float32, rounded, ties to even."""
    bits = x.reshape(-1).view(np.uint32)
    rounded = bits + (0x7FFF + (bits >> 16 & 1))
    out.reshape(-1).view("<u2")[...] = rounded >> 16


def _symmetric(x: Values, half: int) -> tuple[Column, UInt8[Any, "blocks 32"]]:
    """Map the element of largest magnitude to -half; return scale and q.

    That element, with its sign, fixes the scale: so the one end of the
    range that has one level more is used. Its mirror image would be level
    +half, which does not exist: it is clipped to half - 1.
    """
    place = np.abs(x).argmax(axis=1, keepdims=True)
    d = np.take_along_axis(x, place, axis=1) / np.float32(-half)
    q = x * inverse(d)
    q += np.float32(half + 0.5)
    np.minimum(q, np.float32(2 * half - 1), out=q)
    return d, q.astype(np.uint8)  # drops the fraction


def _affine(
    x: Values, top: int
) -> tuple[Column, Column, UInt8[Any, "blocks 32"]]:
    """Spread the levels 0 to top from minimum to maximum."""
    low = x.min(axis=1, keepdims=True)
    d = (x.max(axis=1, keepdims=True) - low) / np.float32(top)
    q = x - low
    q *= inverse(d)
    q += np.float32(0.5)
    np.minimum(q, np.float32(top), out=q)
    return d, low, q.astype(np.uint8)


def q4_0(x: Values, out: Out) -> None:
    """Scale d so that the largest magnitude is level -8."""
    d, q = _symmetric(x, 8)
    put_half(out, 0, d)
    _put_nibbles(out, 2, q)


def q4_1(x: Values, out: Out) -> None:
    """Scale d and minimum m: 16 levels from minimum to maximum."""
    d, low, q = _affine(x, 15)
    put_half(out, 0, d)
    put_half(out, 2, low)
    _put_nibbles(out, 4, q)


def q5_0(x: Values, out: Out) -> None:
    """As Q4_0, with 32 levels."""
    d, q = _symmetric(x, 16)
    put_half(out, 0, d)
    _put_fifth_bits(out, 2, q)
    _put_nibbles(out, 6, q)


def q5_1(x: Values, out: Out) -> None:
    """As Q4_1, with 32 levels."""
    d, low, q = _affine(x, 31)
    put_half(out, 0, d)
    put_half(out, 2, low)
    _put_fifth_bits(out, 4, q)
    _put_nibbles(out, 8, q)


def q8_0(x: Values, out: Out) -> None:
    """Scale d so that the largest magnitude is 127; halves away from 0."""
    d = np.abs(x).max(axis=1, keepdims=True) / np.float32(127)
    q = x * inverse(d)
    whole = np.trunc(q)
    whole += np.trunc(2 * (q - whole))
    put_half(out, 0, d)
    out[:, 2:] = whole.astype(np.int8).view(np.uint8)


def mxfp4(x: Values, out: Out) -> None:
    """Scale by a power of two; round to E2M1, ties towards zero."""
    largest = np.abs(x).max(axis=1, keepdims=True)
    exponent = np.zeros_like(largest)
    np.log2(largest, out=exponent, where=largest > 0)
    # 2 is the exponent of E2M1's largest number, 6 = 1.5 * 2**2.
    biased = np.where(largest > 0, np.floor(exponent) - 2 + 127, 0)
    code = np.clip(biased, 0, 254).astype(np.uint8)
    out[:, :1] = code
    scaled = np.ldexp(x, 128 - code.astype(np.int32))
    positive = MXFP4_VALUES[:8]
    middles = (positive[1:] + positive[:-1]) / 2
    q = np.searchsorted(middles, np.abs(scaled)).astype(np.uint8)
    q |= ((scaled < 0) & (q > 0)).astype(np.uint8) << 3
    _put_nibbles(out, 1, q)
