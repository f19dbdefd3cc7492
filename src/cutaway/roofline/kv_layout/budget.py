"""How many tokens a memory holds, and when one layout beats another."""

from __future__ import annotations

from collections.abc import Callable

from cutaway.core.checks import check_int, check_real
from cutaway.roofline.kv_layout.cache_format import BFLOAT16, CacheFormat
from cutaway.roofline.kv_layout.layout import KVLayout

LIMIT = 2**50
"""More tokens than any memory holds."""


def max_tokens(
    layout: KVLayout,
    num_bytes: float,
    cache_format: CacheFormat = BFLOAT16,
    *,
    batch_size: int = 1,
    reserved: bool = False,
    tp: int = 1,
) -> int | None:
    """Return the longest sequences whose caches fit.

    Args:
        layout: The model's cache.
        num_bytes: Memory for caches, on each device.
        cache_format: Bytes of a number.
        batch_size: Sequences of that length.
        reserved: Keep every layer in full, in place of the least.
        tp: Devices that share the heads.

    Returns:
        Tokens of each sequence; 0 also if not even the states fit, and
        None if any number does, as in a model without full attention.

    Raises:
        ArgumentError: A number is negative, or the heads cannot be spread.

    >>> from cutaway.roofline.kv_layout.layout import kv_layout
    >>> from cutaway.roofline.models import CONFIGS
    >>> max_tokens(kv_layout(CONFIGS["opt-13b"]), 12 * 2**30)
    15728
    """
    check_real("num_bytes", num_bytes, 0)
    check_int("batch_size", batch_size, low=1)
    size = layout.reserved_bytes if reserved else layout.floor_bytes
    beyond = _first(
        lambda n: batch_size * size(n, cache_format, tp=tp) > num_bytes
    )
    return None if beyond is None else max(0, beyond - 1)


def break_even_tokens(
    layout: KVLayout,
    other: KVLayout,
    cache_format: CacheFormat = BFLOAT16,
) -> int | None:
    """Return the tokens from which a layout takes no more than another.

    Args:
        layout: Dearer at first, as a hybrid with its states.
        other: Dearer in the end.
        cache_format: Bytes of a number, of both.

    Returns:
        The least number at which it holds; None if it never does.

    >>> from cutaway.core import KVShape
    >>> from cutaway.roofline.kv_layout.parts import AttentionCache, StateCache
    >>> state = StateCache(num_heads=32, elements_per_head=128 * 128)
    >>> rows = AttentionCache(shape=KVShape(2, 256, 256))
    >>> break_even_tokens(KVLayout(((state,),)), KVLayout(((rows,),)))
    1024
    """
    return _first(
        lambda n: (
            layout.floor_bytes(n, cache_format)
            <= other.floor_bytes(n, cache_format)
        )
    )


def _first(holds: Callable[[int], bool]) -> int | None:
    """Return the first number from 0 at which a condition holds for good.

    Numbers are doubled until it does, then the gap is halved.
    """
    if holds(0):
        return 0
    high = 1
    while not holds(high):
        if high > LIMIT:
            return None
        high *= 2
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
