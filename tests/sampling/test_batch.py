"""Rows of a batch are independent; answers have exact probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.core.errors import ArgumentError
from cutaway.sampling import (
    History,
    SamplingParams,
    answer_probabilities,
    new_generator,
    sample,
    sample_batch,
)
from oracles.sampler import sequence_probabilities

PARAMS = [
    SamplingParams(seed=1, temperature=1.3, top_p=0.9),
    SamplingParams(seed=2, repetition_penalty=1.5, top_k=5),
    SamplingParams(temperature=0),
    SamplingParams(seed=3, frequency_penalty=0.8, min_p=0.05),
    SamplingParams(seed=3, temperature=0.5, logit_bias={4: 3.0}),
]
STEPS = 12


def step_logits(step: int) -> np.ndarray:
    return np.random.default_rng(step).normal(size=(5, 11)) * 3


def alone(row: int) -> list[int]:
    """Generate for one row without the others."""
    params, answer = PARAMS[row], []
    generator, history = new_generator(params), History([1, 2], answer)
    for step in range(STEPS):
        logits = step_logits(step)[row]
        answer.append(sample(logits, params, generator, history))
    return answer


@pytest.mark.parametrize(
    "rows", [[0, 1, 2, 3, 4], [4, 2, 0], [3, 1, 4, 0, 2], [1]]
)
def test_a_row_gets_the_same_tokens_in_any_company(rows: list[int]) -> None:
    params = [PARAMS[row] for row in rows]
    generators = [new_generator(each) for each in params]
    answers: list[list[int]] = [[] for _ in rows]
    histories = [History([1, 2], answer) for answer in answers]
    for step in range(STEPS):
        tokens = sample_batch(
            step_logits(step)[rows], params, generators, histories
        )
        for answer, token in zip(answers, tokens.tolist(), strict=True):
            answer.append(token)
    assert answers == [alone(row) for row in rows]


def test_rows_of_the_test_differ_from_each_other() -> None:
    assert len({tuple(alone(row)) for row in range(5)}) == 5


def test_a_bad_row_raises_and_no_generator_has_moved() -> None:
    params = [SamplingParams(seed=s) for s in range(3)]
    generators = [new_generator(each) for each in params]
    states = [g.bit_generator.state for g in generators]
    good = np.zeros((3, 4))
    bad = good.copy()
    bad[2, 1] = np.nan
    penal = [*params[:2], SamplingParams(presence_penalty=1)]
    for logits, given, histories, name in [
        (bad, params, None, "logits"),
        (good, penal, None, "history"),
        (good, penal, [None, None, History([], [9])], r"token_ids\[0\]"),
        (good, params[:2], None, "params"),
        (good, params, [None] * 2, "histories"),
        (good[0], params, None, "logits.shape"),
        (good, params[0], None, "params"),
    ]:
        with pytest.raises(ArgumentError, match=name):
            sample_batch(logits, given, generators, histories)
    for broken in (generators[:2], [generators[0]] * 3, None):
        with pytest.raises(ArgumentError, match="generators"):
            sample_batch(good, params, broken)
    assert [g.bit_generator.state for g in generators] == states


def test_an_empty_batch_has_no_tokens() -> None:
    got = sample_batch(np.zeros((0, 4)), [], [])
    assert got.tolist() == []


def test_order_reaches_every_row() -> None:
    logits = np.log([[0.6, 0.25, 0.15]] * 40)
    params = [
        SamplingParams(temperature=3, top_p=0.6, seed=s) for s in range(40)
    ]

    def kinds(order: str) -> set[int]:
        generators = [new_generator(each) for each in params]
        return set(
            sample_batch(logits, params, generators, order=order).tolist()
        )

    assert kinds("llama.cpp") == {0}
    assert kinds("huggingface") == {0, 1}


def logits_after(answer: tuple[int, ...]) -> list[float]:
    return [0.3 * len(answer), sum(answer) * 0.5 - 0.4, -0.2]


@pytest.mark.parametrize("max_tokens", [1, 2, 4])
@pytest.mark.parametrize("temperature", [0, 0.8])
def test_answers_have_the_probabilities_of_plain_enumeration(
    max_tokens, temperature
) -> None:
    params = SamplingParams(
        temperature=temperature, max_tokens=max_tokens, stop_token_ids=[2]
    )
    got = answer_probabilities(logits_after, params)
    exact = sequence_probabilities(
        logits_after, frozenset({2}), max_tokens, temperature
    )
    exact = {answer: mass for answer, mass in exact.items() if mass > 0}
    assert got.keys() == exact.keys()
    for answer, mass in exact.items():
        assert got[answer] == pytest.approx(mass, rel=1e-12)
    assert sum(got.values()) == pytest.approx(1)


def test_enumerated_answers_know_their_history() -> None:
    params = SamplingParams(max_tokens=2, repetition_penalty=2)
    got = answer_probabilities(lambda answer: [4.0, 4.0], params, [0])
    first = 1 / (1 + np.exp(2))  # token 0 was in the prompt: 2 against 4
    assert got[0, 0] == pytest.approx(first * first)
    assert got[1, 0] == pytest.approx((1 - first) / 2)


def test_too_many_answers_are_refused() -> None:
    params = SamplingParams(max_tokens=4)
    with pytest.raises(ArgumentError, match="answers"):
        answer_probabilities(lambda answer: np.zeros(11), params)
