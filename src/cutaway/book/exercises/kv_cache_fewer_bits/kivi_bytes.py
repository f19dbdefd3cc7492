"""Exercise 4: what a cache in groups with a residual takes."""

from __future__ import annotations

from collections.abc import Callable

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge

Rounded = Callable[[int, int, int], int]


def kivi_bytes(
    num_tokens: int,
    numbers_per_token: int,
    bits: int,
    group_size: int,
    residual_tokens: int,
) -> float:
    """Return the bytes that are in use; numbers as given take two each."""
    old = max(0, num_tokens - residual_tokens)
    rounded = old // group_size * group_size
    bits_each = bits + 32 / group_size
    small = rounded * numbers_per_token * bits_each / 8
    return small + (num_tokens - rounded) * numbers_per_token * 2


def _grade(judge: Judge) -> None:
    cases = [
        (160, 64, 2, 32, 128),
        (1000, 11_520, 2, 32, 128),
        (1000, 11_520, 4, 32, 128),
        (159, 64, 2, 32, 128),  # one short of the first group
        (50, 64, 2, 32, 128),  # all of it residual
        (97, 64, 4, 16, 0),
    ]
    rng = judge.rng
    cases += [
        (
            int(rng.integers(1, 3000)),
            64 * int(rng.integers(1, 200)),
            int(rng.choice([2, 4])),
            int(rng.choice([16, 32, 64])),
            int(rng.integers(0, 300)),
        )
        for _ in range(20)
    ]
    for case in cases:
        judge.same_number(judge.call(*case), kivi_bytes(*case), *case)


def _with(
    rounded: Rounded = lambda n, g, r: max(0, n - r) // g * g,
    extra: Callable[[int], float] = lambda g: 32 / g,
    whole: float = 2,
) -> Callable[..., float]:
    """Return an answer in which one thing is different."""

    def answer(n: int, numbers: int, bits: int, g: int, r: int) -> float:
        old = rounded(n, g, r)
        each = bits + extra(g)
        return float(old * numbers * each / 8 + (n - old) * numbers * whole)

    return answer


EXERCISE = Exercise(
    id="kv_cache/fewer_bits:4",
    title="The bytes of a cache in groups",
    reference=kivi_bytes,
    grade=_grade,
    hints=(
        "First find out how many tokens are rounded: whole groups only, and "
        "never the newest `residual_tokens`.",
        "A rounded number takes its bits and its share of a step and a "
        "minimum: 16 + 16 bits for `group_size` numbers.",
        "`max(0, num_tokens - residual_tokens) // group_size * group_size` "
        "tokens are rounded; all others take two bytes a number.",
    ),
    reread="Groups and a residual",
    mistakes=(
        Mistake(
            _with(extra=lambda g: 0.0),
            "step and minimum take bits as well: 32 for a group",
        ),
        Mistake(
            _with(extra=lambda g: 16 / g),
            "a group stores a step and a minimum, 16 bits each",
        ),
        Mistake(
            _with(extra=lambda g: 32.0),
            "step and minimum are shared by the group, not stored for each "
            "number",
        ),
        Mistake(
            _with(rounded=lambda n, g, r: max(0, n - r)),
            "only whole groups are rounded; the rest waits",
        ),
        Mistake(
            _with(rounded=lambda n, g, r: n // g * g),
            "the newest tokens are not rounded",
        ),
        Mistake(
            _with(rounded=lambda n, g, r: (n - r) // g * g),
            "a text shorter than the residual has no rounded tokens, not a "
            "negative number of them",
        ),
        Mistake(
            _with(whole=4),
            "a number as it came takes two bytes here",
        ),
        Mistake(
            _with(whole=0),
            "the tokens that wait take bytes, too",
        ),
    ),
)
