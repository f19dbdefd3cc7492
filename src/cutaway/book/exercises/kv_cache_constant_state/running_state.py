"""Exercise 1: attention without softmax, from a running state."""

from __future__ import annotations

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def running_state(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return what each token reads, [tokens, value_dim]."""
    state = np.zeros((k.shape[1], v.shape[1]), v.dtype)
    out = np.empty_like(v)
    for i in range(len(q)):
        state = state + np.outer(k[i], v[i])
        out[i] = q[i] @ state
    return out


def _grade(judge: Judge) -> None:
    sizes = ((3, 2, 2), (5, 3, 4), (1, 2, 3), (8, 4, 4), (6, 1, 1), (17, 5, 2))
    for number, (tokens, key_dim, value_dim) in enumerate(sizes):
        dtype = np.float32 if number % 2 else np.float64
        q, k = judge.rng.normal(0, 1, (2, tokens, key_dim)).astype(dtype)
        v = judge.rng.normal(0, 1, (tokens, value_dim)).astype(dtype)
        expected = running_state(q, k, v)
        judge.same_array(judge.call(q, k, v), expected, q, k, v, sums=True)


def _weighted(weights: np.ndarray, v: np.ndarray) -> np.ndarray:
    return (weights @ v).astype(v.dtype)


def _before(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return _weighted(np.tril(q @ k.T, k=-1), v)


def _all(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return _weighted(q @ k.T, v)


def _last(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return _weighted(np.diag((q * k).sum(axis=1)), v)


def _softmax(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    weights = np.tril(np.exp(q @ k.T))
    return _weighted(weights / weights.sum(axis=1, keepdims=True), v)


def _mean(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return running_state(q, k, v) / np.arange(1, len(q) + 1)[:, None].astype(
        v.dtype
    )


def _swapped(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    return running_state(k, q, v)


def _transposed(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    if k.shape[1] != v.shape[1]:
        raise ValueError("the state is no square")
    return running_state(q, v, k)


EXERCISE = Exercise(
    id="kv_cache/constant_state:1",
    title="Attention without softmax, from a state",
    reference=running_state,
    grade=_grade,
    hints=(
        "Start with a matrix of zeros `[key_dim, value_dim]`. What does a "
        "token add to it, and does it read before or after that?",
        "Token `i` adds `np.outer(k[i], v[i])` and then reads: it sees "
        "itself, as in causal attention.",
        "What it reads is `q[i] @ state`.",
    ),
    reread="Attention without softmax",
    mistakes=(
        Mistake(_before, "the token read before it wrote; it sees itself too"),
        Mistake(
            _all,
            "every token read the state at the end; a token sees only what "
            "was written so far",
        ),
        Mistake(_last, "the state was started anew for every token"),
        Mistake(_softmax, "there is a softmax; without it there is a state"),
        Mistake(_mean, "the sum was divided by the number of tokens"),
        Mistake(_swapped, "keys and queries have changed places"),
        Mistake(_transposed, "the state is transposed: keys lead to values"),
    ),
)
