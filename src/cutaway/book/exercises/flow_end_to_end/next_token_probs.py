"""Exercise 1: probabilities of the next token."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def next_token_probs(logits: np.ndarray, temperature: float) -> np.ndarray:
    """Return softmax(logits / temperature) over the last axis."""
    if temperature == 0:
        best = np.argmax(logits, axis=-1, keepdims=True)
        certain = np.zeros_like(logits)
        np.put_along_axis(certain, best, 1, axis=-1)
        return certain
    scaled = logits / temperature
    weights = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def _grade(judge: Judge) -> None:
    cases: list[tuple[np.ndarray, float]] = []
    shapes = ((4,), (2, 3), (1,), (3, 1), (2, 3, 7), (5, 257))
    for number, shape in enumerate(shapes):
        dtype = np.float32 if number % 2 else np.float64
        noise = judge.rng.normal(0, 3, shape).astype(dtype)
        cases += [(noise, 0.5), (noise, 1.0), (noise, 1.7), (noise, 0.0)]
    far_apart = judge.rng.normal(0, 1, (3, 5)).astype(np.float32)
    far_apart += np.array([[400], [-400], [0]], np.float32)
    masked = judge.rng.normal(0, 1, (2, 6))
    masked[:, ::2] = -np.inf
    ties = judge.rng.integers(0, 2, (4, 9)).astype(np.float32)
    for hard in (far_apart, masked, ties):
        cases += [(hard, 1.0), (hard, 0.0)]
    cases.append((np.zeros((0, 4), np.float32), 1.0))  # no rows at all
    for logits, temperature in cases:
        expected = next_token_probs(logits, temperature)
        got = judge.call(logits, temperature)
        judge.same_array(got, expected, logits, temperature)


def _without_max(logits: np.ndarray, temperature: float) -> np.ndarray:
    weights = np.exp(logits / temperature)
    return weights / weights.sum(axis=-1, keepdims=True)


def _global_max(logits: np.ndarray, temperature: float) -> np.ndarray:
    if temperature == 0:
        return next_token_probs(logits, temperature)
    weights = np.exp((logits - logits.max()) / temperature)
    return weights / weights.sum(axis=-1, keepdims=True)


def _over_axis(axis: int | None) -> Callable[[np.ndarray, float], np.ndarray]:
    def softmax(logits: np.ndarray, temperature: float) -> np.ndarray:
        if temperature == 0:
            return next_token_probs(logits, temperature)
        scaled = logits / temperature
        weights = np.exp(scaled - scaled.max(axis=axis, keepdims=True))
        return weights / weights.sum(axis=axis, keepdims=True)

    return softmax


def _shared_ties(logits: np.ndarray, temperature: float) -> np.ndarray:
    best = logits == logits.max(axis=-1, keepdims=True)
    chosen = best.astype(logits.dtype)
    if temperature == 0:
        return chosen / chosen.sum(axis=-1, keepdims=True)
    return next_token_probs(logits, temperature)


def _last_of_ties(logits: np.ndarray, temperature: float) -> np.ndarray:
    if temperature == 0:
        flipped = next_token_probs(logits[..., ::-1], 0.0)
        return flipped[..., ::-1]
    return next_token_probs(logits, temperature)


EXERCISE = Exercise(
    id="flow/end_to_end:1",
    title="Probabilities of the next token",
    reference=next_token_probs,
    grade=_grade,
    hints=(
        "Divide the logits by the temperature, then take the softmax over "
        "the last axis. `keepdims=True` keeps the shapes compatible.",
        "`np.exp` overflows beyond about 88 in float32. Subtracting the "
        "largest logit of each row first changes no probability.",
        "Temperature 0 is a case of its own: all the probability goes to "
        "`np.argmax(logits, axis=-1)`, which takes the first of equals.",
    ),
    reread="From logits to a token",
    mistakes=(
        Mistake(
            lambda logits, temperature: next_token_probs(
                logits, 1.0 if temperature == 0 else 1 / temperature
            ),
            "the logits were multiplied by the temperature; divide",
        ),
        Mistake(
            lambda logits, _: next_token_probs(logits, 1.0),
            "the temperature was not used",
        ),
        Mistake(
            _shared_ties,
            "at temperature 0 equal logits share; the lowest id takes all",
        ),
        Mistake(
            _last_of_ties,
            "at temperature 0 the last of equals won; the lowest id must",
        ),
        Mistake(
            _over_axis(0),
            "the softmax ran over the first axis; the vocabulary is the last",
        ),
        Mistake(
            _over_axis(None),
            "the softmax ran over the whole array; each row has its own",
        ),
        Mistake(
            _global_max,
            "the maximum of the whole array was subtracted; each row needs "
            "its own, or a low row underflows to 0/0",
        ),
        Mistake(
            _without_max,
            "exp overflowed, or 0 was divided by 0: subtract each row's "
            "maximum first, and treat temperature 0 on its own",
        ),
    ),
)
