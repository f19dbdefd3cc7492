"""Exercise 3: nearest tokens by angle."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def nearest(table: np.ndarray, token_id: int, k: int) -> list[int]:
    """Return the k ids with the largest cosine, without the token itself."""
    return _ranked(_cosines(table, token_id), token_id)[:k]


def _cosines(table: np.ndarray, token_id: int) -> np.ndarray:
    return table @ table[token_id] / np.linalg.norm(table, axis=1)


def _ranked(scores: np.ndarray, token_id: int) -> list[int]:
    order = np.argsort(-scores, kind="stable")
    return [int(i) for i in order if i != token_id]


def _grade(judge: Judge) -> None:
    for vocab, width, k in ((9, 4, 8), (4, 2, 1), (7, 3, 3), (60, 16, 5)):
        for _ in range(3):
            table = _table(judge, vocab, width)
            token_id = int(judge.rng.integers(vocab))
            _one(judge, table, token_id, k)
    single = _table(judge, 5, 2).astype(np.float32)
    _one(judge, single, int(judge.rng.integers(5)), 4)
    _one(judge, _table(judge, 6, 3), 0, 0)


def _table(judge: Judge, vocab: int, width: int) -> np.ndarray:
    """Draw rows of different lengths around a shared direction."""
    rows = judge.rng.normal(0.4, 1, (vocab, width))
    return rows * judge.rng.uniform(0.2, 5, (vocab, 1))


def _one(judge: Judge, table: np.ndarray, token_id: int, k: int) -> None:
    args = (table, token_id, k)
    judge.same_list(judge.call(*args), nearest(*args), *args)


def _by(
    score: Callable[[np.ndarray, int], np.ndarray], *, keep_self: bool = False
) -> Callable[[np.ndarray, int, int], list[int]]:
    """Return a wrong answer that ranks by another score."""

    def answer(table: np.ndarray, token_id: int, k: int) -> list[int]:
        hidden = -1 if keep_self else token_id
        return _ranked(score(table, token_id), hidden)[:k]

    return answer


def _distance(table: np.ndarray, token_id: int) -> np.ndarray:
    return -np.linalg.norm(table - table[token_id], axis=1)


EXERCISE = Exercise(
    id="flow/vector_math:3",
    title="Nearest tokens by angle",
    reference=nearest,
    grade=_grade,
    hints=(
        "`table @ table[token_id]` holds the dot products with all rows.",
        "Divide each by the length of its row, `np.linalg.norm(table, "
        "axis=1)`. The length of the token's own row changes no order.",
        "`np.argsort(-similarity)` puts the largest first. Drop `token_id`, "
        "then keep `k` and return a list of ints.",
    ),
    reread="The table of tokens, by angle and by dot product",
    mistakes=(
        Mistake(
            _by(lambda table, i: table @ table[i]),
            "the dot product was taken; long rows win it",
        ),
        Mistake(
            _by(_cosines, keep_self=True),
            "the token itself is in the list",
        ),
        Mistake(
            _by(_distance),
            "the distance between the ends was taken; compare angles",
        ),
        Mistake(
            _by(lambda table, i: -_cosines(table, i)),
            "the smallest cosines came first",
        ),
        Mistake(
            _by(lambda table, i: np.abs(_cosines(table, i))),
            "the sign was dropped: an opposite direction is not near",
        ),
        Mistake(
            _by(lambda table, i: _cosines(table - table.mean(axis=0), i)),
            "the mean row was subtracted; compare the rows as they are",
        ),
        Mistake(
            lambda table, i, k: nearest(table, i, k + 1)[1:],
            "the first neighbour was dropped instead of the token itself",
        ),
    ),
)
