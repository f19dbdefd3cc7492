"""Exercises of ``kv_cache/recompute_to_cache``: what a cache must do."""

from __future__ import annotations

from cutaway.book.exercises.kv_cache_recompute_to_cache import (
    decode_step,
    query_key_pairs,
    read_in_chunks,
    reusable_tokens,
)

SECTION = "kv_cache/recompute_to_cache"
EXERCISES = (
    decode_step.EXERCISE,
    query_key_pairs.EXERCISE,
    read_in_chunks.EXERCISE,
    reusable_tokens.EXERCISE,
)
