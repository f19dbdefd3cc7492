"""Exercise 3: the batch from which decode waits for arithmetic."""

from __future__ import annotations

import math
from collections.abc import Callable

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def critical_batch(
    flops_per_token: float,
    weight_bytes: float,
    kv_bytes_per_sequence: float,
    peak_flops_per_s: float,
    bandwidth_bytes_per_s: float,
) -> float:
    """Return the batch at which arithmetic takes as long as memory."""
    ridge = peak_flops_per_s / bandwidth_bytes_per_s
    gained = flops_per_token / ridge - kv_bytes_per_sequence
    return weight_bytes / gained if gained > 0 else math.inf


def _grade(judge: Judge) -> None:
    fixed = (
        (1000.0, 500.0, 7.0, 80.0, 2.0),  # tells the usual mistakes apart
        (15.0e9, 16.0e9, 0.0, 989.4e12, 3.35e12),
        (15.0e9, 16.0e9, 33.5e6, 989.4e12, 3.35e12),
        (15.6e9, 16.0e9, 134.2e6, 989.4e12, 3.35e12),  # never
        (269e6, 538e6, 2.9e6, 100e9, 18e9),
        (10.0, 1.0, 5.0, 2.0, 1.0),  # never, by a hair
    )
    for case in fixed:
        _one_batch(judge, case)
    for number in range(20):
        flops = float(judge.rng.uniform(1e8, 1e12))
        weights = flops * float(judge.rng.uniform(0.2, 2))
        peak = float(judge.rng.uniform(1e11, 3e15))
        rate = peak / float(judge.rng.uniform(4, 400))
        most = flops * rate / peak
        factor = judge.rng.uniform(1.1, 9) if number % 4 == 0 else 0
        factor = factor or judge.rng.uniform(0, 0.9)
        _one_batch(judge, (flops, weights, most * float(factor), peak, rate))


def _one_batch(judge: Judge, case: tuple[float, ...]) -> None:
    judge.same_number(judge.call(*case), critical_batch(*case), *case)


def _solved(
    batch: Callable[[float, float, float, float], float],
) -> Callable[..., float]:
    """Return an answer from FLOPs, weights, cache and the ridge point."""

    def answer(
        f: float, w: float, kv: float, peak: float, rate: float
    ) -> float:
        return batch(f, w, kv, peak / rate)

    return answer


EXERCISE = Exercise(
    id="flow/prefill_decode:3",
    title="The critical batch",
    reference=critical_batch,
    grade=_grade,
    hints=(
        "Write down both times of a step of B sequences: all FLOPs over the "
        "peak, and all bytes over the bandwidth.",
        "`B * flops_per_token / peak` on one side, `(weight_bytes + B * "
        "kv_bytes_per_sequence) / bandwidth` on the other. Solve for B.",
        "With `ridge = peak / bandwidth`: `B = weight_bytes / "
        "(flops_per_token / ridge - kv_bytes_per_sequence)`. What if what is "
        "in brackets is not positive?",
    ),
    reread="The batch at which decode stops waiting for memory",
    mistakes=(
        Mistake(
            _solved(lambda f, w, kv, r: w * r / f),
            "the caches were left out: each sequence reads its own",
        ),
        Mistake(
            _solved(lambda f, w, kv, r: (w + kv) * r / f),
            "one cache was counted for all sequences; each has its own",
        ),
        Mistake(
            _solved(lambda f, w, kv, r: w / (f / r + kv)),
            "the caches need time too: they make it harder, not easier",
        ),
        Mistake(
            _solved(lambda f, w, kv, r: w / (f / r - kv or 1e-99)),
            "a batch cannot be negative: if one sequence's cache takes as "
            "long as its arithmetic, no batch is enough (math.inf)",
        ),
        Mistake(
            _solved(lambda f, w, kv, r: w / abs(f / r - kv or 1e-99)),
            "if one sequence's cache takes as long as its arithmetic, no "
            "batch is enough: math.inf",
        ),
        Mistake(
            _solved(lambda f, w, kv, r: r),
            "the ridge point alone is the answer only for 2 FLOPs to 2 bytes "
            "of weights, and no cache",
        ),
        Mistake(
            _solved(lambda f, w, kv, r: w / (f * r - kv)),
            "the ridge point is upside down",
        ),
        Mistake(
            lambda *case: (
                math.ceil(critical_batch(*case))
                if math.isfinite(critical_batch(*case))
                else math.inf
            ),
            "do not round",
        ),
    ),
)
