"""Bytes of a cached number, plain or quantised in groups."""

from __future__ import annotations

from dataclasses import dataclass, fields

from cutaway.core.checks import check_int, check_real


def bits_per_value(
    bits: int, *, group_size: int, scale_bits: int = 16, zero_bits: int = 0
) -> float:
    """Return the bits of a number whose group shares a scale.

    Args:
        bits: Of the number itself.
        group_size: Numbers that share a scale.
        scale_bits: Of the scale.
        zero_bits: Of the zero point; 0 if there is none.

    Raises:
        ArgumentError: A count is no integer, or too small.

    Source: KIVI, arXiv 2402.02750: groups of 32, a scale and a zero point.

    >>> bits_per_value(4, group_size=32, zero_bits=16)
    5.0
    >>> bits_per_value(8, group_size=32)
    8.5
    """
    check_int("bits", bits, low=1)
    check_int("group_size", group_size, low=1)
    check_int("scale_bits", scale_bits, low=0)
    check_int("zero_bits", zero_bits, low=0)
    return bits + (scale_bits + zero_bits) / group_size


@dataclass(frozen=True, kw_only=True)
class CacheFormat:
    """Bytes of each kind of number that a cache holds.

    Attributes:
        key_bytes: Of a number of a key, or of a latent vector.
        value_bytes: Of a number of a value.
        recurrent_bytes: Of a number of a recurrent state. Engines keep
            it in float32 whatever the cache's format, for errors add up.
        conv_bytes: Of a kept input of a convolution.

    Raises:
        ArgumentError: A size is no positive number.

    >>> CacheFormat.of(1).value_bytes, CacheFormat().recurrent_bytes
    (1, 4)
    """

    key_bytes: float = 2
    value_bytes: float = 2
    recurrent_bytes: float = 4
    conv_bytes: float = 2

    def __post_init__(self) -> None:
        for field in fields(self):
            size = getattr(self, field.name)
            check_real(field.name, size, 0, open_low=True)

    @classmethod
    def of(cls, bytes_per_element: float) -> CacheFormat:
        """Return a format whose keys and values take as many bytes.

        Args:
            bytes_per_element: 2 for bfloat16, 1 for float8.

        Raises:
            ArgumentError: It is no positive number.
        """
        size = bytes_per_element
        check_real("bytes_per_element", size, 0, open_low=True)
        return cls(key_bytes=size, value_bytes=size)


BFLOAT16 = CacheFormat()
"""Keys and values in 16 bits, recurrent states in float32."""
