"""Exercise 1: a float16 from its sixteen bits."""

from __future__ import annotations

from collections.abc import Callable

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def half_to_float(bits: int) -> float:
    """Return the number that the bits of a float16 stand for."""
    sign = -1.0 if bits >> 15 else 1.0
    exponent, mantissa = bits >> 10 & 31, bits & 1023
    if exponent == 0:
        return sign * mantissa / 1024 * 2.0**-14
    return sign * (1 + mantissa / 1024) * 2.0 ** (exponent - 15)


def _grade(judge: Judge) -> None:
    fixed = (
        0x4248,
        0x2E66,
        0x3C00,
        0xC000,
        0x7BFF,
        0xFBFF,
        0,
        1,
        0x83FF,
        0x0400,
    )
    # Exponents below 31: no infinities and no NaN.
    drawn = [
        int(sign << 15 | exponent << 10 | mantissa)
        for sign, exponent, mantissa in zip(
            judge.rng.integers(0, 2, 200),
            judge.rng.integers(0, 31, 200),
            judge.rng.integers(0, 1024, 200),
            strict=True,
        )
    ]
    for bits in (*fixed, *drawn):
        judge.same_number(judge.call(bits), half_to_float(bits), bits)


def _reading(
    bias: int = 15,
    one: int = 1,
    scale: int = 1024,
    widths: tuple[int, int] = (10, 31),
) -> Callable[[int], float]:
    """Return an answer that is right but for one of these."""

    def read(bits: int) -> float:
        shift, mask = widths
        sign = -1.0 if bits >> 15 else 1.0
        exponent = bits >> shift & mask
        mantissa = bits & ((1 << shift) - 1)
        if exponent == 0:
            return sign * mantissa / scale * 2.0 ** (1 - bias)
        return sign * (one + mantissa / scale) * 2.0 ** (exponent - bias)

    return read


def _no_subnormals(bits: int) -> float:
    sign = -1.0 if bits >> 15 else 1.0
    exponent, mantissa = bits >> 10 & 31, bits & 1023
    return sign * (1 + mantissa / 1024) * 2.0 ** (exponent - 15)


def _subnormals_are_zero(bits: int) -> float:
    return half_to_float(bits) if bits >> 10 & 31 else 0.0


def _one_place_off(bits: int) -> float:
    value = half_to_float(bits)
    return value if bits >> 10 & 31 else value / 2


EXERCISE = Exercise(
    id="flow/weights:1",
    title="A float16 from its bits",
    reference=half_to_float,
    grade=_grade,
    hints=(
        "Cut the bits: `bits >> 15` is the sign, `bits >> 10 & 31` the "
        "exponent, `bits & 1023` the mantissa.",
        "With an exponent from 1 to 30 the number is "
        "`(1 + mantissa / 1024) * 2.0 ** (exponent - 15)`, and its sign.",
        "With exponent 0 there is no leading 1, and the power is that of "
        "exponent 1: `mantissa / 1024 * 2.0 ** -14`.",
    ),
    reread="A number is a sign, an exponent and a mantissa",
    mistakes=(
        Mistake(
            _no_subnormals,
            "with exponent 0 there is no leading 1, and the power is 2**-14",
        ),
        Mistake(
            _subnormals_are_zero,
            "exponent 0 is not always zero: mantissa / 1024 * 2**-14",
        ),
        Mistake(
            _one_place_off,
            "with exponent 0 the power is 2**-14, that of exponent 1",
        ),
        Mistake(
            lambda bits: abs(half_to_float(bits)),
            "the sign is missing: bit 15",
        ),
        Mistake(
            _reading(bias=127),
            "127 is the bias of float32 and bfloat16; that of float16 is 15",
        ),
        Mistake(_reading(bias=16), "the bias is 15, not 16"),
        Mistake(
            _reading(one=0),
            "the leading 1, which is not stored, is missing",
        ),
        Mistake(
            _reading(scale=1023),
            "the mantissa counts 1024ths: it has 10 bits",
        ),
        Mistake(
            _reading(bias=127, scale=128, widths=(7, 255)),
            "that is bfloat16: 8 bits of exponent, 7 of mantissa",
        ),
    ),
)
