"""Exercises of ``kv_cache/dropping_tokens``: two choices, and their price."""

from __future__ import annotations

from cutaway.book.exercises.kv_cache_dropping_tokens import (
    heavy_hitters,
    prompt_votes,
    worthwhile_length,
)

SECTION = "kv_cache/dropping_tokens"
EXERCISES = (
    heavy_hitters.EXERCISE,
    prompt_votes.EXERCISE,
    worthwhile_length.EXERCISE,
)
