"""Exercises of ``kv_cache/windows_and_sinks``: rings, mixes, places, sinks."""

from __future__ import annotations

from cutaway.book.exercises.kv_cache_windows_and_sinks import (
    mixed_bytes,
    places,
    ring_order,
    sink_weights,
)

SECTION = "kv_cache/windows_and_sinks"
EXERCISES = (
    ring_order.EXERCISE,
    mixed_bytes.EXERCISE,
    places.EXERCISE,
    sink_weights.EXERCISE,
)
