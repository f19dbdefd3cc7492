"""Exercise 4: the slopes of ALiBi, for any number of heads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def alibi_slopes(num_heads: int) -> np.ndarray:
    """Return one slope a head, ``[num_heads]``, float64."""
    power = 1
    while 2 * power <= num_heads:
        power *= 2
    slopes = [2.0 ** (-8 * k / power) for k in range(1, power + 1)]
    between = [2.0 ** (-4 * k / power) for k in range(1, 2 * power, 2)]
    return np.array((slopes + between)[:num_heads])


def _grade(judge: Judge) -> None:
    drawn = (int(n) for n in judge.rng.integers(1, 200, 12))
    for num_heads in (8, 12, 1, 2, 3, 6, 7, 16, 40, 71, 96, 112, *drawn):
        expected = alibi_slopes(num_heads)
        judge.same_array(judge.call(num_heads), expected, num_heads)


def _padded(
    between_of: Callable[[int], list[float]],
) -> Callable[[int], np.ndarray]:
    """Return an answer with other slopes behind those of a power of two."""

    def answer(num_heads: int) -> np.ndarray:
        power = 2 ** (num_heads.bit_length() - 1)
        slopes = [2.0 ** (-8 * k / power) for k in range(1, power + 1)]
        return np.array((slopes + between_of(power))[:num_heads])

    return answer


def _next_power(num_heads: int) -> np.ndarray:
    power = 2 ** (num_heads - 1).bit_length()
    return 2.0 ** (-8 * np.arange(1, num_heads + 1) / power)


def _from_zero(num_heads: int) -> np.ndarray:
    power = 2 ** (num_heads.bit_length() - 1)
    slopes = [2.0 ** (-8 * k / power) for k in range(power)]
    between = [2.0 ** (-4 * k / power) for k in range(1, 2 * power, 2)]
    return np.array((slopes + between)[:num_heads])


EXERCISE = Exercise(
    id="flow/positions:4",
    title="The slopes of ALiBi",
    reference=alibi_slopes,
    grade=_grade,
    hints=(
        "Start with a power of two p: the slopes are 2 ** (-8 * k / p) for k "
        "from 1 to p.",
        "For another number of heads, take the largest power of two p that "
        "is not above it. Its slopes come first.",
        "The slopes of 2p heads are 2 ** (-8 * k / (2 * p)). Those with odd "
        "k lie between the ones you have: append as many as are missing, "
        "from k = 1 on.",
    ),
    reread="Another way: a penalty for distance",
    mistakes=(
        Mistake(
            lambda n: 2.0 ** (-8 * np.arange(1, n + 1) / n),
            "the formula with num_heads itself holds for powers of two only",
        ),
        Mistake(
            _next_power,
            "those are the first slopes of the next power of two; start "
            "from the largest power that is not above num_heads",
        ),
        Mistake(
            _padded(
                lambda p: [2.0 ** (-4 * k / p) for k in range(1, 2 * p + 1)]
            ),
            "of the slopes of 2p heads, every other one is taken (odd k)",
        ),
        Mistake(
            _padded(
                lambda p: [2.0 ** (-4 * k / p) for k in range(2, 2 * p, 2)]
            ),
            "the even k of 2p heads are slopes you have already; take the "
            "odd ones",
        ),
        Mistake(
            _from_zero,
            "k starts at 1: the first slope of a power of two is not 1",
        ),
        Mistake(
            lambda n: np.sort(alibi_slopes(n))[::-1].copy(),
            "the slopes were sorted; the extra ones stay at the end",
        ),
        Mistake(
            lambda n: -alibi_slopes(n),
            "slopes are positive; the bias subtracts them",
        ),
    ),
)
