"""Exercises of ``kv_cache/fewer_heads``: pooling, attending, counting."""

from __future__ import annotations

from cutaway.book.exercises.kv_cache_fewer_heads import (
    decode_attention,
    grouped_decode,
    mean_pool,
)

SECTION = "kv_cache/fewer_heads"
EXERCISES = (
    mean_pool.EXERCISE,
    grouped_decode.EXERCISE,
    decode_attention.EXERCISE,
)
