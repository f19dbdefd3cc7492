"""Traces hold what the model computed, and are safe inside a page."""

from __future__ import annotations

import json
import re
from types import SimpleNamespace

import numpy as np
import pytest

from cutaway.book import trace
from cutaway.book.token_steps import visible
from cutaway.core import ModelConfig
from cutaway.decoder import Decoder, Params

SVG = '<svg role="img"></svg>'
CONFIG = ModelConfig(
    num_layers=3,
    hidden_size=16,
    num_heads=4,
    num_kv_heads=2,
    head_dim=4,
    ffn_size=24,
    vocab_size=31,
    rope_theta=1e4,
    norm_eps=1e-5,
    max_seq_len=64,
)


@pytest.fixture
def llm():
    """A tiny random model; its token i is the byte 65 + i."""
    params = Params.random(CONFIG, 5, impl="numpy", dtype="float64")
    tokenizer = SimpleNamespace(
        token_bytes=lambda i: bytes([65 + i]), stop_token_ids=()
    )
    decoder = Decoder(CONFIG, params, impl="numpy")
    return SimpleNamespace(decoder=decoder, tokenizer=tokenizer)


@pytest.fixture
def shown(monkeypatch):
    """Collect what emit puts on the page."""
    outputs: list[tuple[str, str]] = []
    monkeypatch.setattr(trace, "show_html", lambda *pair: outputs.append(pair))
    return outputs


def emit(name="steps", data=None, **options):
    defaults = {"widget": "token-stepper", "fig": SVG, "alt": "A picture."}
    trace.emit(name, data or {}, **(defaults | options))


def script(markup: str) -> str:
    """Return the content of the one script, as a browser would find it."""
    [found] = re.findall(r"<script[^>]*>(.*?)</script", markup, re.S)
    return found


# emit and to_json


def test_picture_data_and_caption_make_one_figure(shown):
    emit(data={"a": [1, 2]}, caption="a < b & c")
    [(markup, text)] = shown
    assert markup.startswith('<figure class="cutaway-widget">')
    assert markup.endswith("</figure>")
    assert f'<div class="cutaway-static">{SVG}</div>' in markup
    assert 'type="application/json" data-widget="token-stepper"' in markup
    assert "<figcaption>a &lt; b &amp; c</figcaption>" in markup
    assert json.loads(script(markup)) == {"a": [1, 2]}
    assert text == "Figure steps: A picture."


def test_text_cannot_end_the_script(shown):
    hostile = ["</script><b>", "<!--<script>", "\u2028", '"\\', "é🙂"]
    emit(data={"texts": hostile})
    inner = script(shown[0][0])
    assert "<" not in inner
    assert json.loads(inner) == {"texts": hostile}


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1 / 3, "0.33333"),
        (123456.789, "123460"),
        (-0.00001234567, "-1.2346e-05"),
        (5.0, "5"),
        (0.0, "0"),
        (1e300, "1e+300"),
        (12345678901, "12345678901"),
        (np.float32(0.1), "0.1"),
        (np.int64(7), "7"),
        (np.bool_(True), "true"),
        (True, "true"),
        (None, "null"),
        (np.arange(3) / 3, "[0,0.33333,0.66667]"),
        ((1, "a"), '[1,"a"]'),
    ],
)
def test_numbers_are_short_and_whole_numbers_exact(value, text):
    assert trace.to_json(value) == text


@pytest.mark.parametrize(
    ("value", "where"),
    [
        ({"a": [1.0, float("nan")]}, r"data\.a\[1\]"),
        ({"a": np.array([np.inf])}, r"data\.a\[0\]"),
        ({"b": {"c": {1, 2}}}, r"data\.b\.c: got a set"),
        ([b"bytes"], r"data\[0\]: got a bytes"),
        ({"z": 1 + 2j}, r"data\.z: got a complex"),
    ],
)
def test_what_json_lacks_is_refused_with_its_path(value, where):
    with pytest.raises(ValueError, match=where):
        trace.to_json(value)


@pytest.mark.parametrize(
    "wrong",
    [
        {"name": "Bad Name"},
        {"name": ""},
        {"widget": 'x" onload="y'},
        {"fig": "no svg"},
        {"data": {"x": list(range(40_000))}},
    ],
)
def test_an_unfit_call_is_refused_and_shows_nothing(shown, wrong):
    with pytest.raises(ValueError, match="got"):
        emit(**wrong)
    assert shown == []


# token_steps


def test_steps_equal_plain_greedy_decoding_without_a_cache(llm):
    prompt = [3, 1, 4]
    found = trace.token_steps(llm, prompt, 6)
    ids = list(prompt)
    for step in found["steps"]:
        norms: list[float] = []

        def observe(name, layer, array, norms=norms):
            if name in ("embed", "resid"):
                norms.append(np.linalg.norm(array[-1]))

        cache = llm.decoder.new_cache(32)
        logits = llm.decoder.forward(ids, cache, observe=observe)[-1]
        probs = np.exp(logits) / np.exp(logits).sum()
        best = np.argsort(-probs)[:5]
        assert [t["id"] for t in step["top"]] == best.tolist()
        assert [t["p"] for t in step["top"]] == pytest.approx(
            probs[best], rel=6e-3
        )
        assert step["norms"] == pytest.approx(norms, rel=6e-4)
        assert step["id"] == best[0]
        assert step["token"] == chr(65 + best[0])
        ids.append(step["id"])
    assert len(found["steps"]) == 6
    assert len(found["steps"][0]["norms"]) == CONFIG.num_layers + 1
    assert found["num_prompt_tokens"] == 3
    assert found["prompt_tail"] == ["D", "B", "E"]


def test_the_stop_token_is_the_last_step(llm):
    free = trace.token_steps(llm, [3, 1, 4], 6)["steps"]
    llm.tokenizer.stop_token_ids = (free[2]["id"],)
    stopped = trace.token_steps(llm, [3, 1, 4], 6)["steps"]
    first = [step["id"] for step in free].index(free[2]["id"])
    assert stopped == free[: first + 1]


def test_of_a_long_prompt_the_tail_is_kept(llm):
    found = trace.token_steps(llm, list(range(20)), 1, top=2)
    assert found["num_prompt_tokens"] == 20
    assert found["prompt_tail"] == [chr(65 + i) for i in range(8, 20)]
    assert len(found["steps"][0]["top"]) == 2


@pytest.mark.parametrize(
    ("prompt", "max_tokens"), [([], 3), ([1], 0), ([1], -1), ([1], True)]
)
def test_bad_input_is_refused(llm, prompt, max_tokens):
    with pytest.raises(ValueError, match="got"):
        trace.token_steps(llm, prompt, max_tokens)


def test_the_figure_shows_the_trace(llm, shown):
    found = trace.token_steps(llm, [3, 1, 4], 4)
    fig = trace.token_figure(found)
    bars, cells = fig.axes[:2]
    widths = [bar.get_width() for bar in bars.patches]
    chosen = [100 * step["top"][0]["p"] for step in found["steps"]]
    assert widths == pytest.approx(chosen)
    labels = [label.get_text() for label in bars.get_yticklabels()]
    assert labels == [step["token"] for step in found["steps"]]
    mesh = cells.collections[0].get_array()
    norms = np.log10([step["norms"] for step in found["steps"]])
    np.testing.assert_allclose(np.asarray(mesh).reshape(norms.shape), norms)
    emit(data=found, fig=fig, alt="Bars and cells for each of four tokens.")
    assert 'role="img"' in shown[0][0]


@pytest.mark.parametrize(
    ("token", "text"),
    [
        (b"word", "word"),
        (b"  two", "␣␣two"),
        (b"\n\n", "↵↵"),
        (b"\t", "⇥"),
        ("é🙂".encode(), "é🙂"),
        (b"\xf0\x9f", "⟨F0 9F⟩"),
        (b"\x00", "⟨0⟩"),
        (b"", ""),
    ],
)
def test_tokens_are_visible(token, text):
    assert visible(token) == text


@pytest.mark.model
def test_the_answer_of_the_first_chapter():
    from cutaway import LLM

    llm = LLM()
    question = [{"role": "user", "content": "How many days are in a week?"}]
    prompt = llm.tokenizer.apply_chat_template(
        question, add_generation_prompt=True
    )
    found = trace.token_steps(llm, prompt, 16)
    ids = [step["id"] for step in found["steps"]]
    assert found["num_prompt_tokens"] == 38
    assert ids == [49, 2605, 314, 4723, 216, 39, 2009, 30, 2]
    assert found["steps"][3]["token"] == "␣approximately"
    assert all(len(step["norms"]) == 31 for step in found["steps"])
    assert len(trace.to_json(found)) < 5_000
