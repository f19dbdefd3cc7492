"""Exercise 2: blocks of Q4_1 turned back into numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def dequantize_q4_1(raw: np.ndarray) -> np.ndarray:
    """Return 32 float32 weights for each block of 20 bytes."""
    d = raw[:, 0:2].copy().view("<f2").astype(np.float32)
    m = raw[:, 2:4].copy().view("<f2").astype(np.float32)
    q = np.concatenate([raw[:, 4:] & 15, raw[:, 4:] >> 4], axis=1)
    return q * d + m


def _blocks(judge: Judge, count: int) -> np.ndarray:
    raw = judge.rng.integers(0, 256, (count, 20), dtype=np.uint8)
    header = judge.rng.normal(0, 1, (count, 2)).astype("<f2")
    raw[:, :4] = header.view(np.uint8)
    return raw


def _grade(judge: Judge) -> None:
    for count in (1, 2, 3, 20, 32, 0, 257):
        raw = _blocks(judge, count)
        judge.same_array(judge.call(raw), dequantize_q4_1(raw), raw)


def _half(columns: np.ndarray, order: str = "<") -> np.ndarray:
    return columns.copy().view(f"{order}f2").astype(np.float32)


def _with(
    q: Callable[[np.ndarray], np.ndarray],
) -> Callable[[np.ndarray], np.ndarray]:
    """Return an answer that gets its integers from ``q(packed)``."""

    def answer(raw: np.ndarray) -> np.ndarray:
        d, m = _half(raw[:, 0:2]), _half(raw[:, 2:4])
        return q(raw[:, 4:]).astype(np.float32) * d + m

    return answer


def _joined(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    return np.concatenate([first, second], axis=1)


def _alternating(packed: np.ndarray) -> np.ndarray:
    pairs = np.stack([packed & 15, packed >> 4], axis=2)
    return pairs.reshape(len(packed), 32)


def _formula(
    weight: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray],
    order: str = "<",
) -> Callable[[np.ndarray], np.ndarray]:
    """Return an answer with another formula, or byte order, for d and m."""

    def answer(raw: np.ndarray) -> np.ndarray:
        packed = raw[:, 4:]
        q = _joined(packed & 15, packed >> 4).astype(np.float32)
        d, m = _half(raw[:, 0:2], order), _half(raw[:, 2:4], order)
        return weight(q, d, m)

    return answer


EXERCISE = Exercise(
    id="flow/weights:2",
    title="Blocks of Q4_1 turned back into numbers",
    reference=dequantize_q4_1,
    grade=_grade,
    hints=(
        "`raw[:, 0:2].copy().view('<f2')` is the column of steps: two "
        "bytes of each block, read as one float16.",
        "`raw[:, 4:] & 15` gives weights 0 to 15 of every block and "
        "`raw[:, 4:] >> 4` weights 16 to 31, as levels.",
        "Join the two halves with `np.concatenate(..., axis=1)`; a weight is "
        "`q * d + m` in float32.",
    ),
    reread="One block by hand",
    mistakes=(
        Mistake(
            _with(_alternating),
            "low and high nibbles alternate; the low ones are elements "
            "0 to 15, the high ones 16 to 31",
        ),
        Mistake(
            _with(lambda p: _joined(p >> 4, p & 15)),
            "the high nibbles came first; the low ones do",
        ),
        Mistake(
            _with(lambda p: _joined(p & 15, p & 15)),
            "the high nibbles were not read: shift by 4",
        ),
        Mistake(
            _with(lambda p: _joined(p & 15, p & 240)),
            "the high nibbles were not shifted down by 4",
        ),
        Mistake(
            _formula(lambda q, d, m: (q - 8) * d),
            "that is Q4_0; in Q4_1 a weight is q * d + m",
        ),
        Mistake(
            _formula(lambda q, d, m: (q - 8) * d + m),
            "Q4_1 takes no 8 from q: its minimum m does that",
        ),
        Mistake(_formula(lambda q, d, m: q * d), "the minimum m is missing"),
        Mistake(
            _formula(lambda q, d, m: q * d - m),
            "the minimum is added; it is mostly negative itself",
        ),
        Mistake(
            _formula(lambda q, d, m: q * m + d),
            "step and minimum were swapped: d stands first",
        ),
        Mistake(
            _formula(lambda q, d, m: (q + m) * d),
            "the minimum is in the unit of the weights: q * d + m",
        ),
        Mistake(
            _formula(lambda q, d, m: q * d + m, order=">"),
            "the bytes of d and m were swapped: the file is little-endian",
        ),
    ),
)
