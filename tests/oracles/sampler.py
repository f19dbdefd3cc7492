"""Exact sampling by enumeration: plain Python, one token at a time."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence


def exact_probabilities(
    logits: Sequence[float],
    temperature: float = 1.0,
    top_k: int | None = None,
    top_p: float = 1.0,
    min_p: float = 0.0,
) -> list[float]:
    """The distribution after each cut, renormalised at each step."""
    if temperature == 0:
        winner = max(range(len(logits)), key=lambda i: (logits[i], -i))
        return [float(i == winner) for i in range(len(logits))]
    probs = _normalise([z / temperature for z in logits])
    if top_k is not None:
        floor = sorted(probs, reverse=True)[min(top_k, len(probs)) - 1]
        probs = _renormalise([q if q >= floor else 0.0 for q in probs])
    if top_p < 1:
        ranked = sorted(range(len(probs)), key=lambda i: (-probs[i], i))
        kept: list[int] = []
        while math.fsum(probs[i] for i in kept) < top_p:
            kept.append(ranked[len(kept)])
        probs = _renormalise(
            [q if i in kept else 0.0 for i, q in enumerate(probs)]
        )
    floor = min_p * max(probs)
    return _renormalise([q if q >= floor else 0.0 for q in probs])


def sequence_probabilities(
    logits_after: Callable[[tuple[int, ...]], Sequence[float]],
    stop_ids: frozenset[int],
    max_tokens: int,
    temperature: float,
) -> dict[tuple[int, ...], float]:
    """The probability of every answer a model can give."""
    done: dict[tuple[int, ...], float] = {}
    open_answers = {(): 1.0}
    while open_answers:
        longer: dict[tuple[int, ...], float] = {}
        for answer, mass in open_answers.items():
            probs = exact_probabilities(logits_after(answer), temperature)
            for token, prob in enumerate(probs):
                grown = (*answer, token)
                ended = token in stop_ids or len(grown) == max_tokens
                (done if ended else longer)[grown] = mass * prob
        open_answers = longer
    return done


def chi_square(counts: Sequence[float], probs: Sequence[float]) -> float:
    """Pearson's statistic; infinite if an impossible outcome occurred."""
    total = sum(counts)
    statistic = 0.0
    for count, prob in zip(counts, probs, strict=True):
        if prob == 0:
            if count:
                return math.inf
            continue
        statistic += (count - total * prob) ** 2 / (total * prob)
    return statistic


def chi_square_limit(outcomes: int, z: float = 3.72) -> float:
    """Wilson and Hilferty's bound, passed by chance once in 10,000 (z 3.72).

    ``outcomes`` counts those of non-zero probability.
    """
    freedom = outcomes - 1
    spread = 2 / (9 * freedom)
    return freedom * (1 - spread + z * math.sqrt(spread)) ** 3


def _normalise(logits: Sequence[float]) -> list[float]:
    top = max(logits)
    return _renormalise([math.exp(z - top) for z in logits])


def _renormalise(weights: Sequence[float]) -> list[float]:
    total = math.fsum(weights)
    return [w / total for w in weights]


def penalised_logits(
    logits: Sequence[float],
    prompt: Sequence[int],
    output: Sequence[int],
    repetition: float,
    frequency: float,
    presence: float,
    bias: dict[int, float],
) -> list[float]:
    """Bias, then the penalties in vLLM's order, one token at a time."""
    moved = []
    for token, logit in enumerate(logits):
        z = logit + bias.get(token, 0.0)
        if token in prompt or token in output:
            z = z / repetition if z > 0 else z * repetition
        count = sum(1 for each in output if each == token)
        moved.append(z - count * frequency - (count > 0) * presence)
    return moved


def ordered_probabilities(
    logits: Sequence[float], steps: Sequence[str], setting: dict
) -> list[float]:
    """The distribution after the steps, renormalised after each."""
    probs = _normalise(logits)
    for step in steps:
        value = setting.get(step)
        if step == "temperature" and value == 0:
            best = max(range(len(probs)), key=lambda i: (probs[i], -i))
            probs = [float(i == best) for i in range(len(probs))]
        elif step == "temperature":
            logs = [math.log(q) if q else -math.inf for q in probs]
            probs = _normalise([each / value for each in logs])
        elif value is not None:
            probs = _renormalise(_cut(probs, step, value))
    return probs


def _cut(probs: Sequence[float], step: str, value: float) -> list[float]:
    if step == "top_p":
        ranked = sorted(range(len(probs)), key=lambda i: (-probs[i], i))
        kept: list[int] = []
        while value < 1 and math.fsum(probs[i] for i in kept) < value:
            kept.append(ranked[len(kept)])
        return [
            q if i in kept or value == 1 else 0.0 for i, q in enumerate(probs)
        ]
    floor = value * max(probs)
    if step == "top_k":
        floor = sorted(probs, reverse=True)[min(int(value), len(probs)) - 1]
    return [q if q >= floor else 0.0 for q in probs]
