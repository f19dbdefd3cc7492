"""Penalties in the loop: what they see, and that they cost no other thing."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.core import ArgumentError
from cutaway.decoder.generate import generate_tokens
from cutaway.sampling import SamplingParams
from oracles.sampler import penalised_logits

PROMPT = [3, 1, 4, 1]


def generated(decoder, params: SamplingParams, prompt=PROMPT) -> list[int]:
    steps = generate_tokens(decoder, prompt, params, stop_token_ids=())
    return [step.token_id for step in steps]


def fresh_logits(decoder, text: list[int]) -> np.ndarray:
    return decoder.forward(text, decoder.new_cache(len(text)))[-1]


@pytest.mark.parametrize("penalty", [0.6, 1.0, 1.7, 6.0])
def test_greedy_with_repetition_penalty_equals_transformers(
    tiny_decoder, penalty
) -> None:
    import torch
    from transformers.generation.logits_process import (
        RepetitionPenaltyLogitsProcessor,
    )

    processor = RepetitionPenaltyLogitsProcessor(penalty)
    text = list(PROMPT)
    for _ in range(9):
        scores = torch.from_numpy(fresh_logits(tiny_decoder, text)[None].copy())
        moved = processor(torch.tensor([text]), scores)
        text.append(int(moved.argmax()))
    params = SamplingParams(
        temperature=0, max_tokens=9, repetition_penalty=penalty
    )
    assert generated(tiny_decoder, params) == text[len(PROMPT) :]


@pytest.mark.parametrize(
    "setting",
    [
        {"frequency_penalty": 0.7},
        {"frequency_penalty": -0.7},
        {"presence_penalty": 1.1},
        {"logit_bias": {0: 1.5, 2: -100.0}},
        {
            "repetition_penalty": 1.3,
            "frequency_penalty": 0.2,
            "presence_penalty": 0.4,
            "logit_bias": {4: 0.3},
        },
    ],
    ids=str,
)
def test_greedy_with_penalties_equals_a_hand_loop(
    tiny_decoder, setting
) -> None:
    answer: list[int] = []
    for _ in range(9):
        moved = penalised_logits(
            fresh_logits(tiny_decoder, [*PROMPT, *answer]).tolist(),
            PROMPT,
            answer,
            setting.get("repetition_penalty", 1),
            setting.get("frequency_penalty", 0),
            setting.get("presence_penalty", 0),
            setting.get("logit_bias", {}),
        )
        answer.append(int(np.argmax(moved)))
    params = SamplingParams(temperature=0, max_tokens=9, **setting)
    assert generated(tiny_decoder, params) == answer


def test_penalties_change_answers_here_at_all(tiny_decoder) -> None:
    plain = generated(tiny_decoder, SamplingParams(temperature=0, max_tokens=9))
    for name in ("frequency_penalty", "presence_penalty"):
        params = SamplingParams(temperature=0, max_tokens=9, **{name: 2})
        assert generated(tiny_decoder, params) != plain, name


def test_step_logits_are_the_models_before_any_penalty(tiny_decoder) -> None:
    params = SamplingParams(
        temperature=0, max_tokens=3, repetition_penalty=5, logit_bias={1: 50}
    )
    steps = list(
        generate_tokens(tiny_decoder, PROMPT, params, stop_token_ids=())
    )
    text = list(PROMPT)
    for step in steps:
        fresh = fresh_logits(tiny_decoder, text)
        np.testing.assert_allclose(step.logits, fresh, atol=1e-10)
        text.append(step.token_id)


def test_the_callers_prompt_stays_as_it_is(tiny_decoder) -> None:
    prompt = list(PROMPT)
    params = SamplingParams(seed=1, max_tokens=5, presence_penalty=1)
    generated(tiny_decoder, params, prompt)
    assert prompt == PROMPT


def test_bias_beyond_the_vocabulary_raises_before_anything_runs(
    tiny_decoder,
) -> None:
    params = SamplingParams(logit_bias={5: 1.0}, max_tokens=2)
    with pytest.raises(ArgumentError, match="logit_bias: got 5"):
        generate_tokens(tiny_decoder, PROMPT, params, stop_token_ids=())
