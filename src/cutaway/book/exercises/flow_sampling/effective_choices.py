"""Exercise 1: how many tokens the model hesitates between."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def effective_choices(logits: np.ndarray, temperature: float) -> np.ndarray:
    """Return exp(entropy) of softmax(logits / temperature), one a row."""
    p = _softmax(logits / temperature)
    surprise = -np.log(np.where(p > 0, p, 1))
    return np.exp((p * surprise).sum(axis=-1))


def _softmax(z: np.ndarray) -> np.ndarray:
    weights = np.exp(z - z.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def _grade(judge: Judge) -> None:
    shapes = ((3, 5), (1, 1), (2, 257), (4, 2))
    cases = [np.log([[8, 4, 2, 1.0], [1, 1, 1, 1]])]
    cases += [judge.rng.normal(0, 3, shape) for shape in shapes]
    masked = judge.rng.normal(0, 2, (3, 6))
    masked[:, ::2] = -np.inf
    far_apart = judge.rng.normal(0, 1, (3, 5))
    far_apart += np.array([[900], [-900], [0]])
    cases += [masked, far_apart, np.array([[0.0, 2000, 0]])]
    for logits in cases:
        for temperature in (0.5, 1.0, 1.7):
            expected = effective_choices(logits, temperature)
            got = judge.call(logits, temperature)
            judge.same_array(got, expected, logits, temperature)


def _with(
    measure: Callable[[np.ndarray], np.ndarray],
) -> Callable[[np.ndarray, float], np.ndarray]:
    """Return an answer that takes ``measure`` of the probabilities."""

    def answer(logits: np.ndarray, temperature: float) -> np.ndarray:
        return measure(_softmax(logits / temperature))

    return answer


def _entropy(p: np.ndarray, log: Callable = np.log) -> np.ndarray:
    return -(p * log(np.where(p > 0, p, 1))).sum(axis=-1)


def _without_max(logits: np.ndarray, temperature: float) -> np.ndarray:
    weights = np.exp(logits / temperature)
    p = weights / weights.sum(axis=-1, keepdims=True)
    return np.exp(_entropy(p))


EXERCISE = Exercise(
    id="flow/sampling:1",
    title="How many tokens the model hesitates between",
    reference=effective_choices,
    grade=_grade,
    hints=(
        "Take the softmax of `logits / temperature` along the last axis, "
        "with each row's largest subtracted first.",
        "The entropy is the sum of `-p * log(p)`. Where `p` is 0 the term "
        "is 0, but NumPy makes it NaN: `np.where(p > 0, p, 1)` helps.",
        "Sum along the last axis, then take `np.exp` of the result.",
    ),
    reread="Softmax and temperature, by hand",
    mistakes=(
        Mistake(
            _with(_entropy),
            "that is the entropy itself; its exponential is asked for",
        ),
        Mistake(
            _with(lambda p: np.exp(_entropy(p, np.log2))),
            "the entropy is in bits: 2 to its power, or the natural log",
        ),
        Mistake(
            _with(lambda p: 1 / (p * p).sum(axis=-1)),
            "that is 1 / sum(p**2), another measure; take exp(entropy)",
        ),
        Mistake(
            _with(lambda p: (p > 0).sum(axis=-1).astype(p.dtype)),
            "all possible tokens were counted, likely or not",
        ),
        Mistake(
            lambda logits, _: effective_choices(logits, 1.0),
            "the temperature was not used",
        ),
        Mistake(
            lambda logits, temperature: effective_choices(
                logits, 1 / temperature
            ),
            "the logits were multiplied by the temperature; divide",
        ),
        Mistake(
            _without_max,
            "exp overflowed: subtract each row's largest logit first",
        ),
        Mistake(
            _with(lambda p: np.exp(-(p * np.log(p)).sum(axis=-1))),
            "0 * log(0) is NaN in NumPy; the term of a token that cannot "
            "occur is 0",
        ),
    ),
)
