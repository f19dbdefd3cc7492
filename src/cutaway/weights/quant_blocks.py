"""Dequantisers of the plain types and of blocks of 32 elements.

Each function takes ``raw``, uint8 ``[blocks, block_bytes]``, and fills
``out``, float32 ``[blocks, block_size]``. It converts once and then works in
place, so that a chunk of blocks never leaves the processor's cache.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float32, UInt8

    Raw = UInt8[Any, "blocks block_bytes"]
    Out = Float32[Any, "blocks block_size"]

# The sixteen numbers of E2M1 (a sign, 2 bits of exponent, 1 of mantissa),
# doubled to be integers: 0, 0.5, 1, 1.5, 2, 3, 4, 6 and their negatives.
MXFP4_VALUES = np.array([0, 1, 2, 3, 4, 6, 8, 12], np.float32)
MXFP4_VALUES = np.concatenate([MXFP4_VALUES, 0 - MXFP4_VALUES])
MXFP4_VALUES.flags.writeable = False


def half_column(raw: Raw, first: int) -> Float32[Any, "blocks 1"]:
    """Return the float16 at byte ``first`` of every block, as a column."""
    return raw[:, first : first + 2].view("<f2").astype(np.float32)


def _write_nibbles(raw: Raw, first: int, out: Any) -> None:
    """Write the 4-bit numbers: first all low halves, then all high ones.

    Byte j of a block holds element j (low half) and j + 16 (high half).
    """
    # Masking whole blocks, headers included, is one pass over contiguous
    # bytes: cheaper than many short passes over the packed part alone.
    out[:, :16] = (raw & 15)[:, first:]
    out[:, 16:] = (raw >> 4)[:, first:]


def _fifth_bits(raw: Raw, first: int) -> UInt8[Any, "blocks 32"]:
    """Return 16 where bit j of the block's 32-bit mask is set, else 0."""
    mask = raw[:, first : first + 4]
    return np.unpackbits(mask, axis=1, bitorder="little") << 4


def f32(raw: Raw, out: Out) -> None:
    """Copy: the bytes are the numbers."""
    out.reshape(-1)[...] = raw.reshape(-1).view("<f4")


def f16(raw: Raw, out: Out) -> None:
    """Widen float16; exact."""
    out.reshape(-1)[...] = raw.reshape(-1).view("<f2")


def bf16(raw: Raw, out: Out) -> None:
    """Widen bfloat16: it is the upper half of a float32."""
    bits = out.reshape(-1).view(np.uint32)
    bits[...] = raw.reshape(-1).view("<u2")
    bits <<= 16


def q4_0(raw: Raw, out: Out) -> None:
    """``(q - 8) * d``: f16 d, 32 numbers of 4 bits."""
    _write_nibbles(raw, 2, out)
    out -= 8
    out *= half_column(raw, 0)


def q4_1(raw: Raw, out: Out) -> None:
    """``q * d + m``: f16 d, f16 m, 32 numbers of 4 bits."""
    _write_nibbles(raw, 4, out)
    out *= half_column(raw, 0)
    out += half_column(raw, 2)


def q5_0(raw: Raw, out: Out) -> None:
    """``(q - 16) * d``: f16 d, 32 fifth bits, 32 numbers of 4 bits."""
    _write_nibbles(raw, 6, out)
    out += _fifth_bits(raw, 2)
    out -= 16
    out *= half_column(raw, 0)


def q5_1(raw: Raw, out: Out) -> None:
    """``q * d + m``: f16 d, f16 m, 32 fifth bits, 32 numbers of 4 bits."""
    _write_nibbles(raw, 8, out)
    out += _fifth_bits(raw, 4)
    out *= half_column(raw, 0)
    out += half_column(raw, 2)


def q8_0(raw: Raw, out: Out) -> None:
    """``q * d``: f16 d, 32 signed bytes."""
    out[...] = raw[:, 2:].view(np.int8)
    out *= half_column(raw, 0)


def mxfp4(raw: Raw, out: Out) -> None:
    """``value * 2**(e - 127)``: a byte e, 32 indices of 4 bits into E2M1."""
    _write_nibbles(raw, 1, out)
    out[...] = MXFP4_VALUES[out.astype(np.uint8)]
    # The values are doubled, hence 128; ldexp is exact down to 2**-128.
    power = np.ldexp(np.float32(1), raw[:, :1].astype(np.int32) - 128)
    out *= power
