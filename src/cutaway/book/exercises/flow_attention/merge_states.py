"""Exercise 4: one result out of two, over disjoint sets of keys."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge

Weights = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def merge_states(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return the state over both sets of keys; the last column is lse."""
    lse = np.logaddexp(a[:, -1:], b[:, -1:])
    shift = np.where(np.isneginf(lse), 0, lse)
    from_a = np.exp(a[:, -1:] - shift) * a[:, :-1]
    from_b = np.exp(b[:, -1:] - shift) * b[:, :-1]
    return np.hstack([from_a + from_b, lse])


def _state(
    rng: np.random.Generator, rows: int, kv_len: int, width: int
) -> np.ndarray:
    """Return the state of attention over random keys and values."""
    if kv_len == 0:
        out = np.zeros((rows, width))
        return np.hstack([out, np.full((rows, 1), -np.inf)])
    scores = rng.normal(0, 2, (rows, kv_len))
    values = rng.normal(0, 1, (kv_len, width)) + 2
    weights = np.exp(scores)
    total = weights.sum(axis=-1, keepdims=True)
    return np.hstack([weights / total @ values, np.log(total)])


def _grade(judge: Judge) -> None:
    rng = judge.rng
    sizes = ((3, 4, 2, 5), (1, 1, 1, 1), (2, 0, 3, 4), (2, 3, 0, 4))
    sizes += ((0, 2, 2, 2), (4, 9, 1, 2))
    for number, (rows, first, second, width) in enumerate(sizes):
        dtype = np.float32 if number % 2 else np.float64
        a = _state(rng, rows, first, width).astype(dtype)
        b = _state(rng, rows, second, width).astype(dtype)
        _one(judge, a, b)
    far = _state(rng, 3, 5, 2)
    far[:, -1] += np.array([900, -900, 0])  # exp(900) overflows
    _one(judge, far, _state(rng, 3, 5, 2))
    _one(judge, far, far)
    nothing = _state(rng, 2, 0, 3)
    _one(judge, nothing, nothing)
    some = _state(rng, 3, 4, 2)
    some[1] = [0, 0, -np.inf]  # one row of three has seen nothing
    _one(judge, some, _state(rng, 3, 2, 2))


def _one(judge: Judge, a: np.ndarray, b: np.ndarray) -> None:
    got, expected = judge.call(a, b), merge_states(a, b)
    judge.same_array(got, expected, a, b)


def _with(weights: Weights) -> Callable[..., np.ndarray]:
    """Return an answer that weighs the outputs otherwise."""

    def answer(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        lse = np.logaddexp(a[:, -1:], b[:, -1:])
        for_a, for_b = weights(a[:, -1:], b[:, -1:])
        return np.hstack([for_a * a[:, :-1] + for_b * b[:, :-1], lse])

    return answer


def _share_of(function: Callable[[np.ndarray], np.ndarray]) -> Weights:
    """Return weights proportional to a function of each lse."""

    def weights(a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        first, second = function(a), function(b)
        return first / (first + second), second / (first + second)

    return weights


def _naive(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    first, second = np.exp(a[:, -1:]), np.exp(b[:, -1:])
    total = first + second
    out = (first * a[:, :-1] + second * b[:, :-1]) / total
    return np.hstack([out, np.log(total)])


def _with_lse(
    rule: Callable[[np.ndarray, np.ndarray], np.ndarray],
) -> Callable[..., np.ndarray]:
    """Return an answer whose outputs are right and whose lse is not."""

    def answer(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        right = merge_states(a, b)
        right[:, -1] = rule(a[:, -1], b[:, -1])
        return right

    return answer


def _no_guard(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    lse = np.logaddexp(a[:, -1:], b[:, -1:])
    from_a = np.exp(a[:, -1:] - lse) * a[:, :-1]
    from_b = np.exp(b[:, -1:] - lse) * b[:, :-1]
    return np.hstack([from_a + from_b, lse])


EXERCISE = Exercise(
    id="flow/attention:4",
    title="Merging two partial results",
    reference=merge_states,
    grade=_grade,
    hints=(
        "The log-sum-exp of the union comes first: "
        "`np.logaddexp(a[:, -1:], b[:, -1:])`.",
        "Each output counts with `np.exp(its lse - the lse of the union)`; "
        "the two weights of a row sum to 1.",
        "Where both are empty, the union is too: replace its `-inf` by 0 "
        "before you subtract it, and the weights become 0.",
    ),
    reread="Partial results can be merged",
    mistakes=(
        Mistake(
            _with(lambda a, b: (np.full_like(a, 0.5), np.full_like(b, 0.5))),
            "the outputs were averaged; the part with more weight counts more",
        ),
        Mistake(
            _with(lambda a, b: (np.ones_like(a), np.ones_like(b))),
            "the outputs were added; each was normalised by its own sum",
        ),
        Mistake(
            _no_guard,
            "two empty states gave NaN: -inf minus -inf; the merge of "
            "nothing with nothing is (0, -inf)",
        ),
        Mistake(
            _with(_share_of(lambda lse: lse)),
            "the weights are shares of the lse themselves; take exp first",
        ),
        Mistake(
            _with(_share_of(np.exp2)),
            "the lse were taken to be base 2; they are natural logarithms",
        ),
        Mistake(
            _with(lambda a, b: _share_of(np.exp)(b, a)),
            "the weights are swapped",
        ),
        Mistake(
            _with_lse(np.maximum),
            "the new lse is the larger of the two; it must be the log of "
            "the sum of both exponentials",
        ),
        Mistake(
            _with_lse(np.add),
            "the two lse were added; add their exponentials",
        ),
        Mistake(
            _naive,
            "exp overflowed, or 0 was divided by 0: subtract the larger "
            "lse before the exponential",
        ),
    ),
)
