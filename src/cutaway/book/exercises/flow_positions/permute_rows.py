"""Exercise 2: rows of wq and wk from half-split to interleaved order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def permute_rows(weight: np.ndarray, num_heads: int) -> np.ndarray:
    """Return the rows so that row 2r + s of a head was row r of half s."""
    half = len(weight) // num_heads // 2
    rows = np.arange(len(weight)).reshape(num_heads, 2, half)
    return weight[rows.swapaxes(1, 2).ravel()]


def _grade(judge: Judge) -> None:
    cases = ((2, 8, 3), (1, 6, 1), (1, 2, 4), (3, 4, 5), (4, 6, 24))
    for heads, head_dim, columns in (*cases, (9, 64, 2), (2, 118, 1)):
        shape = heads * head_dim, columns
        weight = judge.rng.standard_normal(shape)
        expected = permute_rows(weight, heads)
        got = judge.call(weight, heads)
        judge.same_array(got, expected, weight, heads)


def _rows(
    order: Callable[[int, int], np.ndarray],
) -> Callable[[np.ndarray, int], np.ndarray]:
    """Return an answer that picks rows ``order(num_rows, num_heads)``."""
    return lambda weight, heads: weight[order(len(weight), heads).ravel()]


EXERCISE = Exercise(
    id="flow/positions:2",
    title="From half-split to interleaved rows",
    reference=permute_rows,
    grade=_grade,
    hints=(
        "Write the row numbers of one head of 6 in the order you want: "
        "0, 3, 1, 4, 2, 5. The two halves are shuffled into one another.",
        "`reshape(num_heads, 2, head_dim // 2, -1)` gives every row a head, "
        "a half and a pair. Which two of these axes change places?",
        "Swap axes 1 and 2, then `reshape` back to the shape of `weight`.",
    ),
    reread="Two ways to choose the pairs",
    mistakes=(
        Mistake(
            _rows(
                lambda rows, heads: (
                    np.arange(rows)
                    .reshape(heads, rows // heads // 2, 2)
                    .swapaxes(1, 2)
                )
            ),
            "that is the way back, from interleaved to half-split",
        ),
        Mistake(
            _rows(
                lambda rows, heads: (
                    np.arange(rows).reshape(2, rows // 2).swapaxes(0, 1)
                )
            ),
            "the whole matrix was shuffled as one head; each head has "
            "halves of its own",
        ),
        Mistake(
            lambda weight, heads: weight,
            "nothing moved",
        ),
        Mistake(
            _rows(
                lambda rows, heads: (
                    np.arange(rows)
                    .reshape(heads, 2, rows // heads // 2)[:, ::-1]
                    .swapaxes(1, 2)
                )
            ),
            "the halves are exchanged: the first of a pair comes from the "
            "first half",
        ),
        Mistake(
            _rows(
                lambda rows, heads: (
                    np.arange(rows)
                    .reshape(heads, 2, rows // heads // 2)
                    .swapaxes(0, 2)
                )
            ),
            "the rows left their heads: swap the half with the pair, not "
            "with the head",
        ),
        Mistake(
            _rows(
                lambda rows, heads: (
                    np.arange(rows)
                    .reshape(heads, 2, rows // heads // 2)
                    .swapaxes(0, 1)
                )
            ),
            "the rows left their heads: swap the half with the pair, not "
            "with the head",
        ),
        Mistake(
            lambda weight, heads: weight[::-1],
            "the rows were reversed",
        ),
    ),
)
