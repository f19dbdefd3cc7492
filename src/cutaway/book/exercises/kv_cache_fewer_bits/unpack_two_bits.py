"""Exercise 2: four numbers out of every byte."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def unpack_two_bits(packed: np.ndarray, count: int) -> np.ndarray:
    """Return ``count`` codes from 0 to 3, the lowest bits of a byte first."""
    lanes = [(packed >> shift) & 3 for shift in (0, 2, 4, 6)]
    return np.stack(lanes, axis=1).reshape(-1)[:count]


def _grade(judge: Judge) -> None:
    cases = [(np.array([0b11100100, 0b00000110], np.uint8), 6)]
    for count in (1, 3, 4, 5, 64, 101):
        size = -(-count // 4)
        raw = judge.rng.integers(0, 256, size, dtype=np.uint8)
        cases.append((raw, count))
    cases.append((np.zeros(0, np.uint8), 0))
    for raw, count in cases:
        expected = unpack_two_bits(raw, count)
        judge.same_array(judge.call(raw, count), expected, raw, count)


def _lanes(
    shifts: tuple[int, ...], mask: int = 3, axis: int = 1
) -> Callable[[np.ndarray, int], np.ndarray]:
    """Return an answer with other shifts, another mask or another order."""

    def answer(packed: np.ndarray, count: int) -> np.ndarray:
        lanes = [(packed >> shift) & mask for shift in shifts]
        return np.stack(lanes, axis=axis).reshape(-1)[:count]

    return answer


def _not_shifted(packed: np.ndarray, count: int) -> np.ndarray:
    lanes = [packed & (3 << shift) for shift in (0, 2, 4, 6)]
    return np.stack(lanes, axis=1).reshape(-1)[:count]


def _all(packed: np.ndarray, count: int) -> np.ndarray:
    return unpack_two_bits(packed, 4 * len(packed))


EXERCISE = Exercise(
    id="kv_cache/fewer_bits:2",
    title="Four numbers out of every byte",
    reference=unpack_two_bits,
    grade=_grade,
    hints=(
        "A byte holds four codes: bits 0 and 1 are the first, bits 6 and 7 "
        "the last.",
        "`(packed >> 2) & 3` is the second code of every byte at once.",
        "Stack the four results with `np.stack(..., axis=1)`, flatten them "
        "and keep the first `count`.",
    ),
    reread="From levels to bytes",
    mistakes=(
        Mistake(
            _lanes((6, 4, 2, 0)),
            "the highest bits came first; the lowest ones do",
        ),
        Mistake(
            _lanes((0, 2, 4, 6), axis=0),
            "first codes of all bytes, then the second ones: the four of a "
            "byte belong together",
        ),
        Mistake(
            _lanes((0, 4), mask=15),
            "those are nibbles; a code has two bits here",
        ),
        Mistake(
            _lanes((0, 1, 2, 3)),
            "shift by two bits from code to code",
        ),
        Mistake(
            _lanes((0, 2, 4, 6), mask=255),
            "the codes above are still there: mask with 3",
        ),
        Mistake(
            _lanes(tuple(range(8)), mask=1), "those are single bits, not pairs"
        ),
        Mistake(_not_shifted, "shift the bits down after masking them"),
        Mistake(_all, "the last byte may be filled up: keep `count` codes"),
    ),
)
