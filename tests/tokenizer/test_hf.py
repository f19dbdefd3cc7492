"""``tokenizer.json``: read and written, with ``tokenizers`` as the judge."""

from __future__ import annotations

import copy
import json

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.book.texts import TEXTS
from cutaway.tokenizer import (
    Tokenizer,
    TokenizerError,
    TokenizerSpec,
    tokenizer_config,
    tokenizer_json,
    train_bpe,
)
from cutaway.tokenizer.pretokenize import PRETOKENIZERS
from oracles.nasty_text import CURATED, random_texts

SPECIAL = ["<|begin|>", "<|end|>", "<|im_", "<file_sep>"]


def trained(pre: str, **changes) -> Tokenizer:
    """A small tokenizer with the cut, first token and flags of a family."""
    spec = train_bpe(
        [*TEXTS.values(), "I'LL 2024 12345 x.\n\n\n  !?\r\n naïve café 🙂"],
        num_merges=300,
        pretokenizer=pre,
        special_tokens=SPECIAL,
    ).spec
    kinds = [3, 3, 3, 4, *spec.kinds[4:]]
    fields = {**vars(spec), "kinds": kinds, "eos_token_id": 1, **changes}
    return Tokenizer(TokenizerSpec(**fields))


FAMILIES = {
    "gpt-2": {},
    "smollm": {"bos_token_id": 0},
    "llama-bpe": {"bos_token_id": 0, "add_bos": True, "ignore_merges": True},
    "qwen2": {"normalizer": "NFC"},
}


@pytest.fixture(scope="module", params=FAMILIES)
def family(request) -> Tokenizer:
    return trained(request.param, **FAMILIES[request.param])


def peer_of(tokenizer: Tokenizer) -> tokenizers.Tokenizer:
    """What the library makes of the file that we write."""
    return tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json(tokenizer)))


def test_there_is_a_family_for_every_cut():
    assert list(FAMILIES) == list(PRETOKENIZERS)


def test_the_file_we_write_gives_the_same_ids_in_tokenizers(
    family, newer_characters
):
    peer = peer_of(family)
    for text in [*CURATED, *random_texts(1000, 4, newer_characters)]:
        ids = family.encode(text)
        assert ids == peer.encode(text).ids, ascii(text)
        plain = family.encode(text, add_special_tokens=False)
        assert plain == peer.encode(text, add_special_tokens=False).ids
        assert family.decode(ids) == peer.decode(ids, skip_special_tokens=False)


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=100, deadline=None)
def test_the_file_gives_the_same_ids_for_any_text(
    family, newer_characters, text
):
    text = "".join(char for char in text if char not in newer_characters)
    peer = peer_of(family) if not hasattr(family, "_peer") else family._peer
    family._peer = peer
    assert family.encode(text) == peer.encode(text).ids


def test_what_was_written_is_read_back(family):
    data = json.loads(json.dumps(tokenizer_json(family)))
    config = json.loads(json.dumps(tokenizer_config(family)))
    before = copy.deepcopy((data, config))
    again = Tokenizer.from_hf(data, config)
    assert (data, config) == before
    named = {"bos_token": "<|begin|>", "eos_token": "<|end|>"}
    names = {k: v for k, v in named.items() if k in config}
    expected = {**vars(family.spec), "template_names": names}
    for field, value in expected.items():
        got = getattr(again.spec, field)
        assert got == value or list(got) == list(value), field
    assert tokenizer_json(again) == tokenizer_json(family)


def test_what_tokenizers_writes_is_read(family):
    """The library adds defaults and, in old versions, merges as text."""
    data = json.loads(peer_of(family).to_str())
    old = copy.deepcopy(data)
    merges = [" ".join(pair) for pair in old["model"]["merges"]]
    old["model"]["merges"] = merges
    for version in (data, old):
        again = Tokenizer.from_hf(version)
        for text in CURATED[::5]:
            assert again.encode(text) == family.encode(text)


def test_without_a_config_there_is_no_end_and_no_template(family):
    again = Tokenizer.from_hf(tokenizer_json(family))
    assert again.eos_token_id is None
    with pytest.raises(TokenizerError, match="without a chat template"):
        again.apply_chat_template([{"role": "user", "content": "Hi"}])


@pytest.mark.model
def test_the_real_model_goes_through_both_files(tokenizer, newer_characters):
    data = json.dumps(tokenizer_json(tokenizer))
    config = json.dumps(tokenizer_config(tokenizer))
    again = Tokenizer.from_hf(json.loads(data), json.loads(config))
    peer = tokenizers.Tokenizer.from_str(data)
    messages = [{"role": "user", "content": "Hi 🙂"}]
    ours, theirs = (
        one.apply_chat_template(messages, add_generation_prompt=True)
        for one in (tokenizer, again)
    )
    assert ours == theirs
    assert (again.bos_token_id, again.eos_token_id) == (1, 2)
    assert again.special_tokens == tokenizer.special_tokens
    for text in [*CURATED, *random_texts(300, 6, newer_characters)]:
        ids = tokenizer.encode(text, missing_bytes="drop")
        assert again.encode(text, missing_bytes="drop") == ids
        assert peer.encode(text).ids == ids


def test_llama_3_takes_a_word_that_is_a_token_whole():
    """No merge leads to "zq", and yet it is one token."""
    base = trained("llama-bpe").spec
    fields = {
        **vars(base), "tokens": [*base.tokens, "zq"], "kinds": [*base.kinds, 1]
    }  # fmt: skip
    whole = Tokenizer(TokenizerSpec(**{**fields, "ignore_merges": True}))
    merged = Tokenizer(TokenizerSpec(**fields))
    last = len(base.tokens)
    assert whole.encode("zq") == [last]
    assert len(merged.encode("zq")) == 2
    assert whole.encode("zqz") == merged.encode("zqz")
    assert whole.merge_steps("zq") == [["z", "q"], ["zq"]]
    assert whole.merge_steps("z") == [["z"]]
    for text in ("zq", "zqz", " zq", "a zq.zq"):
        assert whole.encode(text) == peer_of(whole).encode(text).ids
        assert merged.encode(text) == peer_of(merged).encode(text).ids


def test_a_first_token_is_put_once_and_not_into_a_chat():
    template = "{{ bos_token }}{{ messages[0].content }}"
    first = trained(
        "llama-bpe", bos_token_id=0, add_bos=True, chat_template=template,
        template_names={"bos_token": "<|begin|>"},
    )  # fmt: skip
    assert first.encode("") == [0]
    assert first.encode("a") == [
        0,
        *first.encode("a", add_special_tokens=False),
    ]
    chat = first.apply_chat_template([{"role": "user", "content": "a"}])
    assert chat == first.encode("a")
    assert first.decode(chat, skip_special_tokens=True) == "a"


def test_gguf_says_whether_a_text_begins_with_a_token(toy_metadata):
    key = "tokenizer.ggml.add_bos_token"
    pre = {"tokenizer.ggml.pre": "llama-bpe"}
    for changes, begins in (
        ({}, False), ({key: True}, True), (pre, True), ({**pre, key: False}, False)
    ):  # fmt: skip
        made = Tokenizer.from_gguf({**toy_metadata, **changes})
        assert (made.encode("a")[0] == 0) is begins
    without = {**toy_metadata, key: True}
    del without["tokenizer.ggml.bos_token_id"]
    with pytest.raises(TokenizerError, match="bos_token_id: got none"):
        Tokenizer.from_gguf(without)


def test_nfc_joins_accents_but_not_inside_special_tokens():
    made = trained("qwen2", normalizer="NFC")
    assert made.decode(made.encode("e\u0301<|end|>")) == "é<|end|>"
    plain = trained("qwen2")
    assert plain.decode(plain.encode("e\u0301")) == "e\u0301"


def changed(**changes):
    """A file of ours with some of its entries replaced."""
    data = copy.deepcopy(tokenizer_json(trained("smollm")))
    for path, value in changes.items():
        *parents, key = path.split("__")
        place = data
        for parent in parents:
            place = place[parent]
        place[key] = value
    return data


def begins(token: str, token_id: int):
    """A stage that puts a token first, as it says by this id."""
    entry = {"id": token, "ids": [token_id], "tokens": [token]}
    return {
        "type": "TemplateProcessing",
        "single": [{"SpecialToken": {"id": token}}, {"Sequence": {"id": "A"}}],
        "special_tokens": {token: entry},
    }


BPE = {"type": "BPE", "vocab": {}, "merges": []}
REFUSED = {
    "model.type: got 'WordPiece'": {"model__type": "WordPiece"},
    "model.type: got None": {"model": None},
    "model.dropout: got 0.1": {"model__dropout": 0.1},
    "model.byte_fallback: got True": {"model__byte_fallback": True},
    "model.end_of_word_suffix": {"model__end_of_word_suffix": "</w>"},
    "model.vocab: got a list": {"model__vocab": []},
    "model.merges: got a NoneType": {"model__merges": None},
    "model.vocab: got 2 tokens": {
        "model": {**BPE, "vocab": {"a": 0, "b": 2}}, "added_tokens": []
    },
    "model.vocab: got 1 tokens": {
        "model": {**BPE, "vocab": {"a": "0"}}, "added_tokens": []
    },
    r"model.merges\[0\]: got 'a b c'": {"model__merges": ["a b c"]},
    r"model.merges\[0\]: got 3": {"model__merges": [3]},
    "decoder.type: got 'Metaspace'": {"decoder": {"type": "Metaspace"}},
    "decoder.type: got None": {"decoder": None},
    "normalizer: got .*Lowercase": {"normalizer": {"type": "Lowercase"}},
    "pre_tokenizer: got .*Whitespace": {"pre_tokenizer": {"type": "Whitespace"}},
    "pre_tokenizer: got None": {"pre_tokenizer": None},
    "pre_tokenizer: got .*True": {
        "pre_tokenizer": {"type": "ByteLevel", "add_prefix_space": True}
    },
    "post_processor: got .*Bert": {"post_processor": {"type": "Bert"}},
    "post_processor.single: got": {
        "post_processor": {"type": "TemplateProcessing", "single": [
            {"Sequence": {"id": "A"}}, {"SpecialToken": {"id": "<|end|>"}}]}
    },
    "post_processor: got '<absent>'": {"post_processor": begins("<absent>", 1)},
    r"post_processor.special_tokens\['<|end|>'\].ids: got \[0\]".replace(
        "|", r"\|"): {"post_processor": begins("<|end|>", 0)},
    "post_processor.special_tokens.*: got None": {
        "post_processor": {**begins("<|end|>", 1), "special_tokens": []}
    },
    "post_processor.processors: got 3": {
        "post_processor": {"type": "Sequence", "processors": 3}
    },
    "pre_tokenizer.pretokenizers: got True": {
        "pre_tokenizer": {"type": "Sequence", "pretokenizers": True}
    },
    "added_tokens: got 3": {"added_tokens": 3},
    "added_tokens: got {'a'": {"added_tokens": {"a": 1}},
    r"added_tokens\[0\].normalized: got True": {
        "normalizer": {"type": "NFC"},
        "added_tokens": [{"id": 1, "content": "<|end|>", "normalized": True}],
    },
    r"added_tokens\[0\]: got 3": {"added_tokens": [3]},
    r"added_tokens\[0\]: got \{'id': 1\}": {"added_tokens": [{"id": 1}]},
    r"added_tokens\[0\]: got id 9": {
        "added_tokens": [{"id": 9, "content": "<|end|>"}]
    },
    r"added_tokens\[0\].lstrip: got True": {
        "added_tokens": [{"id": 1, "content": "<|end|>", "lstrip": True}]
    },
}  # fmt: skip


@pytest.mark.parametrize("message", REFUSED)
def test_what_we_do_not_do_is_refused_by_name(message):
    data = changed(**REFUSED[message])
    before = copy.deepcopy(data)
    with pytest.raises(TokenizerError, match=message):
        Tokenizer.from_hf(data)
    assert data == before


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ([], "tokenizer_config: got a list"),
        ({"eos_token": 3}, "eos_token: got 3"),
        ({"eos_token": "<absent>"}, "eos_token: got '<absent>'"),
        ({"chat_template": 3}, "chat_template: got 3"),
        (
            {
                "chat_template": [
                    {"name": [], "template": "T"},
                    {"name": "default", "template": 3},
                ]
            },
            "chat_template: got 3",
        ),
    ],
)
def test_a_bad_config_is_named(config, message):
    with pytest.raises(TokenizerError, match=message):
        Tokenizer.from_hf(changed(), config)


def test_a_token_to_normalise_is_read_where_nothing_is_normalised():
    entry = {"id": 1, "content": "<|end|>", "normalized": True}
    made = Tokenizer.from_hf(changed(added_tokens=[entry]))
    assert made.encode("<|end|>") == [1]


def test_a_stage_that_puts_a_token_of_the_vocabulary_first_is_read():
    made = Tokenizer.from_hf(changed(post_processor=begins("<|end|>", 1)))
    assert made.encode("") == [1]


@pytest.mark.parametrize("data", [None, [], "{}", 3])
def test_what_is_no_parsed_file_is_refused(data):
    with pytest.raises(TokenizerError, match="data: got a"):
        Tokenizer.from_hf(data)


def test_of_several_templates_the_default_is_taken():
    named = [
        {"name": "tool_use", "template": "T"},
        {"name": "default", "template": "{{ messages[0].content }}"},
    ]
    made = Tokenizer.from_hf(changed(), {"chat_template": named})
    messages = [{"role": "user", "content": "Hi"}]
    assert made.apply_chat_template(messages, tokenize=False) == "Hi"
