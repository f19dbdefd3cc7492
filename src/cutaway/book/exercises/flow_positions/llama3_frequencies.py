"""Exercise 3: the frequencies of Llama-3.1."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge

TAU = 2 * np.pi


def llama3_frequencies(
    frequencies: np.ndarray,
    factor: float,
    low: float,
    high: float,
    trained: float,
) -> np.ndarray:
    """Return the scaled frequencies: keep, blend or divide by turns."""
    turns = trained * frequencies / TAU
    keep = np.clip((turns - low) / (high - low), 0, 1)
    return keep * frequencies + (1 - keep) * frequencies / factor


def _grade(judge: Judge) -> None:
    cases = (
        (128, 5e5, 8.0, 1.0, 4.0, 8192),  # Llama-3.1
        (64, 5e5, 32.0, 1.0, 4.0, 8192),  # Llama-3.2-1B
        (2, 1e4, 4.0, 1.0, 2.0, 3),
        (6, 1e4, 2.0, 0.5, 8.0, 128),
    )
    drawn = [
        (
            2 * int(judge.rng.integers(1, 60)),
            float(judge.rng.uniform(100, 1e6)),
            float(judge.rng.uniform(1.5, 40)),
            float(judge.rng.uniform(0.5, 2)),
            float(judge.rng.uniform(3, 40)),
            int(judge.rng.integers(64, 10_000)),
        )
        for _ in range(8)
    ]
    for head_dim, theta, *constants in (*cases, *drawn):
        plain = theta ** (-np.arange(0, head_dim, 2) / head_dim)
        expected = llama3_frequencies(plain, *constants)
        got = judge.call(plain, *constants)
        judge.same_array(got, expected, plain, *constants)


def _by_share(
    keep_of: Callable[..., np.ndarray],
) -> Callable[..., np.ndarray]:
    """Return an answer with another share of the kept frequency."""

    def answer(
        frequencies: np.ndarray,
        factor: float,
        low: float,
        high: float,
        trained: float,
    ) -> np.ndarray:
        turns = trained * frequencies / TAU
        keep = keep_of(turns, low, high, frequencies, trained)
        return keep * frequencies + (1 - keep) * frequencies / factor

    return answer


def _blend_of_wavelengths(
    frequencies: np.ndarray,
    factor: float,
    low: float,
    high: float,
    trained: float,
) -> np.ndarray:
    turns = trained * frequencies / TAU
    keep = np.clip((turns - low) / (high - low), 0, 1)
    lengths = keep / frequencies + (1 - keep) * factor / frequencies
    return 1 / lengths


def _unclipped(
    turns: np.ndarray,
    low: float,
    high: float,
    frequencies: np.ndarray,
    trained: float,
) -> np.ndarray:
    return (turns - low) / (high - low)


EXERCISE = Exercise(
    id="flow/positions:3",
    title="The frequencies of Llama-3.1",
    reference=llama3_frequencies,
    grade=_grade,
    hints=(
        "A pair of frequency w makes `trained * w / (2 * pi)` turns within "
        "the trained length.",
        "The share of the old frequency is 0 at `low` turns and fewer, 1 at "
        "`high` turns and more, and runs straight in between: `np.clip`.",
        "`keep * w + (1 - keep) * w / factor`, with "
        "`keep = np.clip((turns - low) / (high - low), 0, 1)`.",
    ),
    reread="Keep the fast pairs: Llama-3 and YaRN",
    mistakes=(
        Mistake(
            lambda w, factor, low, high, trained: w / factor,
            "all pairs were divided; those that make many turns within the "
            "trained length must stay",
        ),
        Mistake(
            _by_share(
                lambda turns, low, high, w, n: (turns >= low).astype(float)
            ),
            "pairs between `low` and `high` turns are blended",
        ),
        Mistake(
            _by_share(
                lambda turns, low, high, w, n: (turns >= high).astype(float)
            ),
            "pairs between `low` and `high` turns are blended",
        ),
        Mistake(
            _by_share(
                lambda turns, low, high, w, n: (
                    1 - np.clip((turns - low) / (high - low), 0, 1)
                )
            ),
            "the blend is the wrong way round: fast pairs are kept",
        ),
        Mistake(
            _by_share(
                lambda turns, low, high, w, n: np.clip(
                    (n * w - low) / (high - low), 0, 1
                )
            ),
            "a turn is 2 pi radians: divide the angle by it",
        ),
        Mistake(
            _by_share(_unclipped),
            "the share must stay between 0 and 1",
        ),
        Mistake(
            _blend_of_wavelengths,
            "the wavelengths were blended; blend the frequencies",
        ),
        Mistake(
            lambda w, factor, low, high, trained: llama3_frequencies(
                w, 1 / factor, low, high, trained
            ),
            "slow pairs were multiplied by `factor`; divide",
        ),
    ),
)
