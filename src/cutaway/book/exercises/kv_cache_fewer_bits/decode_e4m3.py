"""Exercise 3: the numbers of E4M3."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def decode_e4m3(codes: np.ndarray) -> np.ndarray:
    """Return the numbers of codes that are not NaN, float64."""
    sign = np.where(codes >> 7, -1.0, 1.0)
    field = (codes >> 3 & 15).astype(int)
    part = (codes & 7) / 8
    normal = (1 + part) * 2.0 ** (field - 7)
    return sign * np.where(field > 0, normal, part * 2.0**-6)


def _grade(judge: Judge) -> None:
    every = np.arange(256, dtype=np.uint8)
    every = every[every % 128 != 127]
    cases = [
        np.array([0b0_0111_000, 0b1_0111_100], np.uint8),
        np.array([0, 1, 7, 8, 126, 129], np.uint8),
        every,
        np.zeros(0, np.uint8),
    ]
    cases += [judge.rng.choice(every, size) for size in (1, 5, 40)]
    for codes in cases:
        judge.same_array(judge.call(codes), decode_e4m3(codes), codes)


def _with(
    bias: int = 7,
    mantissa: int = 3,
    lowest: float | None = 2.0**-6,
    leading: float = 1,
    signed: bool = True,
) -> Callable[[np.ndarray], np.ndarray]:
    """Return an answer in which one thing is different."""

    def answer(codes: np.ndarray) -> np.ndarray:
        width = 2**mantissa
        field = (codes >> mantissa & (128 // width - 1)).astype(int)
        part = (codes & (width - 1)) / width
        out = (leading + part) * 2.0 ** (field - bias)
        if lowest is not None:
            out = np.where(field > 0, out, part * lowest)
        return np.where(codes >> 7, -1.0, 1.0) * out if signed else out

    return answer


def _as_ieee(codes: np.ndarray) -> np.ndarray:
    largest = codes >> 3 & 15 == 15
    out = decode_e4m3(codes)
    return np.where(largest, np.sign(out) * np.inf, out)


def _twos_complement(codes: np.ndarray) -> np.ndarray:
    below = codes & 127
    flipped = np.where(codes >> 7, (128 - below) & 127, below)
    size = decode_e4m3(flipped.astype(np.uint8))
    return np.where(codes >> 7, -size, size)


EXERCISE = Exercise(
    id="kv_cache/fewer_bits:3",
    title="The numbers of E4M3",
    reference=decode_e4m3,
    grade=_grade,
    hints=(
        "From the top: one bit of sign, four of exponent, three of mantissa. "
        "`codes >> 3 & 15` is the exponent field.",
        "With the field e and the mantissa m, a number is "
        "(1 + m/8) * 2**(e - 7), unless e is 0.",
        "With the field 0 there is no leading one: m/8 * 2**-6. Turn the "
        "field into an int before you subtract: bytes have no negatives.",
    ),
    reread="Eight bits with an exponent",
    mistakes=(
        Mistake(
            _with(lowest=None),
            "with the exponent field 0 there is no leading one",
        ),
        Mistake(
            _with(lowest=2.0**-7),
            "below the normal numbers the scale stays that of field 1: 2**-6",
        ),
        Mistake(
            _with(bias=8, lowest=2.0**-7),
            "the bias is 7; with 8 it is another format (fnuz)",
        ),
        Mistake(_with(signed=False), "the sign is the highest bit"),
        Mistake(
            _with(bias=15, mantissa=2, lowest=2.0**-14),
            "that reads E5M2: here the mantissa has three bits",
        ),
        Mistake(
            _with(leading=0),
            "a normal number has a leading one: 1 + m/8",
        ),
        Mistake(
            _as_ieee,
            "E4M3 has no infinities: the highest exponent is for numbers too",
        ),
        Mistake(
            _twos_complement,
            "the sign bit stands alone; this is no two's complement",
        ),
    ),
)
