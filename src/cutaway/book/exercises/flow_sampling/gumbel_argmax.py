"""Exercise 4: a draw that is an argmax."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def gumbel_argmax(
    logits: np.ndarray, uniforms: np.ndarray, temperature: float
) -> np.ndarray:
    """Return a token id a row: the largest of logits / T + Gumbel noise."""
    noise = -np.log(-np.log(uniforms))
    return np.argmax(logits / temperature + noise, axis=-1)


def _grade(judge: Judge) -> None:
    for shape in ((200, 4), (40, 59), (1, 1), (30, 2), (25, 300)):
        logits = np.broadcast_to(judge.rng.normal(0, 2, shape[1]), shape)
        uniforms = 1 - judge.rng.random(shape)
        uniforms = np.clip(uniforms, 1e-12, 1 - 1e-12)
        for temperature in (0.3, 1.0, 2.5):
            _one(judge, logits.copy(), uniforms, temperature)
    masked = judge.rng.normal(0, 2, (60, 6))
    masked[:, ::2] = -np.inf
    uniforms = np.clip(judge.rng.random((60, 6)), 1e-12, 1 - 1e-12)
    _one(judge, masked, uniforms, 1.5)


def _one(
    judge: Judge, logits: np.ndarray, uniforms: np.ndarray, temperature: float
) -> None:
    expected = gumbel_argmax(logits, uniforms, temperature)
    got = judge.call(logits, uniforms, temperature)
    judge.same_array(got, expected, logits, uniforms, temperature)


def _noisy(
    noise: Callable[[np.ndarray], np.ndarray],
) -> Callable[..., np.ndarray]:
    """Return the argmax with another noise."""

    def answer(
        logits: np.ndarray, uniforms: np.ndarray, temperature: float
    ) -> np.ndarray:
        return np.argmax(logits / temperature + noise(uniforms), axis=-1)

    return answer


def _gumbel(u: np.ndarray) -> np.ndarray:
    return -np.log(-np.log(u))


def _on_probabilities(
    logits: np.ndarray, uniforms: np.ndarray, temperature: float
) -> np.ndarray:
    z = logits / temperature
    weights = np.exp(z - z.max(axis=-1, keepdims=True))
    probs = weights / weights.sum(axis=-1, keepdims=True)
    return np.argmax(probs + _gumbel(uniforms), axis=-1)


def _inverse(
    logits: np.ndarray, uniforms: np.ndarray, temperature: float
) -> np.ndarray:
    z = logits / temperature
    weights = np.exp(z - z.max(axis=-1, keepdims=True))
    running = np.cumsum(weights, axis=-1)
    running /= running[..., -1:]
    return (running <= uniforms[..., :1]).sum(axis=-1)


EXERCISE = Exercise(
    id="flow/sampling:4",
    title="A draw that is an argmax",
    reference=gumbel_argmax,
    grade=_grade,
    hints=(
        "The noise is `-np.log(-np.log(uniforms))`, one number for each logit.",
        "Add it to `logits / temperature`: logits, not probabilities.",
        "`np.argmax(..., axis=-1)` gives one token id for each row.",
    ),
    reread="Drawing: a running sum, or an argmax",
    mistakes=(
        Mistake(
            lambda z, u, t: np.argmax(z, axis=-1),
            "no noise was added: that is greedy decoding",
        ),
        Mistake(
            _noisy(lambda u: -np.log(u)),
            "-ln u is exponential noise; Gumbel noise is -ln of that",
        ),
        Mistake(
            _noisy(lambda u: np.log(-np.log(u))),
            "the sign of the noise is wrong: -ln(-ln u)",
        ),
        Mistake(
            _noisy(lambda u: u),
            "uniform noise was added; Gumbel noise is -ln(-ln u)",
        ),
        Mistake(
            _on_probabilities,
            "the noise was added to probabilities; it belongs to the logits",
        ),
        Mistake(
            lambda z, u, t: np.argmax((z + _gumbel(u)) / t, axis=-1),
            "the noise was divided by the temperature too, which then "
            "changes nothing",
        ),
        Mistake(
            lambda z, u, t: np.argmax(z * t + _gumbel(u), axis=-1),
            "the logits were multiplied by the temperature; divide",
        ),
        Mistake(
            _inverse,
            "that looks one number up in the running sum; take the argmax "
            "of noisy logits",
        ),
        Mistake(
            lambda z, u, t: np.argmin(z / t + _gumbel(u), axis=-1),
            "the smallest was taken; the largest wins",
        ),
    ),
)
