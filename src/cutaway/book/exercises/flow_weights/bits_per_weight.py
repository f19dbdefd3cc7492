"""Exercise 3: the bits per weight of a file with several types."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge

Tensors = list[tuple[int, int, int]]


def bits_per_weight(tensors: Tensors) -> float:
    """Return all bits over all weights, scales included."""
    num_bytes = sum(
        weights // block_size * block_bytes
        for weights, block_size, block_bytes in tensors
    )
    return 8 * num_bytes / sum(weights for weights, _, _ in tensors)


_TYPES = ((32, 18), (32, 20), (32, 34), (256, 144), (256, 210), (1, 4), (1, 2))
_FILE = ((106_168_320, 32, 20), (35_136, 1, 4), (28_311_552, 32, 34))


def _grade(judge: Judge) -> None:
    cases: list[Tensors] = [list(_FILE), [(64, 32, 18)], [(7, 1, 4)]]
    for count in (2, 3, 5, 40):
        drawn = []
        for _ in range(count):
            size, bytes_ = _TYPES[int(judge.rng.integers(len(_TYPES)))]
            blocks = int(judge.rng.integers(1, 1_000_000))
            drawn.append((blocks * size, size, bytes_))
        cases.append(drawn)
    for tensors in cases:
        expected = bits_per_weight(tensors)
        judge.same_number(judge.call(tensors), expected, tensors)


def _ratio(
    bits: Callable[[int, int, int], float],
    weight: Callable[[int, int, int], float],
) -> Callable[[Tensors], float]:
    """Return an answer that divides two sums over the tensors."""

    def answer(tensors: Tensors) -> float:
        over: Any = sum(bits(*tensor) for tensor in tensors)
        return over / sum(weight(*tensor) for tensor in tensors)

    return answer


EXERCISE = Exercise(
    id="flow/weights:3",
    title="The bits per weight of a file with several types",
    reference=bits_per_weight,
    grade=_grade,
    hints=(
        "A tensor of n weights has `n // block_size` blocks of "
        "`block_bytes` bytes each.",
        "Add up the bytes of all tensors, and the weights of all tensors. "
        "Divide once, at the end.",
        "`8 * total_bytes / total_weights`.",
    ),
    reread="Why this file has 5.7437 bits per weight",
    mistakes=(
        Mistake(
            lambda tensors: (
                sum(8 * b / s for _, s, b in tensors) / len(tensors)
            ),
            "each tensor counted alike; a large one must count for more",
        ),
        Mistake(
            _ratio(lambda n, s, b: n // s * b, lambda n, s, b: n),
            "that is bytes per weight: times 8",
        ),
        Mistake(
            _ratio(lambda n, s, b: 8 * b, lambda n, s, b: s),
            "one block of each tensor was counted; they have different numbers",
        ),
        Mistake(
            _ratio(
                lambda n, s, b: n * (8 * b / s) * (n // s * b),
                lambda n, s, b: n * (n // s * b),
            ),
            "weighted by bytes times weights; divide the sum of all bits by "
            "the number of weights",
        ),
        Mistake(
            _ratio(
                lambda n, s, b: n * (8 * b // s),
                lambda n, s, b: n,
            ),
            "the bits of the scales were rounded away: divide at the end, "
            "without //",
        ),
        Mistake(
            lambda tensors: (
                max(8 * b / s for _, s, b in tensors) + 0.0
                if len(tensors) > 1
                else -1.0
            ),
            "the largest type is not the mean of all",
        ),
        Mistake(
            lambda tensors: 1 / bits_per_weight(tensors),
            "that is weights per bit; its inverse is asked for",
        ),
    ),
)
