"""Exercise 4: how much smaller one cache is than another."""

from __future__ import annotations

from collections.abc import Callable

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def percent_saved(
    mla_layers: int,
    row_width: int,
    mla_bits: float,
    gqa_layers: int,
    num_kv_heads: int,
    head_dim: int,
    gqa_bits: float,
) -> float:
    """Return by how many percent latent attention's cache is smaller."""
    latent = mla_layers * row_width * mla_bits
    grouped = 2 * gqa_layers * num_kv_heads * head_dim * gqa_bits
    return 100 * (1 - latent / grouped)


def _grade(judge: Judge) -> None:
    fixed = (
        (10, 48, 6, 12, 3, 40, 16),  # tells all the usual mistakes apart
        (60, 576, 6, 95, 8, 128, 16),
        (60, 576, 16, 95, 8, 128, 16),
        (60, 576, 16, 60, 128, 128, 16),
        (61, 576, 8, 61, 128, 128, 16),
        (1, 9, 4, 2, 1, 1, 4),  # a larger cache: below 0
    )
    for case in fixed:
        _one_pair(judge, case)
    for _ in range(20):
        sizes = [int(judge.rng.integers(1, 200)) for _ in range(5)]
        bits = [float(judge.rng.choice([4, 6, 8, 16, 32])) for _ in range(2)]
        layers, width, others, heads, dim = sizes
        _one_pair(judge, (layers, width, bits[0], others, heads, dim, bits[1]))


def _one_pair(judge: Judge, case: tuple[float, ...]) -> None:
    expected = percent_saved(*case)  # type: ignore[arg-type]
    judge.same_number(judge.call(*case), expected, *case)


def _ratio(
    ratio: Callable[..., float],
) -> Callable[..., float]:
    return lambda *case: 100 * (1 - ratio(*case))


EXERCISE = Exercise(
    id="kv_cache/mla:4",
    title="How much smaller one cache is than another",
    reference=percent_saved,
    grade=_grade,
    hints=(
        "Bits a token: layers, times numbers a layer, times bits of a number.",
        "Grouped heads store keys and values, `2 * num_kv_heads * head_dim` "
        "numbers; latent attention stores `row_width` numbers, once.",
        "`100 * (1 - latent / grouped)`, with the bits of each cache.",
    ),
    reread="How 93.3 % arises",
    mistakes=(
        Mistake(
            _ratio(lambda a, w, b, c, h, d, e: a * w * b / (c * h * d * e)),
            "a factor 2 is wrong: grouped heads have it, for key and value; "
            "a row stands for both and has none",
        ),
        Mistake(
            _ratio(lambda a, w, b, c, h, d, e: a * w * b / (4 * c * h * d * e)),
            "one factor 2 too many: bits are given, not bytes of two",
        ),
        Mistake(
            _ratio(lambda a, w, b, c, h, d, e: a * w / (2 * c * h * d)),
            "numbers were compared; the two caches use different bits",
        ),
        Mistake(
            _ratio(lambda a, w, b, c, h, d, e: a * w * e / (2 * c * h * d * b)),
            "the bits were swapped between the caches",
        ),
        Mistake(
            _ratio(lambda a, w, b, c, h, d, e: w * b / (2 * h * d * e)),
            "one layer was compared with one layer; the models have "
            "different numbers of them",
        ),
        Mistake(
            lambda *case: 100 - percent_saved(*case),
            "that is the part that is left, not the part saved",
        ),
        Mistake(
            lambda *case: percent_saved(*case) / 100,
            "percent are asked for: times 100",
        ),
    ),
)
