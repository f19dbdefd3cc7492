"""Exercises of ``flow/tokenization``: train, encode, stream."""

from __future__ import annotations

from cutaway.book.exercises.flow_tokenization import (
    best_pair,
    encode_word,
    longest_match,
    shown_after,
)

SECTION = "flow/tokenization"
EXERCISES = (
    best_pair.EXERCISE,
    encode_word.EXERCISE,
    longest_match.EXERCISE,
    shown_after.EXERCISE,
)
