"""Exercise 4: the speed limit of decoding."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def tokens_per_second(
    weight_bytes: float,
    num_layers: int,
    num_kv_heads: int,
    head_dim: int,
    kv_bytes_per_element: float,
    context_len: int,
    bandwidth_bytes_per_s: float,
) -> float:
    """Return the bandwidth over the bytes that one decode step reads."""
    kv_elements = 2 * num_layers * num_kv_heads * head_dim * context_len
    moved = weight_bytes + kv_elements * kv_bytes_per_element
    return bandwidth_bytes_per_s / moved


def _grade_speed(judge: Judge) -> None:
    fixed = (
        (96_576_768, 30, 3, 64, 4, 2_048, 18e9),
        (538_060_032, 30, 3, 64, 4, 0, 18e9),
        (538_060_032, 30, 3, 64, 4, 8_192, 18e9),
        (141.1e9, 80, 8, 128, 2, 32_768, 3.35e12),
    )
    for case in fixed:
        _one_speed(judge, case)
    for _ in range(20):
        weight_bytes = float(judge.rng.uniform(1e6, 1e12))
        counts = [int(judge.rng.integers(1, high)) for high in (99, 65, 257)]
        element = float(judge.rng.choice([0.5, 1, 2, 4]))
        context_len = int(judge.rng.integers(0, 1_000_000))
        bandwidth = float(judge.rng.uniform(1e9, 8e12))
        case = (weight_bytes, *counts, element, context_len, bandwidth)
        _one_speed(judge, case)


def _one_speed(judge: Judge, case: tuple[Any, ...]) -> None:
    judge.same_number(judge.call(*case), tokens_per_second(*case), *case)


def _speed_of(moved: Callable[..., float]) -> Callable[..., float]:
    """Return a wrong answer that gets the bytes moved from ``moved``."""

    def speed(*case: float) -> float:
        return case[-1] / moved(*case[:-1])

    return speed


EXERCISE = Exercise(
    id="flow/end_to_end:4",
    title="The speed limit of decoding",
    reference=tokens_per_second,
    grade=_grade_speed,
    hints=(
        "One decode step reads every weight once, and every key and value "
        "in the cache once. Time is bytes over bandwidth.",
        "A token keeps a key and a value, each of `head_dim` elements, in "
        "every key/value head of every layer.",
        "Bytes of the cache: `2 * num_layers * num_kv_heads * head_dim * "
        "context_len * kv_bytes_per_element`. Add the weights.",
    ),
    reread="Where the time goes",
    mistakes=(
        Mistake(
            _speed_of(lambda w, n, h, d, e, c: w + n * h * d * e * c),
            "keys were counted without values: a factor 2 is missing",
        ),
        Mistake(
            _speed_of(lambda w, n, h, d, e, c: w + 2 * h * d * e * c),
            "one layer's keys and values were counted; every layer has its own",
        ),
        Mistake(
            _speed_of(lambda w, n, h, d, e, c: w + 2 * n * d * e * c),
            "one head was counted; every key/value head has its own",
        ),
        Mistake(
            _speed_of(lambda w, n, h, d, e, c: w + 2 * n * h * d * c),
            "elements were added to bytes: times kv_bytes_per_element",
        ),
        Mistake(
            _speed_of(lambda w, n, h, d, e, c: w + 2 * n * h * d * e),
            "one token's keys and values were counted; a step reads all "
            "context_len of them",
        ),
        Mistake(
            _speed_of(lambda w, n, h, d, e, c: w),
            "the weights alone were counted; keys and values are read too",
        ),
        Mistake(
            _speed_of(lambda w, n, h, d, e, c: 2 * n * h * d * e * c or 1),
            "the cache alone was counted; the weights are read too",
        ),
        Mistake(
            lambda *case: 1 / tokens_per_second(*case),
            "that is seconds per token; its inverse is asked for",
        ),
    ),
)
