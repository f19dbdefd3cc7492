"""Penalties and batches through the public face, on a model of 30 kB."""

from __future__ import annotations

import pytest

from cutaway import LLM, SamplingParams
from cutaway.core import ArgumentError

PROMPTS = ["hello", "the cat", "ü 🙂", "x"]
SETTINGS = [
    SamplingParams(seed=1, repetition_penalty=1.4, max_tokens=9),
    SamplingParams(temperature=0, frequency_penalty=1.5, max_tokens=12),
    SamplingParams(seed=2, presence_penalty=2, top_p=0.9, max_tokens=7),
    SamplingParams(seed=2, logit_bias={40: 4.0}, typical_p=0.8, max_tokens=8),
]


def tokens(outputs) -> list[list[int]]:
    return [output.outputs[0].token_ids for output in outputs]


def test_answers_do_not_depend_on_their_neighbours(tiny: LLM) -> None:
    alone = [
        tokens(tiny.generate(prompt, params))[0]
        for prompt, params in zip(PROMPTS, SETTINGS, strict=True)
    ]
    assert tokens(tiny.generate(PROMPTS, SETTINGS)) == alone
    reverse = tiny.generate(PROMPTS[::-1], SETTINGS[::-1])
    assert tokens(reverse) == alone[::-1]
    assert len({tuple(answer) for answer in alone}) == len(alone)


def test_a_high_frequency_penalty_stops_a_loop(tiny: LLM) -> None:
    def most_often(penalty: float) -> int:
        params = SamplingParams(
            temperature=0,
            max_tokens=30,
            ignore_eos=True,
            frequency_penalty=penalty,
        )
        [answer] = tokens(tiny.generate("hello", params))
        return max(answer.count(token_id) for token_id in answer)

    assert most_often(2) < most_often(0)


def test_a_bias_can_choose_every_token(tiny: LLM) -> None:
    params = SamplingParams(logit_bias={40: 100}, max_tokens=5)
    assert tokens(tiny.generate("hello", params)) == [[40] * 5]


def test_stream_gives_the_same_tokens_with_penalties(tiny: LLM) -> None:
    for prompt, params in zip(PROMPTS, SETTINGS, strict=True):
        streamed = [delta.token_id for delta in tiny.stream(prompt, params)]
        assert [streamed] == tokens(tiny.generate(prompt, params))


def test_bias_beyond_the_vocabulary_is_refused_before_anything_runs(
    tiny: LLM, monkeypatch
) -> None:
    def forward(*args, **kwargs):
        pytest.fail("the model ran before all input was checked")

    monkeypatch.setattr(tiny.decoder, "forward", forward)
    bad = SamplingParams(logit_bias={tiny.config.vocab_size: 1})
    with pytest.raises(ArgumentError, match="logit_bias"):
        tiny.generate(["hello", "x"], [SamplingParams(), bad])
