"""Ids of the real model: golden ones, and those of the ``tokenizers`` library."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.tokenizer import Tokenizer, TokenizerError
from cutaway.weights import GGUFFile, fetch
from oracles.nasty_text import CURATED, random_texts
from oracles.slow_bpe import SlowBPE

pytestmark = pytest.mark.model

# Made with llama.cpp and tokenizers from the model's own file; they agree.
GOLDEN = {
    "Hello, world!": "19556 28 905 17",
    "The capital of France is": "504 3575 282 4649 314",
    " 2024": "216 34 32 34 36",
    "In 2024, 12345 tokens": (
        "788 216 34 32 34 36 28 216 33 34 35 36 37 17837"
    ),
    "tokenization": "8087 1237",
    "naïve café 🙂": "3546 46494 37366 47526",
    "  two  spaces": "216 827 216 5600",
    "\n\n": "1116",
    "I'll don't": "57 3060 1326 982",
    "<|im_start|>user\nHi<|im_end|>\n": "1 4093 198 26843 2 198",
}


@pytest.mark.parametrize("text", GOLDEN)
def test_golden_encodings(tokenizer, text):
    ids = [int(token_id) for token_id in GOLDEN[text].split()]
    assert tokenizer.encode(text) == ids
    assert tokenizer.decode(ids) == text


def test_the_vocabulary_is_17_special_235_bytes_48900_merges(tokenizer):
    assert tokenizer.vocab_size == 49152 == 17 + 235 + 48900
    assert len(tokenizer.special_tokens) == 17
    assert tokenizer.special_tokens["<|endoftext|>"] == 0
    assert tokenizer.special_tokens["<empty_output>"] == 16
    assert (tokenizer.bos_token_id, tokenizer.eos_token_id) == (1, 2)


def test_ids_equal_tokenizers_on_nasty_texts(tokenizer, peer, newer_characters):
    texts = [*CURATED, *random_texts(1000, 2, newer_characters)]
    assert len(set(texts)) >= 500
    whole = 0
    for text in texts:
        expected = peer.encode(text).ids
        ids = tokenizer.encode(text, missing_bytes="drop")
        assert ids == expected, ascii(text)
        try:
            assert tokenizer.encode(text) == expected
        except TokenizerError:
            continue
        whole += 1
        assert tokenizer.decode(expected) == text
    assert whole >= 500


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=500, deadline=None)
def test_ids_equal_tokenizers_on_any_text(
    tokenizer, peer, newer_characters, text
):
    text = "".join(char for char in text if char not in newer_characters)
    expected = peer.encode(text).ids
    assert tokenizer.encode(text, missing_bytes="drop") == expected


def test_ids_equal_the_slow_oracle(tokenizer, metadata, newer_characters):
    oracle = SlowBPE(
        metadata["tokenizer.ggml.tokens"], metadata["tokenizer.ggml.merges"]
    )
    texts = [*CURATED, *random_texts(100, 3, newer_characters)]
    for text in texts:
        ids = tokenizer.encode(text, parse_special=False, missing_bytes="drop")
        assert ids == oracle.encode(text), ascii(text)


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=300, deadline=None)
def test_decode_gives_back_what_encode_took(tokenizer, text):
    try:
        ids = tokenizer.encode(text)
    except TokenizerError:
        assert not tokenizer.missing_bytes.isdisjoint(text.encode())
        return
    assert tokenizer.decode(ids) == text
    plain = tokenizer.encode(text, parse_special=False)
    assert tokenizer.decode(plain) == text


@given(st.lists(st.integers(0, 49151), max_size=40), st.booleans())
@settings(max_examples=300, deadline=None)
def test_text_of_any_ids_equals_tokenizers(tokenizer, peer, ids, skip):
    expected = peer.decode(ids, skip_special_tokens=skip)
    assert tokenizer.decode(ids, skip_special_tokens=skip) == expected


def test_ids_do_not_depend_on_what_was_encoded_before(metadata):
    fresh = Tokenizer.from_gguf(metadata)
    used = Tokenizer.from_gguf(metadata)
    for text in CURATED:
        used.encode(text, missing_bytes="drop")
    for text in CURATED[::7]:
        first = fresh.encode(text, missing_bytes="drop")
        assert used.encode(text, missing_bytes="drop") == first
        first.append(-1)  # the caller's list is not the cache's
        assert used.encode(text, missing_bytes="drop") == first[:-1]


def test_a_run_of_100000_equal_characters_is_merged_as_tokenizers_does(
    tokenizer, peer
):
    for char in "a ":
        text = char * 100_000
        assert tokenizer.encode(text) == peer.encode(text).ids


def test_our_own_gguf_reader_gives_the_same_tokenizer(tokenizer):
    with GGUFFile(fetch()) as file:
        own = Tokenizer.from_gguf(file.metadata)
    for text in GOLDEN:
        assert own.encode(text) == tokenizer.encode(text)


def test_merge_steps_lead_from_bytes_to_the_tokens(tokenizer):
    for text in ("Hello, world! naïve 🙂", "tokenization"):
        for word in tokenizer.pretokenize(text):
            steps = tokenizer.merge_steps(word)
            ids = tokenizer.encode(word)
            assert len(steps[0]) == len(word.encode())
            assert steps[-1] == [tokenizer.id_to_token(i) for i in ids]
    steps = tokenizer.merge_steps(" the")
    assert steps[1:] == [["Ġt", "h", "e"], ["Ġt", "he"], ["Ġthe"]]
