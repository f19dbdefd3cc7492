"""Exercise 4: the logit lens."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def lens_probs(
    stream: np.ndarray,
    g: np.ndarray,
    eps: float,
    unembed: np.ndarray,
    token_id: int,
) -> np.ndarray:
    """Return the probability of a token after each layer."""
    logits = _normed(stream, eps) * g @ unembed.T
    return _softmax(logits)[:, token_id]


def _normed(stream: np.ndarray, eps: float) -> np.ndarray:
    mean_square = np.mean(stream**2, axis=-1, keepdims=True)
    return stream / np.sqrt(mean_square + eps)


def _softmax(logits: np.ndarray, axis: int = -1) -> np.ndarray:
    weights = np.exp(logits - logits.max(axis=axis, keepdims=True))
    return weights / weights.sum(axis=axis, keepdims=True)


def _grade(judge: Judge) -> None:
    for layers, width, vocab in ((4, 6, 5), (1, 3, 7), (2, 1, 2), (8, 16, 40)):
        for dtype in (np.float64, np.float32):
            growth = 3.0 ** np.arange(layers + 1)
            stream = judge.rng.normal(0, 1, (layers + 1, width))
            stream = (stream * growth[:, None]).astype(dtype)
            g = judge.rng.normal(1.5, 0.5, width).astype(dtype)
            unembed = judge.rng.normal(0, 1, (vocab, width)).astype(dtype)
            _one(judge, stream, g, unembed, int(judge.rng.integers(vocab)))
    # float64: at logits of thousands, float32's rounding shows in exp.
    stream = judge.rng.normal(0, 1, (3, 4))
    unembed = judge.rng.normal(0, 1, (6, 4))
    unembed += np.array([[4000], [-4000], [0], [0], [1], [2]])
    _one(judge, stream, np.ones(4), unembed, 0)


def _one(judge: Judge, stream, g, unembed, token_id: int) -> None:
    args = (stream, g, 1e-5, unembed, token_id)
    judge.same_array(judge.call(*args), lens_probs(*args), *args)


_Answer = Callable[..., np.ndarray]


def _from_logits(logits: Callable[..., np.ndarray], axis: int = -1) -> _Answer:
    """Return a wrong answer with other logits or another softmax axis."""

    def answer(stream, g, eps, unembed, token_id):
        scores = logits(stream, g, eps, unembed)
        return _softmax(scores, axis)[:, token_id]

    return answer


def _last_scale(stream, g, eps, unembed):
    rms = np.sqrt(np.mean(stream[-1] ** 2) + eps)
    return (stream / rms).astype(stream.dtype) * g @ unembed.T


def _right_logits(stream, g, eps, unembed):
    return _normed(stream, eps) * g @ unembed.T


def _without_max(stream, g, eps, unembed, token_id):
    weights = np.exp(_right_logits(stream, g, eps, unembed))
    return weights[:, token_id] / weights.sum(axis=-1)


EXERCISE = Exercise(
    id="flow/vector_math:4",
    title="The logit lens",
    reference=lens_probs,
    grade=_grade,
    hints=(
        "Treat each row of `stream` as if it were the last layer's: norm, "
        "times `g`, then `@ unembed.T`.",
        "Each row is divided by its own root mean square; "
        "`axis=-1, keepdims=True`.",
        "Softmax each row over the vocabulary, its maximum subtracted first, "
        "and take column `token_id`.",
    ),
    reread='When does "Paris" appear?',
    mistakes=(
        Mistake(
            _from_logits(lambda x, g, eps, w: x @ w.T),
            "the final norm was left out",
        ),
        Mistake(
            _from_logits(_last_scale),
            "the last layer's root mean square was used for all; each vector "
            "has its own",
        ),
        Mistake(
            _from_logits(lambda x, g, eps, w: _normed(x, eps) @ w.T),
            "g was left out",
        ),
        Mistake(
            _from_logits(_right_logits, axis=0),
            "the softmax ran over the layers; it belongs to the vocabulary",
        ),
        Mistake(
            lambda x, g, eps, w, i: _right_logits(x, g, eps, w)[:, i],
            "that is the logit; the probability is asked for",
        ),
        Mistake(
            lambda x, *rest: lens_probs(np.diff(x, axis=0, prepend=0), *rest),
            "what each layer added was read; read the sum up to it",
        ),
        Mistake(
            lambda x, *rest: lens_probs(x[1:], *rest),
            "the embedding's entry is missing",
        ),
        Mistake(
            _without_max,
            "exp overflowed: subtract each row's maximum first",
        ),
    ),
)
