"""Exercise 3: which form needs fewer FLOPs."""

from __future__ import annotations

from collections.abc import Callable

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def absorption_pays(
    q_len: int, context_len: int, rank: int, nope: int, value: int
) -> int:
    """Return the FLOPs a head that absorption saves; negative if none."""
    pairs = q_len * context_len + q_len * (q_len + 1) // 2
    expanded = (context_len + q_len) * rank * (nope + value)
    expanded += pairs * (nope + value)
    absorbed = q_len * rank * (nope + value) + pairs * 2 * rank
    return 2 * (expanded - absorbed)


def _grade(judge: Judge) -> None:
    fixed = (
        (3, 10, 16, 4, 6),  # tells all the usual mistakes apart
        (1, 4095, 512, 128, 128),
        (4096, 0, 512, 128, 128),
        (170, 100_000, 512, 128, 128),
        (171, 100_000, 512, 128, 128),
        (512, 512, 512, 128, 128),
        (7, 0, 8, 64, 64),
        (1, 0, 5, 3, 2),
    )
    for case in fixed:
        _one_pass(judge, case)
    for _ in range(20):
        q_len = int(judge.rng.integers(1, 300))
        context = int(judge.rng.integers(0, 5000))
        rank = int(judge.rng.integers(1, 600))
        nope, value = (int(judge.rng.integers(1, 200)) for _ in range(2))
        _one_pass(judge, (q_len, context, rank, nope, value))


def _one_pass(judge: Judge, case: tuple[int, ...]) -> None:
    judge.same_number(judge.call(*case), absorption_pays(*case), *case)


def _variant(
    *,
    pairs: Callable[[int, int], int] | None = None,
    made: Callable[[int, int], int] = lambda q_len, context: q_len + context,
    again: bool = True,
    factor: int = 2,
    wider: int = 2,
) -> Callable[..., int]:
    """Return an answer that counts one of the parts otherwise."""

    def answer(
        q_len: int, context: int, rank: int, nope: int, value: int
    ) -> int:
        count = q_len * context + q_len * (q_len + 1) // 2
        if pairs is not None:
            count = pairs(q_len, context)
        up = rank * (nope + value)
        expanded = made(q_len, context) * up + count * (nope + value)
        absorbed = again * q_len * up + count * wider * rank
        return factor * (expanded - absorbed)

    return answer


EXERCISE = Exercise(
    id="kv_cache/mla:3",
    title="Which form needs fewer FLOPs",
    reference=absorption_pays,
    grade=_grade,
    hints=(
        "The rotary part costs the same in both forms, so it cancels. Count "
        "for each form the matrices, and the pairs of a query and a key.",
        "Pairs: `q_len * context_len + q_len * (q_len + 1) // 2`. Expanded: "
        "`nope + value` multiply-adds a pair; absorbed: `2 * rank`.",
        "The matrices cost `rank * (nope + value)` multiply-adds a token: "
        "for all `context_len + q_len` tokens expanded, for the `q_len` new "
        "ones absorbed. A multiply-add is 2 FLOPs.",
    ),
    reread="Predict: what each form costs",
    mistakes=(
        Mistake(
            _variant(made=lambda q_len, context: q_len),
            "keys and values of the context must be made too: they are not "
            "in the cache",
        ),
        Mistake(
            _variant(made=lambda q_len, context: context),
            "the new tokens need keys and values too",
        ),
        Mistake(
            _variant(again=False),
            "the absorbed form still multiplies the new tokens with both "
            "matrices",
        ),
        Mistake(
            _variant(pairs=lambda q_len, context: q_len * (q_len + context)),
            "the mask was forgotten: a query does not see later tokens",
        ),
        Mistake(
            _variant(pairs=lambda q_len, context: q_len * context),
            "the new tokens see each other too, and themselves",
        ),
        Mistake(
            _variant(wider=1),
            "scores and values both have the width of the rank: 2 * rank",
        ),
        Mistake(
            _variant(factor=1),
            "a multiply-add is 2 FLOPs",
        ),
        Mistake(
            lambda *case: -absorption_pays(*case),
            "the sign is wrong: positive means that absorption saves",
        ),
        Mistake(
            lambda *case: int(absorption_pays(*case) > 0),
            "the FLOPs saved are asked for, not whether there are any",
        ),
    ),
)
