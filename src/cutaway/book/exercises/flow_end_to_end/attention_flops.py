"""Exercise 3: the FLOPs of causal attention, counted exactly."""

from __future__ import annotations

from collections.abc import Callable

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def attention_flops(
    num_layers: int,
    num_heads: int,
    head_dim: int,
    q_len: int,
    context_len: int,
) -> int:
    """Return 4 FLOPs an element of every causal (query, key) pair."""
    pairs = q_len * context_len + q_len * (q_len + 1) // 2
    return 4 * num_layers * num_heads * head_dim * pairs


def _grade(judge: Judge) -> None:
    fixed = (
        (3, 5, 8, 3, 5),  # tells all the usual mistakes apart
        (1, 1, 2, 1, 0),
        (1, 1, 2, 4, 0),
        (30, 9, 64, 37, 0),
        (30, 9, 64, 1, 37),
        (30, 9, 64, 0, 5),
        (126, 128, 128, 1_000_000, 0),
    )
    drawn = [
        tuple(int(judge.rng.integers(1, high)) for high in (99, 65, 257, 999))
        for _ in range(20)
    ]
    contexts = [int(judge.rng.integers(0, 100_000)) for _ in drawn]
    rest = [
        (*sizes, context)
        for sizes, context in zip(drawn, contexts, strict=True)
    ]
    for case in (*fixed, *rest):
        judge.same_number(judge.call(*case), attention_flops(*case), *case)


def _counting(
    pairs: Callable[[int, int], int], factor: int = 4
) -> Callable[..., int]:
    """Return an answer that counts ``pairs(q_len, context_len)``."""

    def flops(
        num_layers: int,
        num_heads: int,
        head_dim: int,
        q_len: int,
        context_len: int,
    ) -> int:
        width = num_layers * num_heads * head_dim
        return factor * width * pairs(q_len, context_len)

    return flops


def _causal(q_len: int, context_len: int) -> int:
    return q_len * context_len + q_len * (q_len + 1) // 2


EXERCISE = Exercise(
    id="flow/end_to_end:3",
    title="The FLOPs of causal attention",
    reference=attention_flops,
    grade=_grade,
    hints=(
        "Count the pairs first: the first new token sees the cache and "
        "itself, the second sees one token more, and so on.",
        "There are `q_len * context_len + q_len * (q_len + 1) // 2` pairs. "
        "What does one pair cost in one head?",
        "One pair costs `2 * head_dim` FLOPs for the score and as many for "
        "the weighted value, in every head of every layer.",
    ),
    reread="Where the time goes",
    mistakes=(
        Mistake(
            _counting(lambda q, c: q * (c + q)),
            "the whole rectangle was counted; a query sees no later token",
        ),
        Mistake(
            _counting(lambda q, c: q * c + q * (q - 1) // 2),
            "the diagonal is missing: a token sees itself too",
        ),
        Mistake(
            _counting(lambda q, c: q * c + q * q // 2),
            "half the square is not the triangle: the diagonal counts whole",
        ),
        Mistake(
            _counting(lambda q, c: q * (q + 1) // 2),
            "the tokens in the cache are keys as well",
        ),
        Mistake(
            _counting(lambda q, c: q * c),
            "the new tokens see one another, the later the earlier",
        ),
        Mistake(
            _counting(lambda q, c: c + q),
            "one query was counted; there are q_len of them",
        ),
        Mistake(
            _counting(_causal, factor=2),
            "half of it: there are two products, scores and values, and a "
            "multiply-add is 2 FLOPs",
        ),
        Mistake(
            _counting(_causal, factor=1),
            "a quarter of it: there are two products, scores and values, "
            "and a multiply-add is 2 FLOPs",
        ),
        Mistake(
            lambda n, h, d, q, c: 4 * h * d * _causal(q, c),
            "one layer was counted; every layer attends",
        ),
        Mistake(
            lambda n, h, d, q, c: 4 * n * d * _causal(q, c),
            "one head was counted; every query head attends",
        ),
    ),
)
