"""Exercise 2: the arithmetic intensity of a matrix product."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def gemm_intensity(
    num_rows: int, width_in: int, width_out: int, bytes_per_element: float
) -> float:
    """Return FLOPs over bytes: two operands read, the result written."""
    elements = num_rows * width_in + width_in * width_out + num_rows * width_out
    flops = 2 * num_rows * width_in * width_out
    return flops / (elements * bytes_per_element)


def _grade(judge: Judge) -> None:
    fixed = (
        (3, 5, 7, 4),  # tells all the usual mistakes apart
        (1, 4096, 14336, 2),
        (512, 4096, 14336, 2),
        (512, 4096, 14336, 0.5),
        (1, 1, 1, 1),
        (100_000, 576, 192, 4),
    )
    for case in fixed:
        _one_product(judge, case)
    for _ in range(20):
        sizes = [int(judge.rng.integers(1, 20_000)) for _ in range(3)]
        element = float(judge.rng.choice([0.5, 1, 2, 4]))
        _one_product(judge, (*sizes, element))


def _one_product(judge: Judge, case: tuple[Any, ...]) -> None:
    judge.same_number(judge.call(*case), gemm_intensity(*case), *case)


def _moving(
    elements: Callable[[int, int, int], int], flops: int = 2
) -> Callable[..., float]:
    """Return an answer that counts other elements or other FLOPs."""

    def intensity(b: int, d: int, f: int, size: float) -> float:
        return flops * b * d * f / (elements(b, d, f) * size)

    return intensity


EXERCISE = Exercise(
    id="flow/prefill_decode:2",
    title="The intensity of a matrix product",
    reference=gemm_intensity,
    grade=_grade,
    hints=(
        "FLOPs: each of the `num_rows * width_out` results is a sum of "
        "`width_in` products.",
        "Bytes: two matrices are read and one is written. How many elements "
        "does each have?",
        "`2 * num_rows * width_in * width_out` FLOPs over "
        "`num_rows * width_in + width_in * width_out + num_rows * width_out` "
        "elements of `bytes_per_element` each.",
    ),
    reread="Intensity: FLOPs for each byte",
    mistakes=(
        Mistake(
            _moving(lambda b, d, f: b * d + d * f),
            "the result is written to memory too",
        ),
        Mistake(
            _moving(lambda b, d, f: d * f + b * f),
            "the rows are read from memory too",
        ),
        Mistake(
            _moving(lambda b, d, f: d * f),
            "the weights alone were counted; rows are read and written too",
        ),
        Mistake(
            _moving(lambda b, d, f: b * (d * f + d + f)),
            "the weights are read once for all rows, not once for each",
        ),
        Mistake(
            _moving(lambda b, d, f: b * d + d * f + b * f, flops=1),
            "a multiply-add is 2 FLOPs",
        ),
        Mistake(
            lambda b, d, f, size: 2 * b * d * f / (b * d + d * f + b * f),
            "elements were counted, not bytes: times bytes_per_element",
        ),
        Mistake(
            lambda b, d, f, size: b,
            "the rows alone: nearly right for two bytes and wide matrices, "
            "not exact",
        ),
        Mistake(
            lambda *case: 1 / gemm_intensity(*case),
            "that is bytes per FLOP; its inverse is asked for",
        ),
    ),
)
