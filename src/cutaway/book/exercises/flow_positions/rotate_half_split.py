"""Exercise 1: turn the pairs of every head, half-split."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def rotate_half_split(
    x: np.ndarray, positions: np.ndarray, theta: float
) -> np.ndarray:
    """Return x ``[tokens, heads, head_dim]`` with its pairs turned."""
    half = x.shape[-1] // 2
    frequencies = theta ** (-np.arange(half) / half)
    angles = positions[:, None, None] * frequencies
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = x[..., :half], x[..., half:]
    return np.concatenate((a * cos - b * sin, a * sin + b * cos), axis=-1)


def _grade(judge: Judge) -> None:
    shapes = ((2, 1, 2), (3, 2, 4), (1, 1, 6), (0, 2, 4), (5, 3, 16))
    for shape in (*shapes, (4, 4, 4), (7, 2, 118)):
        for theta in (100.0, 10_000.0, 500_000.0):
            x = judge.rng.standard_normal(shape)
            # Below 512 the rounding of an angle, which depends on how the
            # frequencies are written, stays far below the tolerance.
            positions = judge.rng.integers(0, 512, shape[0])
            expected = rotate_half_split(x, positions, theta)
            got = judge.call(x, positions, theta)
            judge.same_array(got, expected, x, positions, theta)


def _turned(
    first: Callable[..., np.ndarray],
    second: Callable[..., np.ndarray],
) -> Callable[..., np.ndarray]:
    """Return an answer with other formulas for the two numbers of a pair."""

    def answer(
        x: np.ndarray, positions: np.ndarray, theta: float
    ) -> np.ndarray:
        half = x.shape[-1] // 2
        frequencies = theta ** (-np.arange(half) / half)
        angles = positions[:, None, None] * frequencies
        parts = x[..., :half], x[..., half:], np.cos(angles), np.sin(angles)
        return np.concatenate((first(*parts), second(*parts)), axis=-1)

    return answer


def _with_frequencies(
    frequencies_of: Callable[[int, float], np.ndarray],
) -> Callable[..., np.ndarray]:
    """Return an answer with other frequencies of the pairs."""

    def answer(
        x: np.ndarray, positions: np.ndarray, theta: float
    ) -> np.ndarray:
        half = x.shape[-1] // 2
        angles = positions[:, None, None] * frequencies_of(half, theta)
        cos, sin = np.cos(angles), np.sin(angles)
        a, b = x[..., :half], x[..., half:]
        return np.concatenate((a * cos - b * sin, a * sin + b * cos), axis=-1)

    return answer


def _interleaved(
    x: np.ndarray, positions: np.ndarray, theta: float
) -> np.ndarray:
    half = x.shape[-1] // 2
    frequencies = theta ** (-np.arange(half) / half)
    angles = positions[:, None, None] * frequencies
    cos, sin = np.cos(angles), np.sin(angles)
    a, b = x[..., 0::2], x[..., 1::2]
    turned = np.empty_like(x)
    turned[..., 0::2] = a * cos - b * sin
    turned[..., 1::2] = a * sin + b * cos
    return turned


def _ladder(half: int, theta: float) -> np.ndarray:
    return theta ** (-np.arange(half) / half)


EXERCISE = Exercise(
    id="flow/positions:1",
    title="Turn queries, half-split",
    reference=rotate_half_split,
    grade=_grade,
    hints=(
        "Pair r is made of numbers r and r + head_dim/2: cut `x` into its "
        "first and its second half along the last axis.",
        "The angle of token i in pair r is `positions[i] * "
        "theta ** (-2 * r / head_dim)`. Give the array of angles the shape "
        "`[tokens, 1, head_dim/2]`, so that it fits all heads.",
        "With halves a and b, the result is a cos - b sin, followed by "
        "a sin + b cos, joined with `np.concatenate(..., axis=-1)`.",
    ),
    reread="Two ways to choose the pairs",
    mistakes=(
        Mistake(
            _interleaved,
            "neighbours were turned; here pair r is r and r + head_dim/2",
        ),
        Mistake(
            _turned(
                lambda a, b, cos, sin: a * cos + b * sin,
                lambda a, b, cos, sin: b * cos - a * sin,
            ),
            "it turned the other way: a cos - b sin, then a sin + b cos",
        ),
        Mistake(
            _turned(
                lambda a, b, cos, sin: a * cos - b * sin,
                lambda a, b, cos, sin: a * cos + b * sin,
            ),
            "the second number of a pair is a sin + b cos",
        ),
        Mistake(
            _turned(
                lambda a, b, cos, sin: a * sin - b * cos,
                lambda a, b, cos, sin: a * cos + b * sin,
            ),
            "sine and cosine are exchanged",
        ),
        Mistake(
            _with_frequencies(
                lambda half, theta: theta ** (-np.arange(half) / (2 * half))
            ),
            "the exponent is half of what it must be: -2r / head_dim",
        ),
        Mistake(
            _with_frequencies(lambda half, theta: _ladder(half, theta)[::-1]),
            "the frequencies run backwards: pair 0 is the fastest",
        ),
        Mistake(
            _with_frequencies(lambda half, theta: 1 / _ladder(half, theta)),
            "the exponent lacks its minus sign: frequencies fall",
        ),
        Mistake(
            _with_frequencies(
                lambda half, theta: _ladder(half, theta) * np.pi / 180
            ),
            "the angles are radians already",
        ),
        Mistake(
            lambda x, positions, theta: rotate_half_split(
                x, np.arange(len(x)), theta
            ),
            "the places in the array were used instead of `positions`",
        ),
        Mistake(
            lambda x, positions, theta: rotate_half_split(
                x, positions + 1, theta
            ),
            "positions start at zero: the first token is not turned",
        ),
    ),
)
