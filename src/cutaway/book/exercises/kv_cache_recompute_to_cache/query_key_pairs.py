"""Exercise 2: the pairs of attention over a whole answer."""

from __future__ import annotations

from collections.abc import Callable

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def query_key_pairs(
    prompt_tokens: int, answer_tokens: int, cached: bool
) -> int:
    """Return the pairs of a query and a key it sees, over all passes."""
    last = prompt_tokens + answer_tokens - 1
    if cached:
        return last * (last + 1) // 2
    lengths = range(prompt_tokens, last + 1)
    return sum(length * (length + 1) // 2 for length in lengths)


def _grade(judge: Judge) -> None:
    fixed = ((5, 3), (1, 1), (4, 1), (1, 6), (100, 27), (7, 400))
    for prompt, answer in fixed:
        for cached in (True, False):
            _one_count(judge, (prompt, answer, cached))
    for _ in range(20):
        prompt, answer = (int(n) for n in judge.rng.integers(1, 300, 2))
        _one_count(judge, (prompt, answer, bool(judge.rng.integers(2))))


def _one_count(judge: Judge, case: tuple[int, int, bool]) -> None:
    judge.same_number(judge.call(*case), query_key_pairs(*case), *case)


def _summed(
    with_cache: Callable[[int, int], int],
    without: Callable[[int, int], int],
) -> Callable[[int, int, bool], int]:
    def pairs(prompt: int, answer: int, cached: bool) -> int:
        return (with_cache if cached else without)(prompt, answer)

    return pairs


def _cached(prompt: int, answer: int) -> int:
    return query_key_pairs(prompt, answer, True)


def _uncached(prompt: int, answer: int) -> int:
    return query_key_pairs(prompt, answer, False)


def _constant(prompt: int, answer: int) -> int:
    return prompt * (prompt + 1) // 2 + answer - 1


def _square(prompt: int, answer: int) -> int:
    return sum(m * m for m in range(prompt, prompt + answer))


def _no_self(prompt: int, answer: int) -> int:
    last = prompt + answer - 1
    return last * (last - 1) // 2


EXERCISE = Exercise(
    id="kv_cache/recompute_to_cache:2",
    title="Pairs of queries and keys",
    reference=query_key_pairs,
    grade=_grade,
    hints=(
        "How many passes are there, and how many tokens has the last of them "
        "read? Its own answer is never read.",
        "A text of m tokens that is read from the start has 1 + 2 + ... + m = "
        "m (m + 1) / 2 pairs, causal mask and all.",
        "With a cache each token's query meets its keys once, so all passes "
        "together are one text of prompt_tokens + answer_tokens - 1 tokens. "
        "Without one, sum m (m + 1) / 2 over the lengths of all passes.",
    ),
    reread="Quadratic and cubic",
    mistakes=(
        Mistake(
            lambda p, n, cached: query_key_pairs(p, n + 1, cached),
            "one pass too many: nobody reads the last token",
        ),
        Mistake(
            _summed(_constant, _uncached),
            "a step with a cache still meets all keys, not one",
        ),
        Mistake(
            _summed(_cached, _square),
            "no causal mask: a query sees no key behind its own",
        ),
        Mistake(
            _summed(_cached, _cached),
            "without a cache every pass computes all pairs again",
        ),
        Mistake(
            _summed(_uncached, _cached),
            "with and without are swapped",
        ),
        Mistake(
            _summed(_no_self, _uncached),
            "a token sees itself",
        ),
        Mistake(
            _summed(
                lambda p, n: p + n - 1,
                lambda p, n: sum(range(p, p + n)),
            ),
            "those are the tokens that pass through; count pairs",
        ),
        Mistake(
            _summed(
                lambda p, n: _cached(p, n) - p * (p + 1) // 2,
                lambda p, n: _uncached(p, n) - p * (p + 1) // 2,
            ),
            "the pass over the prompt is missing",
        ),
    ),
)
