"""Exercise 4: softmax with a learnt number beside the keys."""

from __future__ import annotations

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def sink_weights(scores: np.ndarray, sink_logit: float) -> np.ndarray:
    """Return the weights of the keys, one row a query."""
    highest = np.maximum(scores.max(axis=-1, keepdims=True), sink_logit)
    powers = np.exp(scores - highest)
    total = powers.sum(axis=-1, keepdims=True) + np.exp(sink_logit - highest)
    return powers / total


def _grade(judge: Judge) -> None:
    rng = judge.rng
    fixed = np.log(np.array([[1.0, 2, 1], [4, 1, 1]]))
    _one(judge, fixed, float(np.log(2)))
    _one(judge, fixed, float(-np.log(4)))
    for queries, keys, sink in ((1, 1, 0.0), (3, 5, 1.5), (4, 2, -2.0)):
        scores = rng.normal(0, 2, (queries, keys))
        _one(judge, scores, sink)
        scores[0, 0] = -np.inf  # a key that the mask hides
        _one(judge, scores, sink)
    _one(judge, rng.normal(0, 1, (2, 3)) + 900, 899.0)  # exp(900) overflows
    _one(judge, rng.normal(0, 1, (2, 3)), 900.0)
    _one(judge, np.full((1, 2), -np.inf), 0.5)  # nothing to see but the sink


def _one(judge: Judge, scores: np.ndarray, sink: float) -> None:
    got = judge.call(scores, sink)
    judge.same_array(got, sink_weights(scores, sink), scores, sink)


def _naive(scores: np.ndarray, sink_logit: float) -> np.ndarray:
    powers = np.exp(scores)
    total = powers.sum(axis=-1, keepdims=True) + np.exp(sink_logit)
    return powers / total


def _plain(scores: np.ndarray, sink_logit: float) -> np.ndarray:
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def _with_column(scores: np.ndarray, sink_logit: float) -> np.ndarray:
    column = np.full((len(scores), 1), sink_logit)
    return _plain(np.hstack([scores, column]), 0)


def _on_the_first(scores: np.ndarray, sink_logit: float) -> np.ndarray:
    changed = scores.copy()
    changed[:, 0] = sink_logit
    return _plain(changed, 0)


def _not_raised(scores: np.ndarray, sink_logit: float) -> np.ndarray:
    highest = np.maximum(scores.max(axis=-1, keepdims=True), sink_logit)
    powers = np.exp(scores - highest)
    return powers / (powers.sum(axis=-1, keepdims=True) + sink_logit)


def _added_raw(scores: np.ndarray, sink_logit: float) -> np.ndarray:
    highest = scores.max(axis=-1, keepdims=True)
    powers = np.exp(scores - highest)
    return powers / (powers.sum(axis=-1, keepdims=True) + np.exp(sink_logit))


EXERCISE = Exercise(
    id="kv_cache/windows_and_sinks:4",
    title="A softmax with a sink logit",
    reference=sink_weights,
    grade=_grade,
    hints=(
        "The sink takes part like the score of one more key; only its "
        "exponential in the sum of the row remains of it.",
        "Subtract the largest of the row before the exponential, and let "
        "the sink be one of those it is chosen from.",
        "`highest = np.maximum(scores.max(axis=-1, keepdims=True), "
        "sink_logit)`; then divide `np.exp(scores - highest)` by its sum "
        "plus `np.exp(sink_logit - highest)`.",
    ),
    reread="A sink that was learnt",
    mistakes=(
        Mistake(
            _with_column,
            "the sink has a column of its own; no value stands behind it",
        ),
        Mistake(
            _on_the_first,
            "the sink took the place of the first key; it is no token",
        ),
        Mistake(
            _plain,
            "each row sums to one; the share of the sink must be lost",
        ),
        Mistake(
            _added_raw,
            "the sink was not shifted with the scores: subtract the same "
            "number from it before the exponential",
        ),
        Mistake(
            _naive,
            "the exponential overflowed; subtract the largest number of the "
            "row first, the sink included",
        ),
        Mistake(
            _not_raised,
            "the sink itself was added to the sum of the exponentials; its "
            "exponential belongs there",
        ),
    ),
)
