"""Exercise 2: a chunk of tokens, read at once."""

from __future__ import annotations

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def chunk_outputs(
    state: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray
) -> np.ndarray:
    """Return what the tokens of a chunk read, [tokens, value_dim]."""
    return q @ state + np.tril(q @ k.T) @ v


def _grade(judge: Judge) -> None:
    sizes = ((4, 3, 3), (7, 2, 5), (1, 3, 2), (5, 4, 4), (16, 8, 3))
    for number, (tokens, key_dim, value_dim) in enumerate(sizes):
        dtype = np.float32 if number % 2 else np.float64
        state = judge.rng.normal(0, 1, (key_dim, value_dim)).astype(dtype)
        q, k = judge.rng.normal(0, 1, (2, tokens, key_dim)).astype(dtype)
        v = judge.rng.normal(0, 1, (tokens, value_dim)).astype(dtype)
        given = state, q, k, v
        expected = chunk_outputs(*given)
        judge.same_array(judge.call(*given), expected, *given, sums=True)


def _inside(
    state: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray
) -> np.ndarray:
    return np.tril(q @ k.T) @ v


def _before(
    state: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray
) -> np.ndarray:
    return q @ state


def _later(
    state: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray
) -> np.ndarray:
    return q @ (state + k.T @ v)


def _blind(
    state: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray
) -> np.ndarray:
    return q @ state + np.tril(q @ k.T, k=-1) @ v


def _upside(
    state: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray
) -> np.ndarray:
    return q @ state + np.triu(q @ k.T) @ v


def _keys(
    state: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray
) -> np.ndarray:
    return k @ state + np.tril(q @ k.T) @ v


def _turned(
    state: np.ndarray, q: np.ndarray, k: np.ndarray, v: np.ndarray
) -> np.ndarray:
    return q @ state + np.tril(k @ q.T) @ v


EXERCISE = Exercise(
    id="kv_cache/constant_state:2",
    title="A chunk of tokens at once",
    reference=chunk_outputs,
    grade=_grade,
    hints=(
        "A token of the chunk reads two things: what was written before the "
        "chunk, and what was written in it, up to itself.",
        "The first part is `q @ state` for all tokens at once. The second "
        "is attention without softmax, with a causal mask.",
        "`np.tril(q @ k.T)` are the weights of the second part.",
    ),
    reread="Many tokens at once",
    mistakes=(
        Mistake(_inside, "what was written before the chunk is missing"),
        Mistake(_before, "what the chunk itself wrote is missing"),
        Mistake(
            _later,
            "tokens read what later tokens of the chunk wrote; a mask is "
            "missing",
        ),
        Mistake(_blind, "a token does not see itself"),
        Mistake(_upside, "the mask is upside down: rows are queries"),
        Mistake(_keys, "the state is read with the queries, not the keys"),
        Mistake(_turned, "rows of the weights are queries, columns are keys"),
    ),
)
