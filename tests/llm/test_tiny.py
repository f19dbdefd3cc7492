"""The public face on a model of 30 kB: every method, every refusal."""

from __future__ import annotations

import io
import sys
from pathlib import Path

import numpy as np
import pytest

from cutaway import LLM, SamplingParams
from cutaway.core import ArgumentError, CutawayError
from cutaway.outputs import RequestMetrics, TextDelta
from cutaway.weights import MODELS
from oracles.tiny_model import EOS

GREEDY = SamplingParams(temperature=0, max_tokens=9, ignore_eos=True)
PROMPTS = ["hello", "the cat", "ü 🙂", "x"]
CHATS = [
    [{"role": "user", "content": "hi"}],
    [
        {"role": "system", "content": "be"},
        {"role": "user", "content": "a"},
        {"role": "assistant", "content": "b"},
        {"role": "user", "content": "c"},
    ],
    [{"role": "user", "content": "what?"}],
]


def hand_loop(llm: LLM, ids: list[int], max_tokens: int) -> list[int]:
    """Greedy decoding that reads everything again for each token."""
    text = list(ids)
    for _ in range(max_tokens):
        cache = llm.decoder.new_cache(len(text))
        text.append(int(llm.decoder.forward(text, cache)[-1].argmax()))
    return text[len(ids) :]


def tokens(outputs) -> list[list[int]]:
    return [output.outputs[0].token_ids for output in outputs]


@pytest.fixture
def idle(tiny: LLM, monkeypatch: pytest.MonkeyPatch) -> LLM:
    """A model that must not be asked to compute."""

    def forward(*args, **kwargs):
        pytest.fail("the model ran before all input was checked")

    monkeypatch.setattr(tiny.decoder, "forward", forward)
    return tiny


def test_answers_come_in_the_order_of_the_prompts(tiny: LLM) -> None:
    outputs = tiny.generate(PROMPTS, GREEDY)
    assert [output.prompt for output in outputs] == PROMPTS
    for output, prompt in zip(outputs, PROMPTS, strict=True):
        ids = tiny.tokenizer.encode(prompt)
        assert output.prompt_token_ids == ids
        assert output.outputs[0].token_ids == hand_loop(tiny, ids, 9)
    assert len({tuple(ids) for ids in tokens(outputs)}) == len(PROMPTS)


def test_one_prompt_gives_a_list_of_one(tiny: LLM) -> None:
    (output,) = tiny.generate("hello", GREEDY)
    assert tokens([output]) == tokens(tiny.generate(PROMPTS, GREEDY))[:1]


@pytest.mark.parametrize("kind", [list, tuple, np.array])
def test_token_ids_are_a_prompt_too(tiny: LLM, kind) -> None:
    ids = tiny.tokenizer.encode("hello")
    (output,) = tiny.generate(kind(ids), GREEDY)
    assert output.prompt is None
    assert output.prompt_token_ids == ids
    assert tokens([output]) == tokens(tiny.generate("hello", GREEDY))


def test_texts_and_ids_mix_in_one_list(tiny: LLM) -> None:
    ids = tiny.tokenizer.encode("the cat")
    mixed = tiny.generate(["hello", ids, np.array(ids)], GREEDY)
    expected = tokens(tiny.generate(["hello", "the cat", "the cat"], GREEDY))
    assert tokens(mixed) == expected


def test_params_may_differ_by_prompt(tiny: LLM) -> None:
    each = [
        SamplingParams(temperature=0, max_tokens=n, ignore_eos=True)
        for n in (1, 5, 2)
    ]
    outputs = tiny.generate(PROMPTS[:3], each)
    assert [len(ids) for ids in tokens(outputs)] == [1, 5, 2]


def test_without_params_it_samples_16_tokens_at_most(tiny: LLM) -> None:
    lengths = {len(ids) for ids in tokens(tiny.generate(["ab"] * 8))}
    assert max(lengths) == SamplingParams().max_tokens == 16


def test_eos_is_the_last_token_and_not_in_the_text(tiny: LLM) -> None:
    for seed in range(200):
        params = SamplingParams(seed=seed, temperature=1.5, max_tokens=40)
        (output,) = tiny.generate("hello", params)
        answer = output.outputs[0]
        if answer.finish_reason == "stop":
            break
    assert answer.finish_reason == "stop"
    assert answer.token_ids.index(EOS) == len(answer.token_ids) - 1
    assert "<|im_end|>" not in answer.text
    shown = SamplingParams(
        seed=seed, temperature=1.5, max_tokens=40, skip_special_tokens=False
    )
    assert (
        tiny.generate("hello", shown)[0].outputs[0].text.endswith("<|im_end|>")
    )


def test_seed_makes_an_answer_repeatable_whatever_its_neighbours(
    tiny: LLM,
) -> None:
    params = SamplingParams(seed=3, max_tokens=12, ignore_eos=True)
    alone = tokens(tiny.generate("hello", params))[0]
    crowd = tokens(tiny.generate(["x", "hello", "the cat"], params))
    assert crowd[1] == alone
    assert tokens(
        tiny.generate("hello", SamplingParams(seed=4, max_tokens=12))
    ) != [alone]


def test_without_a_seed_answers_differ(tiny: LLM) -> None:
    params = SamplingParams(max_tokens=16, temperature=5.0, ignore_eos=True)
    assert (
        len(
            {tuple(ids) for ids in tokens(tiny.generate(["hello"] * 4, params))}
        )
        > 1
    )


@pytest.mark.parametrize("skip", [True, False])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_stream_joined_is_the_text_of_all_tokens(tiny: LLM, seed, skip) -> None:
    params = SamplingParams(
        seed=seed, temperature=2, max_tokens=40, skip_special_tokens=skip
    )
    deltas = list(tiny.stream("hello", params))
    ids = [delta.token_id for delta in deltas]
    (output,) = tiny.generate("hello", params)
    text = tiny.tokenizer.decode(ids, skip_special_tokens=skip)
    assert "".join(delta.text for delta in deltas) == text
    assert output.outputs[0].text == text
    assert output.outputs[0].token_ids == ids
    assert {delta.finish_reason for delta in deltas[:-1]} <= {None}
    assert deltas[-1].finish_reason == output.outputs[0].finish_reason


def test_answer_that_ends_inside_a_character_shows_a_mark_for_it(
    tiny: LLM,
) -> None:
    unfinished = 0
    for seed in range(40):
        params = SamplingParams(
            seed=seed, temperature=9, max_tokens=3, ignore_eos=True
        )
        deltas = list(tiny.stream("hello", params))
        text = "".join(delta.text for delta in deltas)
        assert text == tiny.tokenizer.decode(
            [delta.token_id for delta in deltas], skip_special_tokens=True
        )
        last = tiny.tokenizer.token_bytes(deltas[-1].token_id)
        if len(last) == 1 and 0xC2 <= last[0] <= 0xF4:  # opens a character
            assert deltas[-1].text.endswith("\ufffd")
            unfinished += 1
    assert unfinished > 0


def test_stream_computes_a_token_only_when_asked(
    tiny: LLM, monkeypatch
) -> None:
    calls = []
    forward = tiny.decoder.forward
    monkeypatch.setattr(
        tiny.decoder,
        "forward",
        lambda *args, **more: calls.append(1) or forward(*args, **more),
    )
    deltas = tiny.stream("hello", GREEDY)
    assert len(calls) == 0
    next(deltas)
    next(deltas)
    assert len(calls) == 2


def test_chat_is_the_template_continued(tiny: LLM) -> None:
    outputs = tiny.chat(CHATS, GREEDY)
    for chat, output in zip(CHATS, outputs, strict=True):
        ids = tiny.tokenizer.apply_chat_template(
            chat, add_generation_prompt=True
        )
        assert output.prompt_token_ids == ids
        assert output.prompt == tiny.tokenizer.decode(ids)
        assert tokens(tiny.generate(ids, GREEDY)) == tokens([output])
        assert tokens(tiny.chat(chat, GREEDY)) == tokens([output])
        streamed = [delta.token_id for delta in tiny.stream_chat(chat, GREEDY)]
        assert [streamed] == tokens([output])


def test_messages_are_not_changed(tiny: LLM) -> None:
    chat = [dict(message) for message in CHATS[1]]
    tiny.chat(chat, GREEDY)
    assert chat == CHATS[1]


def test_logits_are_the_decoders_of_every_position(tiny: LLM) -> None:
    ids = tiny.tokenizer.encode("hello the")
    logits = tiny.logits(ids)
    cache = tiny.decoder.new_cache(len(ids))
    expected = tiny.decoder.forward(ids, cache)
    assert logits.dtype == np.float32
    assert logits.shape == (len(ids), tiny.config.vocab_size)
    np.testing.assert_array_equal(logits, expected)
    np.testing.assert_array_equal(tiny.logits(iter(ids)), expected)


def test_float64_gives_float64_logits_near_the_float32_ones(
    tiny_path: Path,
) -> None:
    ids = [5, 6, 7]
    double = LLM(tiny_path, impl="numpy", dtype="float64").logits(ids)
    single = LLM(tiny_path, impl="numpy").logits(ids)
    assert double.dtype == np.float64
    np.testing.assert_allclose(single, double, atol=1e-4)
    assert np.abs(single - double).max() > 0


def test_first_time_is_the_time_to_first_token_and_the_rest_are_between() -> (
    None
):
    deltas = [TextDelta("", 1, None, time_s) for time_s in (0.5, 0.125, 0.25)]
    metrics = RequestMetrics.from_deltas(deltas, num_prompt_tokens=7)
    assert metrics == RequestMetrics(0.5, [0.125, 0.25], 7, 3)
    assert (metrics.total_s, metrics.mean_itl_s) == (0.875, 0.1875)


def test_metrics_count_tokens_and_time(tiny: LLM) -> None:
    for output in tiny.generate(PROMPTS, GREEDY):
        metrics = output.metrics
        assert metrics.num_prompt_tokens == len(output.prompt_token_ids)
        assert (
            metrics.num_generated_tokens
            == len(output.outputs[0].token_ids)
            == 9
        )
        assert len(metrics.itl_s) == 8
        assert metrics.ttft_s > 0
        assert min(metrics.itl_s) > 0
        assert metrics.total_s == pytest.approx(
            metrics.ttft_s + sum(metrics.itl_s)
        )
        assert metrics.mean_itl_s == pytest.approx(sum(metrics.itl_s) / 8)
        assert output.num_cached_tokens == 0
    one = SamplingParams(temperature=0, max_tokens=1)
    assert tiny.generate("x", one)[0].metrics.mean_itl_s is None


@pytest.mark.parametrize(
    ("prompts", "name"),
    [
        ("", "prompts"),
        ([], "prompts"),
        ((), "prompts"),
        (np.array([], int), "prompts"),
        (None, "prompts"),
        (5, "prompts"),
        (b"hello", "prompts"),
        ({"prompt": "x"}, "prompts"),
        (["ok", ""], "prompts[1]"),
        (["ok", []], "prompts[1]"),
        (["ok", 3], "prompts[1]"),
        (["ok", None], "prompts[1]"),
        ([[1, 2], "ok", [3, -1]], "prompts[2][1]"),
        ([3, 999], "prompt[1]"),
        ([3, 4.5], "prompt[1]"),
        ([3, True], "prompt[1]"),
        (["ok", "a\udc80"], "prompts[1]"),
        ("x" * 56, "prompt + max_tokens"),
        (["ok", "x" * 56], "prompts[1] + max_tokens"),
    ],
    ids=repr,
)
def test_bad_prompt_raises_naming_it_before_anything_runs(
    idle, prompts, name
) -> None:
    with pytest.raises(ArgumentError) as caught:
        idle.generate(prompts, GREEDY)
    assert caught.value.name == name


def test_context_may_be_filled_to_the_last_token(tiny: LLM) -> None:
    (output,) = tiny.generate("x" * 55, GREEDY)
    assert len(output.prompt_token_ids) + len(output.outputs[0].token_ids) == 64


@pytest.mark.parametrize(
    ("messages", "name"),
    [
        ([], "messages"),
        (None, "messages"),
        ("hi", "messages"),
        ({"role": "user", "content": "hi"}, "messages"),
        ([[]], "messages[0]"),
        ([{"content": "hi"}], "messages[0]"),
        ([{"role": "user"}], "messages[0]"),
        ([{"role": "user", "content": 3}], "messages[0]['content']"),
        ([{"role": "usr", "content": "hi"}], "messages[0]['role']"),
        ([*CHATS[0], "hi"], "messages[1]"),
        ([CHATS[0], [{"role": 1, "content": "hi"}]], "messages[1][0]['role']"),
        ([CHATS[0], CHATS[0][0]], "messages[1]"),
        ([{"role": "user", "content": "y" * 50}], "messages + max_tokens"),
    ],
    ids=repr,
)
def test_bad_messages_raise_naming_them_before_anything_runs(
    idle, messages, name
) -> None:
    with pytest.raises(ArgumentError) as caught:
        idle.chat(messages, GREEDY)
    assert caught.value.name == name


@pytest.mark.parametrize(
    ("params", "name"),
    [
        ({"temperature": 0}, "params"),
        (0.5, "params"),
        ([], "params"),
        ([GREEDY], "params"),
        ([GREEDY, GREEDY, GREEDY], "params"),
        ([GREEDY, "greedy"], "params[1]"),
    ],
    ids=repr,
)
def test_bad_params_raise_before_anything_runs(idle, params, name) -> None:
    with pytest.raises(ArgumentError) as caught:
        idle.generate(["a", "b"], params)
    assert caught.value.name == name


def test_streams_check_their_input_when_called(idle: LLM) -> None:
    with pytest.raises(ArgumentError, match="prompt: got no token"):
        idle.stream("", GREEDY)
    with pytest.raises(ArgumentError, match="messages"):
        idle.stream_chat([], GREEDY)
    with pytest.raises(ArgumentError, match="messages"):
        idle.stream_chat(iter(CHATS[0]), GREEDY)
    with pytest.raises(ArgumentError, match="params"):
        idle.stream("x", {"seed": 1})


@pytest.mark.parametrize(
    ("ids", "name"),
    [([], "token_ids"), ([1, 10**6], "token_ids[1]"), ("ab", "token_ids[0]"),
     ([1] * 65, "token_ids"), (None, "token_ids")],
)  # fmt: skip
def test_bad_ids_for_logits_raise(idle: LLM, ids, name) -> None:
    with pytest.raises(ArgumentError) as caught:
        idle.logits(ids)
    assert caught.value.name == name


def test_a_failed_call_leaves_the_model_working(tiny: LLM) -> None:
    before = tokens(tiny.generate("hello", GREEDY))
    with pytest.raises(CutawayError):
        tiny.generate(["hello", ""], GREEDY)
    assert tokens(tiny.generate("hello", GREEDY)) == before


@pytest.mark.parametrize("model", ["gpt-9", "", "tiny.bin", None, 3, b"x.gguf"])
def test_unknown_model_lists_the_known_ones(model) -> None:
    with pytest.raises(ArgumentError) as caught:
        LLM(model)
    assert caught.value.name == "model"
    assert all(name in caught.value.expected for name in MODELS)
    assert ".gguf" in caught.value.expected


def test_model_path_must_be_a_file(tmp_path: Path) -> None:
    (tmp_path / "folder.gguf").mkdir()
    for path in (tmp_path, tmp_path / "none.gguf", tmp_path / "folder.gguf"):
        with pytest.raises(ArgumentError, match="model"):
            LLM(path)


def test_broken_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "broken.gguf"
    path.write_bytes(b"GGUF\x03\x00\x00\x00nonsense")
    with pytest.raises(CutawayError):
        LLM(path)


@pytest.mark.parametrize(
    ("more", "name"),
    [
        ({"impl": "jax"}, "impl"),
        ({"impl": None}, "impl"),
        ({"dtype": "int8"}, "dtype"),
    ],
)
def test_unknown_impl_or_dtype_raises(tiny_path: Path, more, name) -> None:
    with pytest.raises(ArgumentError) as caught:
        LLM(tiny_path, **more)
    assert caught.value.name == name


def test_path_as_text_or_path_and_repr(tiny_path: Path) -> None:
    for given in (tiny_path, str(tiny_path)):
        llm = LLM(given, impl="numpy")
        assert (
            repr(llm)
            == f"LLM({str(tiny_path)!r}, impl='numpy', dtype='float32')"
        )


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("terminal", [True, False])
@pytest.mark.parametrize("wanted", [True, False])
def test_progress_shows_on_a_terminal_and_only_when_wanted(
    tiny: LLM, monkeypatch, capsys, terminal: bool, wanted: bool
) -> None:
    for name in (
        "FORCE_COLOR",
        "TTY_COMPATIBLE",
        "TTY_INTERACTIVE",
        "NO_COLOR",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    stderr = Terminal() if terminal else io.StringIO()
    monkeypatch.setattr(sys, "stderr", stderr)
    shown = tiny.generate(PROMPTS, GREEDY, progress=wanted)
    assert ("tokens" in stderr.getvalue()) == (terminal and wanted)
    if not (terminal and wanted):
        assert stderr.getvalue() == ""
    assert capsys.readouterr().out == ""
    assert tokens(shown) == tokens(tiny.generate(PROMPTS, GREEDY))
