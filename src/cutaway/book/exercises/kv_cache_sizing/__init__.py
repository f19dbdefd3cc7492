"""Exercises of ``kv_cache/sizing``: bytes of a token, of a text, of a GPU."""

from __future__ import annotations

from cutaway.book.exercises.kv_cache_sizing import (
    bytes_on_one_gpu,
    bytes_per_token,
    least_bytes,
    longest_context,
)

SECTION = "kv_cache/sizing"
EXERCISES = (
    bytes_per_token.EXERCISE,
    least_bytes.EXERCISE,
    bytes_on_one_gpu.EXERCISE,
    longest_context.EXERCISE,
)
