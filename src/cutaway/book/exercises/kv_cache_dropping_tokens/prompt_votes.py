"""Exercise 2: which tokens of a prompt SnapKV keeps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.exercises.kv_cache_dropping_tokens._weights import (
    causal_weights,
    newest_of_highest,
)
from cutaway.book.judge import Judge


def prompt_votes(
    weights: np.ndarray,
    budget_tokens: int,
    window_tokens: int,
    pool_tokens: int,
) -> list[int]:
    """Return the positions that one head keeps, in ascending order."""
    tokens = len(weights)
    earlier = tokens - window_tokens
    votes = weights[earlier:, :earlier].sum(axis=0)
    side = pool_tokens // 2
    best = [
        votes[max(0, place - side) : place + side + 1].max()
        for place in range(earlier)
    ]
    voted = newest_of_highest(np.array(best), budget_tokens - window_tokens)
    return voted + list(range(earlier, tokens))


def _grade(judge: Judge) -> None:
    sizes = ((9, 4, 2, 1), (12, 6, 3, 3), (20, 9, 4, 3), (30, 11, 4, 5))
    sizes += ((16, 7, 1, 3), (40, 20, 8, 7), (10, 10, 3, 3))
    for case in sizes:
        weights = causal_weights(judge.rng, case[0])
        got = judge.call(weights, *case[1:])
        expected = prompt_votes(weights, *case[1:])
        judge.same_list(got, expected, weights, *case[1:], what="position")


def _changed(
    change: Callable[[np.ndarray, int, int, int], tuple],
) -> Callable[..., list[int]]:
    """Return an answer to another question."""

    def answer(
        weights: np.ndarray,
        budget_tokens: int,
        window_tokens: int,
        pool_tokens: int,
    ) -> list[int]:
        return prompt_votes(
            *change(weights, budget_tokens, window_tokens, pool_tokens)
        )

    return answer


def _all_vote(
    weights: np.ndarray, budget: int, window: int, pool: int
) -> tuple:
    total = np.broadcast_to(weights.sum(axis=0), weights.shape)
    return total, budget, window, pool


def _last_votes(
    weights: np.ndarray, budget: int, window: int, pool: int
) -> tuple:
    last = np.broadcast_to(weights[-1], weights.shape)
    return last, budget, window, pool


def _mean_pool(
    weights: np.ndarray,
    budget_tokens: int,
    window_tokens: int,
    pool_tokens: int,
) -> list[int]:
    earlier = len(weights) - window_tokens
    votes = weights[earlier:, :earlier].sum(axis=0)
    padded = np.pad(votes, pool_tokens // 2)
    means = np.convolve(padded, np.ones(pool_tokens) / pool_tokens, "valid")
    voted = newest_of_highest(means, budget_tokens - window_tokens)
    return voted + list(range(earlier, len(weights)))


def _window_is_free(
    weights: np.ndarray, budget: int, window: int, pool: int
) -> tuple:
    return weights, min(len(weights), budget + window), window, pool


def _no_window(
    weights: np.ndarray,
    budget_tokens: int,
    window_tokens: int,
    pool_tokens: int,
) -> list[int]:
    votes = weights[-window_tokens:].sum(axis=0)
    side = pool_tokens // 2
    best = [
        votes[max(0, place - side) : place + side + 1].max()
        for place in range(len(votes))
    ]
    return newest_of_highest(np.array(best), budget_tokens)


EXERCISE = Exercise(
    id="kv_cache/dropping_tokens:2",
    title="Which tokens of a prompt SnapKV keeps",
    reference=prompt_votes,
    grade=_grade,
    hints=(
        "Only the last `window_tokens` rows vote, and only on the columns "
        "before them: `weights[-window_tokens:, :-window_tokens]`.",
        "Add up the rows. Then give each token the highest sum among itself "
        "and `pool_tokens // 2` neighbours on each side, within the columns "
        "that were voted on.",
        "Keep the `budget_tokens - window_tokens` highest (of equal ones "
        "the newest: a stable `np.argsort` has them last), and the window.",
    ),
    reread="One interface, three rules",
    mistakes=(
        Mistake(
            _changed(lambda w, b, n, p: (w, b, n, 1)),
            "there is no pooling: a token gets the best vote of its neighbours",
        ),
        Mistake(
            _mean_pool, "the mean of the neighbours was taken; take the highest"
        ),
        Mistake(
            _changed(_all_vote),
            "all queries voted; only those of the window do",
        ),
        Mistake(
            _changed(_last_votes),
            "only the last query voted; the whole window does",
        ),
        Mistake(
            _changed(_window_is_free),
            "the window was kept beside the budget; it is in it",
        ),
        Mistake(
            _no_window,
            "the window has to stay, and takes no part in the vote as a "
            "candidate",
        ),
    ),
)
