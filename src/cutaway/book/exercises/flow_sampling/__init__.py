"""Exercises of ``flow/sampling``: uncertainty, cuts, penalties, draws."""

from __future__ import annotations

from cutaway.book.exercises.flow_sampling import (
    effective_choices,
    gumbel_argmax,
    penalise,
    top_p_probs,
)

SECTION = "flow/sampling"
EXERCISES = (
    effective_choices.EXERCISE,
    top_p_probs.EXERCISE,
    penalise.EXERCISE,
    gumbel_argmax.EXERCISE,
)
