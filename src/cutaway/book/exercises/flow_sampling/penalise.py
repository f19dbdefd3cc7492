"""Exercise 3: two penalties, each with the history it looks at."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def penalise(
    logits: np.ndarray,
    prompt_ids: list[int],
    output_ids: list[int],
    repetition: float,
    frequency: float,
) -> np.ndarray:
    """Return the logits after both penalties."""
    said = [*prompt_ids, *output_ids]
    return _penalise(logits, said, output_ids, repetition, frequency)


def _signed(z: np.ndarray, theta: float) -> np.ndarray:
    return np.where(z > 0, z / theta, z * theta)


def _penalise(
    logits: np.ndarray,
    repeated_in: list[int],
    frequent_in: list[int],
    repetition: float,
    frequency: float,
    *,
    scale: Callable[[np.ndarray, float], np.ndarray] = _signed,
    count: Callable[[np.ndarray], np.ndarray] = lambda counts: counts,
    frequency_first: bool = False,
) -> np.ndarray:
    """Scale what is in one history, subtract what is in the other."""
    counts = np.bincount(np.array(frequent_in, np.int64), minlength=len(logits))
    z = logits.copy()
    if frequency_first:
        z = z - frequency * count(counts)
    for token in sorted(set(repeated_in)):
        z[token] = scale(z[token], repetition)
    if not frequency_first:
        z = z - frequency * count(counts)
    return z


def _grade(judge: Judge) -> None:
    row = np.array([2.0, 1.0, -1.0, 0.5, -2.0, 3.0])
    cases: list[tuple] = [
        (row, [2, 5, 5], [0, 0, 4, 5], 2.0, 0.5),
        (row, [], [], 1.5, 1.0),
        (row, [1, 1, 2], [], 1.5, 1.0),
    ]
    for vocab in (2, 7, 59, 300):
        logits = judge.rng.normal(0, 3, vocab)
        prompt = judge.rng.integers(0, vocab, 6).tolist()
        output = judge.rng.integers(0, vocab, 9).tolist()
        output += output[:3]  # some token occurs more than once
        cases.append((logits, prompt, output, 1.3, 0.4))
        cases.append((logits, prompt, output, 0.8, -0.7))
    for case in cases:
        judge.same_array(judge.call(*case), penalise(*case), *case)


def _compounded(z: np.ndarray, p: list, o: list, r: float, f: float):
    z = z.copy()
    for token in [*p, *o]:
        z[token] = _signed(z[token], r)
    return z - f * np.bincount(np.array(o, np.int64), minlength=len(z))


EXERCISE = Exercise(
    id="flow/sampling:3",
    title="Two penalties and their histories",
    reference=penalise,
    grade=_grade,
    hints=(
        "Work on `logits.copy()`. The repetition penalty takes each token "
        "of `set(prompt_ids + output_ids)` once.",
        "A positive logit is divided by `repetition`, any other multiplied: "
        "both make it smaller when the penalty is above 1.",
        "Then subtract `frequency` for each occurrence in `output_ids` "
        "alone; `np.bincount(..., minlength=len(logits))` counts.",
    ),
    reread="Penalties: what was said before",
    mistakes=(
        Mistake(
            lambda z, p, o, r, f: _penalise(
                z, [*p, *o], o, r, f, scale=lambda x, t: x / t
            ),
            "a negative logit was divided, which raises it; multiply it",
        ),
        Mistake(
            lambda z, p, o, r, f: _penalise(
                z, [*p, *o], o, r, f, scale=lambda x, t: x * t
            ),
            "a positive logit was multiplied, which raises it; divide it",
        ),
        Mistake(
            _compounded,
            "the repetition penalty was applied again for each occurrence",
        ),
        Mistake(
            lambda z, p, o, r, f: _penalise(z, o, o, r, f),
            "the repetition penalty looks at the prompt as well",
        ),
        Mistake(
            _penalise,
            "the repetition penalty looks at the output as well",
        ),
        Mistake(
            lambda z, p, o, r, f: _penalise(z, [*p, *o], [*p, *o], r, f),
            "the frequency penalty counts the output alone",
        ),
        Mistake(
            lambda z, p, o, r, f: _penalise(
                z, [*p, *o], o, r, f, count=lambda counts: counts > 0
            ),
            "that is the presence penalty; frequency counts every time",
        ),
        Mistake(
            lambda z, p, o, r, f: _penalise(
                z, [*p, *o], o, r, f, frequency_first=True
            ),
            "the repetition penalty comes first, then the frequency penalty",
        ),
        Mistake(
            lambda z, p, o, r, f: _penalise(z, [*p, *o], o, r, -f),
            "the frequency penalty was added; subtract it",
        ),
    ),
)
