"""Exercise 1: RMSNorm."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def rms_norm(x: np.ndarray, g: np.ndarray, eps: float) -> np.ndarray:
    """Return x over its root mean square, times g, along the last axis."""
    if x.dtype == np.float16:
        x = x.astype(np.float32)
    mean_square = np.mean(x * x, axis=-1, keepdims=True)
    return (x / np.sqrt(mean_square + eps) * g).astype(x.dtype)


def _grade(judge: Judge) -> None:
    shapes = ((4,), (2, 3), (1,), (3, 1), (2, 3, 7), (5, 257))
    for number, shape in enumerate(shapes):
        dtype = np.float32 if number % 2 else np.float64
        x = judge.rng.normal(1, 2, shape).astype(dtype)
        _one(judge, x, 1e-5)
    tiny = judge.rng.normal(0, 1e-3, (3, 8))
    tiny[1] = 0  # must stay zero
    _one(judge, tiny, 1e-5)
    _one(judge, judge.rng.normal(0, 1, (3, 5)), 0.5)
    large = judge.rng.uniform(1_000, 60_000, (4, 9)).astype(np.float16)
    large[::2] /= 1_000
    _one(judge, large, 1e-6)
    _one(judge, np.zeros((0, 4), np.float32), 1e-5)  # no rows at all


def _one(judge: Judge, x: np.ndarray, eps: float) -> None:
    g = judge.rng.normal(1, 0.5, x.shape[-1]).astype(x.dtype)
    g = g.astype(rms_norm(x, g, eps).dtype)
    judge.same_array(judge.call(x, g, eps), rms_norm(x, g, eps), x, g, eps)


_Answer = Callable[[np.ndarray, np.ndarray, float], np.ndarray]


def _scaled_by(measure: Callable[[np.ndarray, float], np.ndarray]) -> _Answer:
    """Return an answer that divides by another measure of each row."""

    def answer(x: np.ndarray, g: np.ndarray, eps: float) -> np.ndarray:
        wide = x.astype(np.float32) if x.dtype == np.float16 else x
        return (wide / measure(wide, eps) * g).astype(wide.dtype)

    return answer


def _mean_square(x: np.ndarray, axis: int | None = -1) -> np.ndarray:
    return np.mean(x * x, axis=axis, keepdims=True)


def _half_squares(x: np.ndarray, g: np.ndarray, eps: float) -> np.ndarray:
    y = x / np.sqrt(_mean_square(x) + x.dtype.type(eps))
    return (y * g).astype(g.dtype)


EXERCISE = Exercise(
    id="flow/vector_math:1",
    title="RMSNorm",
    reference=rms_norm,
    grade=_grade,
    hints=(
        "The mean runs over the last axis. `keepdims=True` keeps the shapes "
        "compatible.",
        "`eps` is added to the mean square, before the root is taken.",
        "A float16 square is infinite above 65,504. Turn `x` into float32 "
        "first: `x.astype(np.float32)` makes a copy.",
    ),
    reread="RMSNorm discards the length",
    mistakes=(
        Mistake(
            _half_squares,
            "the squares overflowed float16: widen to float32 first",
        ),
        Mistake(
            lambda x, g, eps: rms_norm(x, g, eps).astype(x.dtype),
            "the result was rounded back to float16; return float32",
        ),
        Mistake(
            lambda x, g, eps: rms_norm(
                x - x.mean(axis=-1, keepdims=True), g, eps
            ),
            "the mean was subtracted: that is LayerNorm",
        ),
        Mistake(
            _scaled_by(lambda x, eps: np.sqrt(_mean_square(x)) + eps),
            "eps was added to the root; it belongs inside, to the mean square",
        ),
        Mistake(
            _scaled_by(lambda x, eps: np.sqrt(_mean_square(x))),
            "eps was left out",
        ),
        Mistake(
            _scaled_by(
                lambda x, eps: np.sqrt(np.sum(x * x, -1, keepdims=True) + eps)
            ),
            "the sum of squares was taken; divide by the mean square's root",
        ),
        Mistake(
            _scaled_by(lambda x, eps: _mean_square(x) + eps),
            "the root is missing",
        ),
        Mistake(
            _scaled_by(lambda x, eps: np.sqrt(_mean_square(x, None) + eps)),
            "one mean was taken over the whole array; each row has its own",
        ),
        Mistake(
            lambda x, g, eps: rms_norm(x, np.ones_like(g), eps),
            "g was left out",
        ),
        Mistake(
            lambda x, g, eps: rms_norm(x, 1 + g, eps),
            "1 + g was taken, as Gemma does; here the factor is g",
        ),
    ),
)
