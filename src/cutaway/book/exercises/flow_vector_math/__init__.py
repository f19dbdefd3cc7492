"""Exercises of ``flow/vector_math``: norm, gate, angle, lens."""

from __future__ import annotations

from cutaway.book.exercises.flow_vector_math import (
    lens_probs,
    nearest,
    rms_norm,
    swiglu,
)

SECTION = "flow/vector_math"
EXERCISES = (
    rms_norm.EXERCISE,
    swiglu.EXERCISE,
    nearest.EXERCISE,
    lens_probs.EXERCISE,
)
