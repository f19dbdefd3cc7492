"""The graders of ``flow/sampling``: other ways to be right or wrong."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cutaway.book.exercises import section_exercises
from cutaway.book.grade import verdict
from cutaway.sampling import (
    History,
    SamplingParams,
    entropy,
    probabilities,
    process_logits,
)

CHOICES, TOP_P, PENALISE, GUMBEL = section_exercises("flow/sampling")


def rejected(exercise, answer) -> str:
    result = verdict(exercise, answer)
    assert result.status == "wrong", result.message
    return " ".join(result.message.split())


def softmax(z):
    weights = np.exp(z - z.max(-1, keepdims=True))
    return weights / weights.sum(-1, keepdims=True)


def choices_by_loop(logits, temperature):
    result = []
    for row in logits.tolist():
        top = max(row)
        parts = [math.exp((x - top) / temperature) for x in row]
        total = math.fsum(parts)
        probs = [part / total for part in parts if part > 0]
        result.append(math.exp(-math.fsum(q * math.log(q) for q in probs)))
    return np.array(result)


def choices_by_logs(logits, temperature):
    z = logits / temperature
    log_sum = np.logaddexp.reduce(z, axis=-1)
    mean = np.nansum(np.where(softmax(z) > 0, softmax(z) * z, 0), axis=-1)
    return np.exp(log_sum - mean)


def top_p_from_below(logits, p):
    probs = softmax(logits)
    result = np.zeros_like(probs)
    for row, out in zip(probs, result, strict=True):
        ranked = sorted(range(len(row)), key=lambda i: (-row[i], i))
        kept, mass = [], 0.0
        for token in ranked:
            kept.append(token)
            mass += row[token]
            if mass >= p:
                break
        out[kept] = row[kept]
    return result / result.sum(-1, keepdims=True)


def penalise_by_token(logits, prompt_ids, output_ids, repetition, frequency):
    z = []
    for token, logit in enumerate(logits.tolist()):
        if token in prompt_ids or token in output_ids:
            logit *= repetition if logit < 0 else 1 / repetition
        z.append(logit - frequency * output_ids.count(token))
    return np.array(z)


def gumbel_by_race(logits, uniforms, temperature):
    with np.errstate(divide="ignore"):
        times = np.log(-np.log(uniforms)) - logits / temperature
    return times.argmin(axis=-1)


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        (CHOICES, choices_by_loop),
        (CHOICES, choices_by_logs),
        (TOP_P, top_p_from_below),
        (PENALISE, penalise_by_token),
        (GUMBEL, gumbel_by_race),
    ],
    ids=lambda value: getattr(value, "__name__", None) or value.id,
)
def test_answers_written_differently_pass(exercise, answer) -> None:
    result = verdict(exercise, answer)
    assert result.status == "correct", result.message


@pytest.mark.parametrize(
    ("exercise", "answer", "says"),
    [
        (CHOICES, lambda z, t: z, "got shape (2, 4), expected (2,)"),
        (CHOICES, lambda z, t: entropy(z / t), "the entropy itself"),
        (CHOICES, lambda z, t: 2.0, "got type float"),
        (TOP_P, lambda z, p: z, "index [0, 0]"),
        (
            TOP_P,
            lambda z, p: np.where(softmax(z) >= 1 - p, softmax(z), 0),
            "expected",
        ),
        (TOP_P, lambda z, p: top_p_from_below(z, p) > 0, "got dtype bool"),
        (PENALISE, lambda z, p, o, r, f: z, "expected"),
        (PENALISE, lambda z, p, o, r, f: z / r, "expected"),
        (GUMBEL, lambda z, u, t: z + u, "got shape"),
        (GUMBEL, lambda z, u, t: z.argmax(-1), "greedy decoding"),
        (GUMBEL, lambda z, u, t: z.argmax(-1) * 1.0, "got dtype float64"),
    ],
)
def test_wrong_answers_are_rejected_with_a_reason(
    exercise, answer, says
) -> None:
    message = rejected(exercise, answer)
    assert says in message
    assert "in flow/sampling" in message


def test_choices_reference_equals_the_package() -> None:
    logits = np.random.default_rng(0).normal(size=(3, 50)) * 4
    ours = CHOICES.reference(logits, 0.7)
    np.testing.assert_allclose(ours, np.exp(entropy(logits / 0.7)))


@pytest.mark.parametrize("p", [0.05, 0.5, 0.93])
def test_top_p_reference_equals_the_package(p) -> None:
    logits = np.random.default_rng(1).normal(size=(4, 60)) * 3
    package = probabilities(logits, SamplingParams(top_p=p))
    np.testing.assert_allclose(TOP_P.reference(logits, p), package)


def test_penalise_reference_equals_the_package() -> None:
    logits = np.random.default_rng(2).normal(size=30) * 3
    prompt, output = [1, 5, 5, 9], [2, 2, 9, 11]
    params = SamplingParams(repetition_penalty=1.3, frequency_penalty=0.4)
    package = process_logits(logits, params, History(prompt, output))
    ours = PENALISE.reference(logits, prompt, output, 1.3, 0.4)
    np.testing.assert_allclose(ours, package)


def test_gumbel_reference_draws_from_the_packages_distribution() -> None:
    rng = np.random.default_rng(3)
    logits = np.array([2.0, 0.0, -1.0, 1.0])
    uniforms = rng.random((20_000, 4))
    drawn = GUMBEL.reference(np.tile(logits, (20_000, 1)), uniforms, 1.5)
    shares = np.bincount(drawn, minlength=4) / 20_000
    exact = probabilities(logits, SamplingParams(temperature=1.5))
    assert np.abs(shares - exact).max() < 0.015
