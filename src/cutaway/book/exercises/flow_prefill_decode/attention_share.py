"""Exercise 1: how much of a token's arithmetic is attention."""

from __future__ import annotations

from collections.abc import Callable

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def attention_share(
    matmul_params: int,
    num_layers: int,
    num_heads: int,
    head_dim: int,
    num_keys: int,
) -> float:
    """Return attention's FLOPs over all FLOPs of one token."""
    attention = 4 * num_layers * num_heads * head_dim * num_keys
    return attention / (2 * matmul_params + attention)


def _grade(judge: Judge) -> None:
    fixed = (
        (5_000, 3, 5, 8, 7),  # tells all the usual mistakes apart
        (134_479_872, 30, 9, 64, 1),
        (134_479_872, 30, 9, 64, 3_891),
        (7_504_658_432, 32, 32, 128, 28_628),
        (7_504_658_432, 32, 32, 128, 1_000_000),
        (1, 1, 1, 1, 0),
    )
    for case in fixed:
        _one_share(judge, case)
    for _ in range(20):
        params = int(judge.rng.integers(1_000, 10**12))
        sizes = [int(judge.rng.integers(1, high)) for high in (129, 129, 257)]
        keys = int(judge.rng.integers(0, 1_000_000))
        _one_share(judge, (params, *sizes, keys))


def _one_share(judge: Judge, case: tuple[int, ...]) -> None:
    judge.same_number(judge.call(*case), attention_share(*case), *case)


def _share_of(
    attention: Callable[..., float], per_param: float = 2
) -> Callable[..., float]:
    """Return an answer with other FLOPs of attention or of a weight."""

    def share(params: int, *sizes: int) -> float:
        flops = attention(*sizes)
        return flops / (per_param * params + flops)

    return share


EXERCISE = Exercise(
    id="flow/prefill_decode:1",
    title="Attention's share of the arithmetic",
    reference=attention_share,
    grade=_grade,
    hints=(
        "The weights cost 2 FLOPs each, whatever the context. What does one "
        "query cost over `num_keys` keys?",
        "In one head of one layer: `2 * head_dim` for the score of each key, "
        "and as much to add its value.",
        "Attention costs `4 * num_layers * num_heads * head_dim * num_keys`. "
        "Divide it by the sum of both.",
    ),
    reread="The term that two FLOPs a parameter forget",
    mistakes=(
        Mistake(
            _share_of(lambda n, h, d, t: 2 * n * h * d * t),
            "half of it: there are two products, scores and values",
        ),
        Mistake(
            _share_of(lambda n, h, d, t: 4 * n * h * d * t, per_param=1),
            "a weight is multiplied and added: 2 FLOPs",
        ),
        Mistake(
            _share_of(lambda n, h, d, t: 4 * h * d * t),
            "one layer was counted; every layer attends",
        ),
        Mistake(
            _share_of(lambda n, h, d, t: 4 * n * d * t),
            "one head was counted; every query head attends",
        ),
        Mistake(
            _share_of(lambda n, h, d, t: 4 * n * h * d),
            "one key was counted; the query meets all of them",
        ),
        Mistake(
            _share_of(lambda n, h, d, t: 4 * n * h * d * t * t),
            "all tokens' queries were counted; this is one token",
        ),
        Mistake(
            lambda p, n, h, d, t: 4 * n * h * d * t / (2 * p),
            "that is the ratio to the weights; the share is of the sum",
        ),
        Mistake(
            lambda *case: 1 - attention_share(*case),
            "that is the share of the weights",
        ),
    ),
)
