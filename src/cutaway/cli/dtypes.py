"""Names of number formats on the command line, and their bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cutaway.core.checks import check_choice

if TYPE_CHECKING:
    from cutaway.roofline import CacheFormat

PLAIN: Mapping[str, float] = {
    "float32": 4,
    "float16": 2,
    "bfloat16": 2,
    "float8": 1,
    "int8": 1,
    "int4": 0.5,
}
"""Formats without scales."""

PACKED = ("q8_0", "q6_k", "q5_k", "q4_k", "q4_1", "q4_0", "mxfp4")
"""Formats of GGUF, whose scales count."""

CHOICES = (*PLAIN, *PACKED)


def bytes_of(option: str, dtype: str) -> float:
    """Return the bytes of a number, its share of the scales included.

    Args:
        option: The option's name, for the message.
        dtype: One of ``CHOICES``; case does not matter.

    Raises:
        ArgumentError: No such format.

    >>> bytes_of("--dtype", "bfloat16"), bytes_of("--dtype", "Q4_K")
    (2, 0.5625)
    """
    from cutaway.weights import BLOCK_TYPES

    key = str(dtype).lower()
    check_choice(option, key, CHOICES)
    if key in PLAIN:
        return PLAIN[key]
    return BLOCK_TYPES[key.upper()].bits_per_weight / 8


def cache_format_of(option: str, dtype: str) -> CacheFormat:
    """Return the bytes of keys and values of a cache.

    Args:
        option: The option's name, for the message.
        dtype: One of ``CHOICES``, or two with a slash between, for keys and
            for values. Recurrent states stay in float32.

    Raises:
        ArgumentError: No such format.

    >>> cache_format_of("--cache-dtype", "q8_0/q4_0").value_bytes
    0.5625
    """
    from cutaway.roofline import CacheFormat

    keys, slash, values = str(dtype).partition("/")
    return CacheFormat(
        key_bytes=bytes_of(option, keys),
        value_bytes=bytes_of(option, values if slash else keys),
    )
