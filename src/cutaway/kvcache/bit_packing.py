"""Small whole numbers side by side in bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check

if TYPE_CHECKING:
    from jaxtyping import UInt8

WIDTHS = (2, 4, 8)


def packed_bytes(count: int, bits: int) -> int:
    """Return the bytes that a row of numbers takes.

    >>> packed_bytes(6, bits=2)
    2
    """
    return -(-count * bits // 8)


def pack_bits(
    codes: UInt8[np.ndarray, "*lead count"], bits: int
) -> UInt8[np.ndarray, "*lead bytes"]:
    """Put the numbers of each row into as few bytes as they need.

    The first number of a byte is in its lowest bits.

    Args:
        codes: Numbers below ``2**bits``.
        bits: 2, 4 or 8.

    Returns:
        New bytes; the last of a row is filled up with zeros.

    Raises:
        ArgumentError: Another number of bits, or a number does not fit.

    Cost: O(size).

    >>> pack_bits(np.array([1, 2, 3], np.uint8), 4).tolist()
    [33, 3]
    """
    check(bits in WIDTHS, "bits", bits, f"one of {WIDTHS}")
    largest = int(codes.max(initial=0))
    check(largest < 2**bits, "codes", largest, f"below {2**bits}")
    *lead, count = codes.shape
    packed = np.zeros((*lead, packed_bytes(count, bits)), np.uint8)
    per_byte = 8 // bits
    for lane in range(per_byte):
        numbers = codes[..., lane::per_byte]
        packed[..., : numbers.shape[-1]] |= numbers << np.uint8(bits * lane)
    return packed


def unpack_bits(
    packed: UInt8[np.ndarray, "*lead bytes"], bits: int, count: int
) -> UInt8[np.ndarray, "*lead count"]:
    """Return the numbers that ``pack_bits`` packed.

    Args:
        packed: Bytes of rows.
        bits: 2, 4 or 8.
        count: Numbers of a row.

    Raises:
        ArgumentError: Another number of bits, or the rows have not as
            many bytes.

    Cost: O(size).

    >>> unpack_bits(np.array([33, 3], np.uint8), bits=4, count=3).tolist()
    [1, 2, 3]
    """
    check(bits in WIDTHS, "bits", bits, f"one of {WIDTHS}")
    *lead, have = packed.shape
    need = packed_bytes(count, bits)
    check(have == need, "packed.shape[-1]", have, f"{need} bytes")
    per_byte = 8 // bits
    codes = np.empty((*lead, have * per_byte), np.uint8)
    for lane in range(per_byte):
        numbers = packed >> np.uint8(bits * lane)
        codes[..., lane::per_byte] = numbers & np.uint8(2**bits - 1)
    return codes[..., :count]
