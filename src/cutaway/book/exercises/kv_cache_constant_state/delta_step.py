"""Exercise 3: one step of the gated delta rule."""

from __future__ import annotations

import math

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def delta_step(
    state: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    beta: float,
    log_decay: float,
) -> np.ndarray:
    """Return the state after a token, [key_dim, value_dim]."""
    faded = state * math.exp(log_decay)
    found = k @ faded
    return faded + beta * np.outer(k, v - found)


def _grade(judge: Judge) -> None:
    sizes = ((2, 2), (3, 5), (4, 1), (1, 3), (6, 6), (16, 8))
    for number, (key_dim, value_dim) in enumerate(sizes):
        dtype = np.float32 if number % 2 else np.float64
        state = judge.rng.normal(0, 1, (key_dim, value_dim)).astype(dtype)
        k = judge.rng.normal(0, 1, key_dim)
        k = (k / np.linalg.norm(k)).astype(dtype)
        v = judge.rng.normal(0, 1, value_dim).astype(dtype)
        beta = float(judge.rng.uniform(0.2, 0.9))
        given = state, k, v, beta, -float(judge.rng.uniform(0.2, 1))
        expected = delta_step(*given)
        judge.same_array(judge.call(*given), expected, *given, sums=True)


def _plain(
    state: np.ndarray, k: np.ndarray, v: np.ndarray, beta: float, g: float
) -> np.ndarray:
    return state * math.exp(g) + beta * np.outer(k, v)


def _stale(
    state: np.ndarray, k: np.ndarray, v: np.ndarray, beta: float, g: float
) -> np.ndarray:
    return state * math.exp(g) + beta * np.outer(k, v - k @ state)


def _late(
    state: np.ndarray, k: np.ndarray, v: np.ndarray, beta: float, g: float
) -> np.ndarray:
    return (state + beta * np.outer(k, v - k @ state)) * math.exp(g)


def _raw(
    state: np.ndarray, k: np.ndarray, v: np.ndarray, beta: float, g: float
) -> np.ndarray:
    faded = state * g
    return faded + beta * np.outer(k, v - k @ faded)


def _full(
    state: np.ndarray, k: np.ndarray, v: np.ndarray, beta: float, g: float
) -> np.ndarray:
    return delta_step(state, k, v, 1.0, g)


def _half(
    state: np.ndarray, k: np.ndarray, v: np.ndarray, beta: float, g: float
) -> np.ndarray:
    faded = state * math.exp(g)
    return faded + np.outer(k, beta * v - k @ faded)


def _sign(
    state: np.ndarray, k: np.ndarray, v: np.ndarray, beta: float, g: float
) -> np.ndarray:
    faded = state * math.exp(g)
    return faded + beta * np.outer(k, v + k @ faded)


EXERCISE = Exercise(
    id="kv_cache/constant_state:3",
    title="One step of the gated delta rule",
    reference=delta_step,
    grade=_grade,
    hints=(
        "Three things in order: the state fades, the key is looked up, the "
        "gap to the value is written.",
        "The decay is `math.exp(log_decay)`. The lookup is `k @ faded`, in "
        "the state that has faded.",
        "Return `faded + beta * np.outer(k, v - found)`.",
    ),
    reread="Write only the difference",
    mistakes=(
        Mistake(_plain, "nothing was looked up: this is linear attention"),
        Mistake(
            _stale, "the key was looked up in the state before it had faded"
        ),
        Mistake(_late, "what the token writes does not fade in its own step"),
        Mistake(_raw, "log_decay is a logarithm; the factor is its exp"),
        Mistake(_full, "beta was left out: the step is a part of the gap"),
        Mistake(_half, "beta stands before the whole gap, not the value only"),
        Mistake(_sign, "what was found is subtracted from the value"),
    ),
)
