"""The public face on the real model, beside its golden answers."""

from __future__ import annotations

import time

import numpy as np
import pytest

from cutaway import LLM, SamplingParams

pytestmark = pytest.mark.model

GREEDY = SamplingParams(temperature=0, max_tokens=16)
FRANCE = [{"role": "user", "content": "What is the capital of France?"}]
WEEK = [{"role": "user", "content": "How many days are in a week?"}]
GOLDEN = [
    (FRANCE, 37, [504, 3575, 282, 4649, 314, 7042, 30, 2], "The capital of France is Paris."),
    (WEEK, 38, [49, 2605, 314, 4723, 216, 39, 2009, 30, 2], "A week is approximately 7 days."),
]  # fmt: skip


@pytest.mark.parametrize(("chat", "prompt_tokens", "ids", "text"), GOLDEN)
def test_greedy_chat_gives_the_golden_answer(
    llm, chat, prompt_tokens, ids, text
):
    (output,) = llm.chat(chat, GREEDY)
    answer = output.outputs[0]
    assert len(output.prompt_token_ids) == prompt_tokens
    assert answer.token_ids == ids
    assert answer.text == text
    assert answer.finish_reason == "stop"
    assert output.metrics.num_generated_tokens == len(ids)


def test_list_of_chats_is_answered_in_order(llm: LLM) -> None:
    outputs = llm.chat([WEEK, FRANCE, WEEK], GREEDY)
    texts = [output.outputs[0].text for output in outputs]
    assert texts == [GOLDEN[1][3], GOLDEN[0][3], GOLDEN[1][3]]


def test_logits_give_the_golden_top_5(llm: LLM) -> None:
    ids = llm.tokenizer.encode("The capital of France is")
    assert ids == [504, 3575, 282, 4649, 314]
    logits = llm.logits(ids)
    assert logits.shape == (5, 49152)
    assert logits.dtype == np.float32
    top = np.argsort(-logits[-1])[:5]
    assert list(top) == [7042, 260, 4528, 2250, 1315]
    golden = [17.371, 14.889, 13.245, 13.010, 12.952]
    np.testing.assert_allclose(logits[-1][top], golden, atol=0.02)


def test_generate_equals_a_hand_loop_with_and_without_the_cache(
    llm: LLM,
) -> None:
    prompt = llm.tokenizer.encode("Water boils at")
    params = SamplingParams(temperature=0, max_tokens=8, ignore_eos=True)
    generated = llm.generate(prompt, params)[0].outputs[0].token_ids

    cache = llm.decoder.new_cache(64)
    unread, cached = prompt, []
    for _ in range(8):
        unread = [int(llm.decoder.forward(unread, cache)[-1].argmax())]
        cached += unread
    text = list(prompt)
    for _ in range(8):
        text.append(int(llm.logits(text)[-1].argmax()))

    assert generated == cached == text[len(prompt) :]


def test_streams_joined_are_the_answers(llm: LLM) -> None:
    deltas = list(llm.stream_chat(WEEK, GREEDY))
    assert [delta.token_id for delta in deltas] == GOLDEN[1][2]
    assert "".join(delta.text for delta in deltas) == GOLDEN[1][3]
    assert deltas[-1].finish_reason == "stop"
    params = SamplingParams(temperature=1.0, seed=5, max_tokens=12)
    streamed = "".join(
        delta.text for delta in llm.stream("An emoji: 🙂", params)
    )
    assert streamed == llm.generate("An emoji: 🙂", params)[0].outputs[0].text


def test_seed_repeats_an_answer_and_another_seed_changes_it(llm: LLM) -> None:
    def answers(*seeds: int) -> list[list[int]]:
        params = [SamplingParams(seed=seed, max_tokens=8) for seed in seeds]
        outputs = llm.generate(["Once upon a time"] * len(seeds), params)
        return [output.outputs[0].token_ids for output in outputs]

    first, again, other = answers(1, 1, 2)
    assert first == again != other
    assert answers(1) == [first]


def test_stop_token_of_the_request_ends_the_answer(llm: LLM) -> None:
    params = SamplingParams(temperature=0, max_tokens=16, stop_token_ids=[4649])
    answer = llm.chat(FRANCE, params)[0].outputs[0]
    assert answer.token_ids == [504, 3575, 282, 4649]
    assert answer.text == "The capital of France"
    assert answer.finish_reason == "stop"


def test_prompt_and_answer_beyond_the_context_are_refused_at_once(
    llm: LLM,
) -> None:
    params = SamplingParams(max_tokens=8192)
    started = time.perf_counter()
    with pytest.raises(
        ValueError, match=r"5 \+ 8192 = 8197.*max_seq_len = 8192"
    ):
        llm.generate("The capital of France is", params)
    assert time.perf_counter() - started < 0.5


def test_numpy_gives_the_same_tokens_as_torch(llm: LLM) -> None:
    params = SamplingParams(temperature=0, max_tokens=3)
    (ours,) = LLM(impl="numpy").chat(WEEK, params)
    assert ours.outputs[0].token_ids == GOLDEN[1][2][:3]


def test_weights_are_ready_within_2_s_once_fetched(llm: LLM) -> None:
    def load_s() -> float:
        started = time.perf_counter()
        LLM()
        return time.perf_counter() - started

    assert min(load_s() for _ in range(3)) <= 2
