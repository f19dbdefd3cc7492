"""Exercise 1: which tokens H2O keeps."""

from __future__ import annotations

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.exercises.kv_cache_dropping_tokens._weights import (
    causal_weights,
    newest_of_highest,
)
from cutaway.book.judge import Judge


def heavy_hitters(
    weights: np.ndarray, budget_tokens: int, recent_tokens: int
) -> list[int]:
    """Return the positions that one head keeps, in ascending order."""
    tokens = weights.shape[1]
    newest = max(0, tokens - recent_tokens)
    scores = weights.sum(axis=0)[:newest]
    heavy = newest_of_highest(scores, budget_tokens - (tokens - newest))
    return heavy + list(range(newest, tokens))


def _grade(judge: Judge) -> None:
    sizes = ((24, 9, 2), (9, 4, 2), (12, 6, 3), (20, 5, 0), (7, 7, 3))
    sizes += ((33, 9, 4), (5, 2, 2), (50, 20, 10))
    for tokens, budget, recent in sizes:
        weights = causal_weights(judge.rng, tokens)
        got = judge.call(weights, budget, recent)
        expected = heavy_hitters(weights, budget, recent)
        judge.same_list(got, expected, weights, budget, recent, what="position")


def _by(scores_of):
    """Return an answer with other scores."""

    def answer(
        weights: np.ndarray, budget_tokens: int, recent_tokens: int
    ) -> list[int]:
        scores = np.broadcast_to(scores_of(weights), weights.shape)
        return heavy_hitters(scores / len(scores), budget_tokens, recent_tokens)

    return answer


def _no_recent(
    weights: np.ndarray, budget_tokens: int, recent_tokens: int
) -> list[int]:
    return heavy_hitters(weights, budget_tokens, 0)


def _recent_besides(
    weights: np.ndarray, budget_tokens: int, recent_tokens: int
) -> list[int]:
    most = min(weights.shape[1], budget_tokens + recent_tokens)
    return heavy_hitters(weights, most, recent_tokens)


def _only_recent(
    weights: np.ndarray, budget_tokens: int, recent_tokens: int
) -> list[int]:
    return heavy_hitters(weights, budget_tokens, budget_tokens)


def _by_weight(
    weights: np.ndarray, budget_tokens: int, recent_tokens: int
) -> list[int]:
    kept = heavy_hitters(weights, budget_tokens, recent_tokens)
    return sorted(kept, key=lambda place: -weights[:, place].sum())


EXERCISE = Exercise(
    id="kv_cache/dropping_tokens:1",
    title="Which tokens H2O keeps",
    reference=heavy_hitters,
    grade=_grade,
    hints=(
        "A token's score is all the weight that any query has given it: "
        "add up over the queries.",
        "Set the newest `recent_tokens` positions aside; they stay. Of the "
        "others keep the `budget_tokens - recent_tokens` with the highest "
        "sums.",
        "`np.argsort(weights.sum(axis=0)[:-recent_tokens])` has the highest "
        "last; mind `recent_tokens = 0`. Sort the positions at the end.",
    ),
    reread="One interface, three rules",
    mistakes=(
        Mistake(_only_recent, "only the newest tokens were kept"),
        Mistake(
            _by(lambda weights: weights[-1:]),
            "only the last query was asked; heavy hitters count all queries",
        ),
        Mistake(
            _by(lambda weights: weights.max(axis=0, keepdims=True)),
            "the highest weight was taken; the score is the sum",
        ),
        Mistake(
            _by(
                lambda weights: (
                    weights.sum(axis=0, keepdims=True)
                    / np.arange(len(weights), 0, -1)
                )
            ),
            "the sums were divided by how many queries saw the token; that "
            "is another rule",
        ),
        Mistake(_by(lambda weights: -weights), "the lightest tokens were kept"),
        Mistake(_no_recent, "the newest tokens were not set aside"),
        Mistake(
            _recent_besides,
            "the newest tokens were kept beside the budget; they are in it",
        ),
        Mistake(
            _by_weight,
            "the positions are in order of weight; the cache keeps the order "
            "of the text",
        ),
    ),
)
