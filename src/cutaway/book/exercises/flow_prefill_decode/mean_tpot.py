"""Exercise 4: time per output token, from timestamps."""

from __future__ import annotations

from collections.abc import Callable

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge

Times = list[float]


def mean_tpot(sent_s: Times, arrivals_s: list[Times]) -> float:
    """Return the mean over requests of (E2E - TTFT) / (N - 1)."""
    values = [
        (times[-1] - times[0]) / (len(times) - 1)
        for times in arrivals_s
        if len(times) > 1
    ]
    return sum(values) / len(values) if values else 0.0


def _grade(judge: Judge) -> None:
    fixed = (
        # Unequal lengths, waits and gaps, and an answer of one token.
        ([0.0, 1.0, 5.0], [[2.0, 2.5, 3.5], [4.0], [6.0, 6.25, 6.5, 8.0]]),
        ([0.0], [[1.0, 1.5]]),
        ([3.0], [[4.0]]),
        ([1.0, 2.0], [[5.0], [6.0]]),
        ([10.0, 10.0], [[11.0, 12.0, 13.0], [14.0, 14.1]]),
    )
    for case in fixed:
        _one_run(judge, case)
    for _ in range(20):
        _one_run(judge, _random_run(judge))


def _random_run(judge: Judge) -> tuple[Times, list[Times]]:
    """Return requests sent over time, some with a single token."""
    rng = judge.rng
    sent = [float(t) for t in rng.uniform(0, 30, int(rng.integers(1, 7)))]
    arrivals = []
    for start in sent:
        count = int(rng.integers(1, 12)) if rng.random() < 0.8 else 1
        gaps = rng.exponential(0.2, count)
        gaps[0] += rng.uniform(0.1, 3)
        arrivals.append([float(t) for t in start + gaps.cumsum()])
    return sent, arrivals


def _one_run(judge: Judge, case: tuple[Times, list[Times]]) -> None:
    judge.same_number(judge.call(*case), mean_tpot(*case), *case)


def _mean_of(
    value: Callable[[float, Times], float], shortest: int = 2
) -> Callable[..., float]:
    """Return an answer that averages another value of each request."""

    def mean(sent_s: Times, arrivals_s: list[Times]) -> float:
        pairs = zip(sent_s, arrivals_s, strict=True)
        values = [value(s, t) for s, t in pairs if len(t) >= shortest]
        return sum(values) / len(values) if values else 0.0

    return mean


def _tpot(sent: float, times: Times) -> float:
    return (times[-1] - times[0]) / max(1, len(times) - 1)


def _pooled(sent_s: Times, arrivals_s: list[Times]) -> float:
    total = sum(times[-1] - times[0] for times in arrivals_s)
    gaps = sum(len(times) - 1 for times in arrivals_s)
    return total / gaps if gaps else 0.0


def _middle(sent_s: Times, arrivals_s: list[Times]) -> float:
    values = sorted(_tpot(0, t) for t in arrivals_s if len(t) > 1)
    return values[len(values) // 2] if values else 0.0


EXERCISE = Exercise(
    id="flow/prefill_decode:4",
    title="Time per output token",
    reference=mean_tpot,
    grade=_grade,
    hints=(
        "The wait for the first token is prefill, and has its own name. "
        "What is left, and over how many steps does it spread?",
        "From the first to the last of N tokens there are N - 1 steps. An "
        "answer of one token has none, and no TPOT.",
        "For each request with more than one token: `(times[-1] - times[0]) "
        "/ (len(times) - 1)`. Then the mean of these.",
    ),
    reread="What a user waits for",
    mistakes=(
        Mistake(
            _mean_of(lambda s, t: (t[-1] - s) / len(t)),
            "that is E2E / N: the wait for the first token is in it",
        ),
        Mistake(
            _mean_of(lambda s, t: (t[-1] - s) / len(t), shortest=1),
            "that is normalized latency: E2E / N, one-token answers included",
        ),
        Mistake(
            _mean_of(lambda s, t: (t[-1] - s) / (len(t) - 1)),
            "the wait for the first token is not part of it",
        ),
        Mistake(
            _mean_of(lambda s, t: (t[-1] - t[0]) / len(t)),
            "N tokens have N - 1 steps between them",
        ),
        Mistake(
            _mean_of(_tpot, shortest=1),
            "an answer of one token has no TPOT: leave it out, do not count "
            "it as 0",
        ),
        Mistake(
            _pooled,
            "that is the mean of all gaps pooled (ITL); TPOT is a mean per "
            "request first",
        ),
        Mistake(
            _mean_of(lambda s, t: t[0] - s, shortest=1),
            "that is the time to first token",
        ),
        Mistake(_middle, "that is a median; the mean is asked for"),
    ),
)
