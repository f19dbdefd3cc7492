"""Exercise 2: the causal mask and the window, aligned at the end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge

MaskOf = Callable[[np.ndarray, np.ndarray, int], np.ndarray]


def visible(q_len: int, kv_len: int, window: int) -> np.ndarray:
    """Return a boolean mask, true where the query sees the key."""
    q_pos = np.arange(q_len)[:, None] + kv_len - q_len
    kv_pos = np.arange(kv_len)
    return (kv_pos <= q_pos) & (q_pos - kv_pos < window)


def _grade(judge: Judge) -> None:
    fixed = (
        (2, 5, 3),  # tells all the usual mistakes apart
        (1, 1, 1),
        (4, 4, 2),
        (4, 4, 9),
        (1, 7, 4),
        (6, 6, 1),
        (0, 3, 2),
        (5, 2, 2),
    )
    drawn = [
        tuple(int(n) for n in judge.rng.integers(1, 20, size=3))
        for _ in range(16)
    ]
    for case in (*fixed, *drawn):
        judge.same_array(judge.call(*case), visible(*case), *case)


def _mask(rule: MaskOf, shift: int = 0) -> Callable[..., np.ndarray]:
    """Return an answer with another rule, or queries at other positions."""

    def answer(q_len: int, kv_len: int, window: int) -> np.ndarray:
        q_pos = np.arange(q_len)[:, None] + kv_len - q_len + shift
        return rule(q_pos, np.arange(kv_len), window)

    return answer


def _top_left(q_len: int, kv_len: int, window: int) -> np.ndarray:
    q_pos, kv_pos = np.arange(q_len)[:, None], np.arange(kv_len)
    return (kv_pos <= q_pos) & (q_pos - kv_pos < window)


EXERCISE = Exercise(
    id="flow/attention:2",
    title="Which keys a query sees",
    reference=visible,
    grade=_grade,
    hints=(
        "Give every query its position first: the last query stands at the "
        "last key, position `kv_len - 1`.",
        "`q_pos = np.arange(q_len)[:, None] + kv_len - q_len` is a column, "
        "`np.arange(kv_len)` a row; comparing them gives the whole mask.",
        "Two conditions, joined by `&`: the key is not behind the query, "
        "and it is less than `window` positions before it.",
    ),
    reread="The mask belongs at the end",
    mistakes=(
        Mistake(
            _top_left,
            "the mask is aligned at the first key; the last query must "
            "stand at the last key",
        ),
        Mistake(
            _mask(lambda i, j, w: (j < i) & (i - j <= w)),
            "a query does not see itself; it must",
        ),
        Mistake(
            _mask(lambda i, j, w: (j <= i) & (i - j <= w)),
            "the window shows one key too many: it counts the query itself",
        ),
        Mistake(
            _mask(lambda i, j, w: (j <= i) & (i - j < w - 1)),
            "the window shows one key too few",
        ),
        Mistake(
            _mask(lambda i, j, w: j <= i),
            "the window was not used",
        ),
        Mistake(
            _mask(lambda i, j, w: abs(i - j) < w),
            "the window reaches into the future",
        ),
        Mistake(
            _mask(lambda i, j, w: ~((j <= i) & (i - j < w))),
            "the mask is inverted: true means that the key is seen",
        ),
        Mistake(
            _mask(lambda i, j, w: (j <= i) & (i - j < w), shift=1),
            "every query stands one position too far to the right",
        ),
    ),
)
