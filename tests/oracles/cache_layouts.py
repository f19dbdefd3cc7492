"""Layouts of every kind of layer, and their bytes counted one by one."""

from __future__ import annotations

import itertools

from hypothesis import strategies as st

from cutaway.core import KVShape
from cutaway.roofline import AttentionCache, CacheFormat, KVLayout, StateCache

FULL = AttentionCache(shape=KVShape(2, 8, 8))
LOCAL = AttentionCache(shape=KVShape(2, 8, 8), window=5)
LATENT = AttentionCache(shape=KVShape(1, 24, 0))
STATE = StateCache(num_heads=4, elements_per_head=10)
CONV = StateCache(num_heads=4, elements_per_head=6, kind="conv")
PARTS = [FULL, LOCAL, LATENT, STATE, CONV]
layouts = st.lists(
    st.lists(st.sampled_from(PARTS), max_size=3).map(tuple),
    min_size=1,
    max_size=6,
).map(lambda layers: KVLayout(tuple(layers)))
formats = st.builds(
    CacheFormat,
    key_bytes=st.sampled_from([0.5, 1, 2]),
    value_bytes=st.sampled_from([0.5, 1, 2]),
    recurrent_bytes=st.sampled_from([2, 4]),
)


def counted(layout, num_tokens, cache_format, *, full=False):
    """The bytes, one number after another; no factor is shared."""
    total = 0.0
    for part in itertools.chain(*layout.layers):
        if isinstance(part, AttentionCache):
            for position in range(num_tokens):
                age = num_tokens - 1 - position
                if full or part.window is None or age < part.window:
                    for _ in range(part.shape.num_heads):
                        total += part.shape.key_dim * cache_format.key_bytes
                        total += part.shape.value_dim * cache_format.value_bytes
        elif isinstance(part, StateCache):
            conv = part.kind == "conv"
            size = (
                cache_format.conv_bytes
                if conv
                else cache_format.recurrent_bytes
            )
            total += part.num_heads * part.elements_per_head * size
    return total
