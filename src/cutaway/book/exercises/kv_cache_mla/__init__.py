"""Exercises of ``kv_cache/mla``: absorbing, decoding, choosing, sizing."""

from __future__ import annotations

from cutaway.book.exercises.kv_cache_mla import (
    absorb_queries,
    absorption_pays,
    decode_latent,
    percent_saved,
)

SECTION = "kv_cache/mla"
EXERCISES = (
    absorb_queries.EXERCISE,
    decode_latent.EXERCISE,
    absorption_pays.EXERCISE,
    percent_saved.EXERCISE,
)
