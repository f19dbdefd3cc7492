"""Exercises of ``flow/end_to_end``: from logits to an answer and its cost."""

from __future__ import annotations

from cutaway.book.exercises.flow_end_to_end import (
    attention_flops,
    generate_greedy,
    next_token_probs,
    tokens_per_second,
)

SECTION = "flow/end_to_end"
EXERCISES = (
    next_token_probs.EXERCISE,
    generate_greedy.EXERCISE,
    attention_flops.EXERCISE,
    tokens_per_second.EXERCISE,
)
