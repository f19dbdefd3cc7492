"""Exercises of ``flow/weights``: from bytes to numbers."""

from __future__ import annotations

from cutaway.book.exercises.flow_weights import (
    bits_per_weight,
    dequantize_q4_1,
    half_to_float,
    read_tensor,
)

SECTION = "flow/weights"
EXERCISES = (
    half_to_float.EXERCISE,
    dequantize_q4_1.EXERCISE,
    bits_per_weight.EXERCISE,
    read_tensor.EXERCISE,
)
