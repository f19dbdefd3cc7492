"""Exercise 4: how much of a cache a new prompt can use."""

from __future__ import annotations

from collections.abc import Callable

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge

Ids = list[int]


def reusable_tokens(cached_ids: Ids, prompt_ids: Ids) -> int:
    """Return how many tokens of the cache to keep for a prompt."""
    keep = 0
    while (
        keep < min(len(cached_ids), len(prompt_ids) - 1)
        and cached_ids[keep] == prompt_ids[keep]
    ):
        keep += 1
    return keep


def _grade(judge: Judge) -> None:
    fixed = (
        # tells all the usual mistakes apart
        ([5, 1, 2, 3, 4, 6, 8], [5, 1, 9, 3, 4, 6, 8, 2, 1, 1]),
        ([7, 8, 9, 4], [7, 8, 9, 5, 6]),
        ([7, 8, 9], [7, 8, 9]),
        ([7, 8, 9, 4, 5], [7, 8, 9]),
        ([7, 8, 9], [7, 8, 9, 1, 2]),
        ([], [3]),
        ([3, 3], [3]),
        ([1, 2, 3, 4], [9, 2, 3, 4]),
        ([1, 2, 3, 4], [1, 9, 3, 4, 5]),
        ([5, 1, 2, 3], [1, 2, 3, 8]),
        ([1, 2], [2, 1]),
        ([4, 4, 4, 4], [4, 4, 4, 4, 4, 4]),
        ([0, 0, 7], [0, 0, 0, 7]),
    )
    for cached, prompt in fixed:
        _one_pair(judge, cached, prompt)
    for _ in range(24):
        rng = judge.rng
        shared, *ends = (
            [int(i) for i in rng.integers(0, 4, int(rng.integers(0, 9)))]
            for _ in range(3)
        )
        last = int(rng.integers(0, 4))
        _one_pair(judge, shared + ends[0], [*shared, *ends[1], last])


def _one_pair(judge: Judge, cached: Ids, prompt: Ids) -> None:
    got = judge.call(cached, prompt)
    judge.same_number(got, reusable_tokens(cached, prompt), cached, prompt)


def _common(cached: Ids, prompt: Ids) -> int:
    return reusable_tokens(cached, [*prompt, -1])


def _same_places(cached: Ids, prompt: Ids) -> int:
    pairs = zip(cached, prompt[:-1], strict=False)
    return sum(a == b for a, b in pairs)


def _longest_run(cached: Ids, prompt: Ids) -> int:
    """Return the longest stretch of the prompt anywhere in the cache."""
    best = 0
    for first in range(len(cached)):
        for second in range(len(prompt)):
            best = max(best, _common(cached[first:], prompt[second:]))
    return min(best, len(prompt) - 1)


def _all_or_nothing(cached: Ids, prompt: Ids) -> int:
    whole = _common(cached, prompt) == len(cached)
    return min(len(cached), len(prompt) - 1) if whole else 0


def _known_ids(cached: Ids, prompt: Ids) -> int:
    return min(sum(i in cached for i in prompt), len(prompt) - 1)


def _capped_after(cap: Callable[[int, int], int]) -> Callable[..., int]:
    def answer(cached: Ids, prompt: Ids) -> int:
        return cap(_common(cached, prompt), len(prompt))

    return answer


EXERCISE = Exercise(
    id="kv_cache/recompute_to_cache:4",
    title="What of a cache a new prompt can use",
    reference=reusable_tokens,
    grade=_grade,
    hints=(
        "A key depends on all tokens before it. So which tokens of the cache "
        "are still right for the new prompt?",
        "Compare from the front and stop at the first difference: what comes "
        "behind it was computed after other tokens.",
        "The logits come from a pass, and a pass needs a token. Keep at most "
        "`len(prompt_ids) - 1`.",
    ),
    reread="What a key depends on",
    mistakes=(
        Mistake(
            _common,
            "nothing is left to compute, and no pass gives the logits: keep "
            "at most len(prompt_ids) - 1",
        ),
        Mistake(
            _same_places,
            "a token behind the first difference has another past: its key "
            "is another",
        ),
        Mistake(
            _longest_run,
            "the common part must begin at the first token",
        ),
        Mistake(
            _all_or_nothing,
            "a cache can be cut back: keep the part that agrees",
        ),
        Mistake(
            _known_ids,
            "the same token elsewhere has another key; compare place by place",
        ),
        Mistake(
            lambda cached, prompt: min(len(cached), len(prompt) - 1),
            "the tokens were not compared",
        ),
        Mistake(
            _capped_after(lambda common, total: max(0, common - 1)),
            "one too few: only a prompt that is cached whole must give up "
            "its last token",
        ),
        Mistake(
            _capped_after(lambda common, total: min(common + 1, total - 1)),
            "one too many: the token that differs cannot be kept",
        ),
    ),
)
