"""Exercises of ``flow/attention``: one head, masks, groups, merging."""

from __future__ import annotations

from cutaway.book.exercises.flow_attention import (
    attend,
    grouped_scores,
    merge_states,
    visible,
)

SECTION = "flow/attention"
EXERCISES = (
    attend.EXERCISE,
    visible.EXERCISE,
    grouped_scores.EXERCISE,
    merge_states.EXERCISE,
)
