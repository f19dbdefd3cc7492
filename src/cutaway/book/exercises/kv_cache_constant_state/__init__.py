"""Exercises of ``kv_cache/constant_state``: a state, its rules, its size."""

from __future__ import annotations

from cutaway.book.exercises.kv_cache_constant_state import (
    break_even,
    chunk_outputs,
    delta_step,
    running_state,
)

SECTION = "kv_cache/constant_state"
EXERCISES = (
    running_state.EXERCISE,
    chunk_outputs.EXERCISE,
    delta_step.EXERCISE,
    break_even.EXERCISE,
)
