"""Attention to the first and the newest tokens, positions in the cache."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from cutaway.attention import (
    AttentionVariant,
    attention,
    causal,
    sliding_window,
)
from cutaway.core.state import AttentionState, merge
from cutaway.layers import empty, from_numpy

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from jaxtyping import Float

    Rope = Callable[[Any, int], Any]


class Kept(NamedTuple):
    """Keys, not rotated, and values of the tokens that a pass sees.

    Attributes:
        first_keys: Of the first tokens of the text.
        first_values: Their values.
        newest_keys: Of the newest, those of the pass included.
        newest_values: Their values.
    """

    first_keys: Float[Any, "first kv_heads head_dim"]
    first_values: Float[Any, "first kv_heads head_dim"]
    newest_keys: Float[Any, "newest kv_heads head_dim"]
    newest_values: Float[Any, "newest kv_heads head_dim"]


def streaming_attention(
    q: Float[Any, "tokens heads head_dim"],
    kept: Kept,
    start: int,
    *,
    capacity_tokens: int,
    rope: Rope,
    variant: AttentionVariant | None,
    impl: str,
) -> Float[Any, "tokens heads head_dim"]:
    """Attend to what a cache of fixed size keeps.

    The token with number a of the text stands at position
    min(a, capacity - 1). The newest tokens keep their distance from it,
    the first ones their position. A query therefore meets two sets of
    keys at two positions; the two results are states, and merge.

    Args:
        q: Queries, not rotated.
        kept: What they see, besides what the mask hides.
        start: Number of the first query's token in the text.
        capacity_tokens: Tokens that a query sees, itself included.
        rope: ``(x, start) -> x`` turned as at positions start on.
        variant: What to do beside the causal mask, or None; it gets
            positions in the cache.
        impl: ``"numpy"`` or ``"torch"``.

    Returns:
        What each query takes from the values.

    Raises:
        ArgumentError: Sizes or the variant do not fit.

    Cost: 4 x heads x head_dim FLOPs a query and key, and the rotation of
    all keys.
    Source: StreamingLLM, arXiv 2309.17453, section 3.2; FlashInfer,
    arXiv 2501.01005, section 2.2 (states).

    >>> import numpy as np
    >>> one = np.ones((1, 1, 2))
    >>> streaming_attention(one, Kept(one, one, 3 * one, 3 * one), 9,
    ...     capacity_tokens=2, rope=lambda x, start: x, variant=None,
    ...     impl="numpy").round(3)
    array([[[2.888, 2.888]]])
    """
    place = start, capacity_tokens - 1
    if len(kept.first_keys) == 0:
        return _to_newest(q, kept, capacity_tokens, rope, variant, impl).out
    if len(kept.newest_keys) == 0:
        return _to_first(q, kept, place, rope, variant, impl).out
    newest = _to_newest(q, kept, capacity_tokens, rope, variant, impl)
    if variant is not None and variant.sink_logit is not None:
        variant = replace(variant, sink_logit=None)  # it counts only once
    first = _to_first(q, kept, place, rope, variant, impl)
    return from_numpy(merge(first, newest).out, impl=impl)


def _to_newest(
    q: Float[Any, "tokens heads head_dim"],
    kept: Kept,
    capacity_tokens: int,
    rope: Rope,
    variant: AttentionVariant | None,
    impl: str,
) -> AttentionState:
    """Attend to the newest tokens, which stand behind the first ones."""
    num_first, num_newest = len(kept.first_keys), len(kept.newest_keys)
    window = capacity_tokens - num_first
    if variant is not None:
        variant = sliding_window(window) & variant
    elif not len(q) <= num_newest <= window:
        variant = sliding_window(window)
    return attention(
        rope(q, num_first + num_newest - len(q)),
        rope(kept.newest_keys, num_first),
        kept.newest_values,
        variant=variant,
        impl=impl,
    )


def _to_first(
    q: Float[Any, "tokens heads head_dim"],
    kept: Kept,
    place: tuple[int, int],
    rope: Rope,
    variant: AttentionVariant | None,
    impl: str,
) -> AttentionState:
    """Attend to the first tokens, from places that stop at the last one.

    ``place`` is the number of the first query's token, and the last place.
    """
    start, last = place
    num_first = len(kept.first_keys)
    sees_all = variant is None and start >= num_first
    if not sees_all:
        variant = _moved(variant, start + len(q) - num_first, last)
    return attention(
        _turned(q, start, last, rope, impl),
        rope(kept.first_keys, 0),
        kept.first_values,
        causal=False if sees_all else None,
        variant=variant,
        impl=impl,
    )


def _turned(
    q: Float[Any, "tokens heads head_dim"],
    start: int,
    last: int,
    rope: Rope,
    impl: str,
) -> Float[Any, "tokens heads head_dim"]:
    """Turn queries as at the positions start, start + 1, ..., last, last."""
    before = min(len(q), max(0, last - start))
    if before == len(q):
        return rope(q, start)
    dtype = str(q.dtype).removeprefix("torch.")
    turned = empty(tuple(q.shape), dtype, impl=impl)
    if before:
        turned[:before] = rope(q[:before], start)
    # Heads turn alike, so tokens at one position may pass for heads.
    rest = q[before:].reshape(1, -1, q.shape[-1])
    turned[before:] = rope(rest, last).reshape(q[before:].shape)
    return turned


def _moved(
    variant: AttentionVariant | None, offset: int, last: int
) -> AttentionVariant:
    """Return the causal variant of queries that stand elsewhere.

    Args:
        variant: What it does besides.
        offset: What to add to the positions that it will be given.
        last: The furthest position.
    """
    inner = causal() if variant is None else causal() & variant
    mask, score = inner.mask_mod, inner.score_mod

    def place(q_pos):
        return (q_pos + offset).clip(max=last)

    return replace(
        inner,
        mask_mod=mask and (lambda q, kv, head: mask(place(q), kv, head)),
        score_mod=score
        and (lambda x, q, kv, head: score(x, place(q), kv, head)),
    )
