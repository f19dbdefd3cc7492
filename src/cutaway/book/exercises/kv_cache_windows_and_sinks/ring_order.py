"""Exercise 1: which slots of a ring to read, from the oldest token on."""

from __future__ import annotations

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def ring_order(num_tokens: int, slots: int) -> np.ndarray:
    """Return the slots of the tokens still held, the oldest first."""
    oldest = max(0, num_tokens - slots)
    return np.arange(oldest, num_tokens) % slots


def _grade(judge: Judge) -> None:
    fixed = ((6, 4), (3, 4), (4, 4), (5, 4), (1, 3), (1, 1), (9, 1), (12, 4))
    drawn = [
        (int(judge.rng.integers(1, 40)), int(judge.rng.integers(1, 12)))
        for _ in range(20)
    ]
    for case in (*fixed, *drawn):
        judge.same_array(judge.call(*case), ring_order(*case), *case)


def _always_full(num_tokens: int, slots: int) -> np.ndarray:
    return (num_tokens + np.arange(slots)) % slots


EXERCISE = Exercise(
    id="kv_cache/windows_and_sinks:1",
    title="Reading a ring in order",
    reference=ring_order,
    grade=_grade,
    hints=(
        "Name the tokens before the slots: which is the oldest one that has "
        "not been written over?",
        "A ring of `slots` slots holds the last `slots` tokens, or all, if "
        "they are fewer: the oldest is `max(0, num_tokens - slots)`.",
        "Token i lies in slot `i % slots`; `np.arange(oldest, num_tokens)` "
        "are the tokens.",
    ),
    reread="A ring by hand",
    mistakes=(
        Mistake(
            lambda n, s: np.arange(min(n, s)),
            "these are the slots in the order of memory; the tokens in "
            "them go round",
        ),
        Mistake(
            _always_full,
            "slots that nothing has been written into were read as well",
        ),
        Mistake(
            lambda n, s: ring_order(n, s)[::-1].copy(),
            "this is the newest first; the keys must come in the order of "
            "the text",
        ),
        Mistake(
            lambda n, s: np.arange(max(0, n - s), n),
            "these are the numbers of the tokens; which slots are they in?",
        ),
        Mistake(
            lambda n, s: np.arange(max(0, n - s + 1), n) % s,
            "the oldest token is missing: the ring holds as many tokens as "
            "it has slots",
        ),
        Mistake(
            lambda n, s: np.arange(max(0, n - s - 1), n) % s,
            "one token too many: its slot has been written over",
        ),
    ),
)
