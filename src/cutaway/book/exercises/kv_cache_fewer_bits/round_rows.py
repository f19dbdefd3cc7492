"""Exercise 1: rows rounded to a few levels between their own limits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def round_rows(x: np.ndarray, bits: int) -> np.ndarray:
    """Return what is read back of rows in ``2**bits`` levels each."""
    low = x.min(axis=1, keepdims=True)
    step = (x.max(axis=1, keepdims=True) - low) / (2**bits - 1)
    step = np.where(step > 0, step, 1)
    return low + np.rint((x - low) / step) * step


def _grade(judge: Judge) -> None:
    rng = judge.rng
    cases = [
        (np.array([[9.0, 1, 0, 3], [12, 0, 1, 2]]), 2),
        (np.array([[-4.0, -1, 5, 5]]), 2),
        (np.array([[2.5, 2.5], [0.0, 1.0], [-3.0, -3.0]]), 4),
        (np.zeros((1, 3)), 2),
    ]
    for rows, width, bits in ((3, 5, 2), (1, 32, 4), (4, 1, 2), (7, 9, 8)):
        cases.append((rng.normal(3, 2, (rows, width)), bits))
    for x, bits in cases:
        judge.same_array(judge.call(x, bits), round_rows(x, bits), x, bits)


def _with(
    steps: Callable[[int], int] = lambda bits: 2**bits - 1,
    rounding: Callable[[np.ndarray], np.ndarray] = np.rint,
    axis: int | None = 1,
    low: Callable[..., np.ndarray] = np.min,
    add: bool = True,
) -> Callable[[np.ndarray, int], np.ndarray]:
    """Return an answer in which one thing is different."""

    def answer(x: np.ndarray, bits: int) -> np.ndarray:
        base = low(x, axis=axis, keepdims=True)
        step = (np.max(x, axis=axis, keepdims=True) - base) / steps(bits)
        step = np.where(step > 0, step, 1)
        codes = rounding((x - base) / step)
        return codes * step + (base if add else 0)

    return answer


def _symmetric(x: np.ndarray, bits: int) -> np.ndarray:
    step = np.abs(x).max(axis=1, keepdims=True) / (2 ** (bits - 1) - 1)
    step = np.where(step > 0, step, 1)
    return np.rint(x / step) * step


def _unguarded(x: np.ndarray, bits: int) -> np.ndarray:
    low = x.min(axis=1, keepdims=True)
    step = (x.max(axis=1, keepdims=True) - low) / (2**bits - 1)
    return low + np.rint((x - low) / step) * step


def _codes(x: np.ndarray, bits: int) -> np.ndarray:
    low = x.min(axis=1, keepdims=True)
    step = (x.max(axis=1, keepdims=True) - low) / (2**bits - 1)
    return np.rint((x - low) / np.where(step > 0, step, 1))


EXERCISE = Exercise(
    id="kv_cache/fewer_bits:1",
    title="Rows in a few levels",
    reference=round_rows,
    grade=_grade,
    hints=(
        "Each row has a minimum and a step of its own; `keepdims=True` keeps "
        "them beside their rows.",
        "There are `2**bits` levels, so `2**bits - 1` steps between the "
        "lowest and the highest.",
        "`low + np.rint((x - low) / step) * step`; where all numbers of a "
        "row are equal, the step is 0: divide by 1 instead.",
    ),
    reread="Four tokens, two bits",
    mistakes=(
        Mistake(
            _with(steps=lambda bits: 2**bits),
            "four levels have three steps between them, not four",
        ),
        Mistake(
            _with(rounding=np.floor),
            "the numbers were cut off; take the nearest level",
        ),
        Mistake(
            _with(rounding=np.ceil),
            "the numbers were rounded up; take the nearest level",
        ),
        Mistake(
            _with(axis=0),
            "the columns share their limits here; let each row have its own",
        ),
        Mistake(
            _with(axis=None),
            "all rows share one minimum and step; each has its own",
        ),
        Mistake(
            _with(add=False), "the minimum was not added when reading back"
        ),
        Mistake(
            _symmetric,
            "that counts from 0 and up to the largest size; count from the "
            "minimum of the row",
        ),
        Mistake(
            _unguarded,
            "a row of equal numbers has the step 0, and 0 / 0 is NaN",
        ),
        Mistake(_codes, "those are the codes; return the numbers they mean"),
    ),
)
