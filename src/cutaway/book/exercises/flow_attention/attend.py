"""Exercise 1: attention of one head."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def attend(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return softmax(q k^T / sqrt(head_dim)) v, without a mask."""
    scores = q @ k.T * q.shape[-1] ** -0.5
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True) @ v


def _grade(judge: Judge) -> None:
    shapes = ((2, 3, 4, 5), (1, 1, 1, 1), (4, 4, 4, 4), (1, 7, 6, 2))
    shapes += ((5, 2, 64, 3), (3, 9, 59, 59), (0, 3, 4, 4))
    for number, (q_len, kv_len, head_dim, width) in enumerate(shapes):
        dtype = np.float32 if number % 2 else np.float64
        q = judge.rng.normal(0, 1.5, (q_len, head_dim)).astype(dtype)
        k = judge.rng.normal(0, 1.5, (kv_len, head_dim)).astype(dtype)
        v = judge.rng.normal(0, 1, (kv_len, width)).astype(dtype)
        _one(judge, q, k, v)
    # large scores, of whole numbers: whatever the order, no sum is rounded
    q = judge.rng.integers(-50, 51, (3, 16)).astype(np.float32)
    k = judge.rng.integers(-50, 51, (5, 16)).astype(np.float32)
    k[0] = q[1]  # a score in the thousands: its exp overflows
    q[0] *= 2**-12  # one row of small scores beside rows of large ones
    _one(judge, q, k, judge.rng.normal(0, 1, (5, 4)).astype(np.float32))


def _one(judge: Judge, q: np.ndarray, k: np.ndarray, v: np.ndarray) -> None:
    got = judge.call(q, k, v)
    judge.same_array(got, attend(q, k, v), q, k, v, sums=True)


def _softmax(scores: np.ndarray, axis: int | None = -1) -> np.ndarray:
    weights = np.exp(scores - scores.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)


def _scaled_by(
    factor: Callable[[int], float],
) -> Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]:
    def answer(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
        return _softmax(q @ k.T * factor(q.shape[-1])) @ v

    return answer


def _without_max(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    weights = np.exp(q @ k.T / np.sqrt(q.shape[-1]))
    return weights / weights.sum(axis=-1, keepdims=True) @ v


def _not_normalised(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return np.exp(q @ k.T * q.shape[-1] ** -0.5) @ v


def _over_queries(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return _softmax(q @ k.T * q.shape[-1] ** -0.5, axis=0) @ v


def _scaled_after(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return _softmax(q @ k.T) * q.shape[-1] ** -0.5 @ v


def _by_tokens(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return _softmax(q @ k.T / np.sqrt(len(k))) @ v


EXERCISE = Exercise(
    id="flow/attention:1",
    title="Attention of one head",
    reference=attend,
    grade=_grade,
    hints=(
        "Three steps: `q @ k.T` times the scale, a softmax along the keys, "
        "the product with `v`.",
        "The scale is one over the root of `q.shape[-1]`. The keys are the "
        "last axis of the scores, and every row has a softmax of its own.",
        "Subtract each row's maximum before `np.exp`, with `keepdims=True`; "
        "then divide by the sum of each row.",
    ),
    reread="Four tokens, by hand",
    mistakes=(
        Mistake(
            _scaled_by(lambda head_dim: 1.0),
            "the scale is missing: divide by the root of head_dim",
        ),
        Mistake(
            _scaled_by(lambda head_dim: 1 / head_dim),
            "the scores were divided by head_dim itself, not by its root",
        ),
        Mistake(
            _scaled_by(lambda head_dim: head_dim**0.5),
            "the scores were multiplied by the root; divide",
        ),
        Mistake(
            _by_tokens,
            "the scale was taken from the number of keys; it is the width "
            "of a head that counts",
        ),
        Mistake(
            _scaled_after,
            "the weights were scaled; the scale belongs before the softmax",
        ),
        Mistake(
            _over_queries,
            "the softmax ran over the queries; each query's weights over "
            "the keys must sum to 1",
        ),
        Mistake(
            _not_normalised,
            "the exponentials were not divided by their sum",
        ),
        Mistake(
            _without_max,
            "exp overflowed, or a sum was 0: subtract each row's maximum first",
        ),
    ),
)
