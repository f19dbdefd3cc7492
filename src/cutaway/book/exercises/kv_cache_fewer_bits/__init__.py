"""Exercises of ``kv_cache/fewer_bits``: rounding, unpacking, FP8, bytes."""

from __future__ import annotations

from cutaway.book.exercises.kv_cache_fewer_bits import (
    decode_e4m3,
    kivi_bytes,
    round_rows,
    unpack_two_bits,
)

SECTION = "kv_cache/fewer_bits"
EXERCISES = (
    round_rows.EXERCISE,
    unpack_two_bits.EXERCISE,
    decode_e4m3.EXERCISE,
    kivi_bytes.EXERCISE,
)
