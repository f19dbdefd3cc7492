"""Exercises of ``flow/positions``: rotation, layouts, scaling, ALiBi."""

from __future__ import annotations

from cutaway.book.exercises.flow_positions import (
    alibi_slopes,
    llama3_frequencies,
    permute_rows,
    rotate_half_split,
)

SECTION = "flow/positions"
EXERCISES = (
    rotate_half_split.EXERCISE,
    permute_rows.EXERCISE,
    llama3_frequencies.EXERCISE,
    alibi_slopes.EXERCISE,
)
