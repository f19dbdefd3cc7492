from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cutaway.tokenizer import Tokenizer, TokenizerError

G = "tokenizer.ggml."
REQUIRED = ("model", "pre", "tokens", "token_type", "merges", "eos_token_id")


@pytest.mark.parametrize("key", REQUIRED)
def test_a_missing_key_is_named(toy_metadata, key):
    without = {k: v for k, v in toy_metadata.items() if k != G + key}
    with pytest.raises(TokenizerError) as fault:
        Tokenizer.from_gguf(without)
    assert fault.value.name == G + key
    assert fault.value.got == "no such key"


def test_bos_and_template_may_be_absent(toy_metadata):
    without = {k: v for k, v in toy_metadata.items() if k != G + "bos_token_id"}
    assert Tokenizer.from_gguf(without).bos_token_id is None
    assert Tokenizer.from_gguf(without).eos_token_id == 1


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("model", "llama", r"got 'llama', expected 'gpt2'"),
        ("model", 3, r"got 3, expected a string"),
        ("pre", "llama", r"got .llama., expected one of .gpt-2., .smollm."),
        ("pre", None, r"got None, expected a string"),
        ("tokens", "abc", r"got 'abc', expected a list of str"),
        ("tokens", ["a", 1], r"got \['a', 1\], expected a list of str"),
        ("token_type", [1.0], r"got \[1.0\], expected a list of int"),
        ("token_type", [True], r"got \[True\], expected a list of int"),
        ("token_type", [1, 1], r"got 2 types for 264 tokens"),
        ("merges", [b"a b"], r"expected a list of str"),
        ("add_eos_token", True, r"got True, expected False"),
        ("add_space_prefix", True, r"got True, expected False"),
        ("eos_token_id", 264, r"got 264, expected a token id below 264"),
        ("eos_token_id", -1, r"got -1, expected a token id below 264"),
        ("eos_token_id", True, r"got True, expected a token id below 264"),
        ("bos_token_id", "0", r"got '0', expected a token id below 264"),
        ("padding_token_id", 10**9, r"expected a token id below 264"),
    ],
)
def test_a_value_that_will_not_do_is_named(toy_metadata, key, value, message):
    with pytest.raises(TokenizerError, match=message) as fault:
        Tokenizer.from_gguf({**toy_metadata, G + key: value})
    assert fault.value.name == G + key


@pytest.mark.parametrize(
    ("place", "token", "kind", "message"),
    [
        (5, "!", 1, r"tokens: got '!' 2 times, expected every token once"),
        (5, "", 1, r"tokens: got '' 2 times|none empty"),
        (5, "a b", 1, r"tokens\[5\]: got 'a b', expected a normal token"),
        (5, "字", 1, r"tokens\[5\]: got '字', expected a normal token"),
        (5, "!!", 2, r"token_type\[5\]: got 2, expected 1 \(normal\)"),
        (5, "!!", 6, r"token_type\[5\]: got 6, expected 1 \(normal\)"),
    ],
)
def test_tokens_that_make_no_vocabulary_are_named(
    toy_metadata, place, token, kind, message
):
    tokens = list(toy_metadata[G + "tokens"])
    kinds = list(toy_metadata[G + "token_type"])
    tokens[place], kinds[place] = token, kind
    metadata = {**toy_metadata, G + "tokens": tokens, G + "token_type": kinds}
    with pytest.raises(TokenizerError, match=message) as fault:
        Tokenizer.from_gguf(metadata)
    assert fault.value.name.startswith(G)


def test_only_the_error_about_a_gguf_file_names_its_keys(toy_metadata):
    spec = Tokenizer.from_gguf(toy_metadata).spec
    for name, value in (
        ("tokens", [*spec.tokens[:-1], ""]),
        ("kinds", [*spec.kinds, 1]),
        ("merges", [*spec.merges, "x y"]),
        ("pre", "x"),
    ):
        with pytest.raises(TokenizerError) as fault:
            Tokenizer(replace(spec, **{name: value}))
        assert fault.value.name.partition("[")[0] == name


def test_a_merge_of_an_absent_token_is_named(toy_metadata):
    merges = [*toy_metadata[G + "merges"], "x y"]
    with pytest.raises(TokenizerError, match=r"ggml.merges\[6\]: got 'x y'"):
        Tokenizer.from_gguf({**toy_metadata, G + "merges": merges})


def test_a_special_token_may_be_any_text(toy_metadata):
    tokens = ["<字 end>", *toy_metadata[G + "tokens"][1:]]
    tokenizer = Tokenizer.from_gguf({**toy_metadata, G + "tokens": tokens})
    assert tokenizer.encode("a<字 end>a")[1] == 0
    assert tokenizer.decode([0]) == "<字 end>"


def test_a_byte_symbol_that_is_special_makes_no_ordinary_text(toy_metadata):
    kinds = list(toy_metadata[G + "token_type"])
    place = toy_metadata[G + "tokens"].index("!")
    kinds[place] = 3
    tokenizer = Tokenizer.from_gguf({**toy_metadata, G + "token_type": kinds})
    assert tokenizer.missing_bytes == {ord("!"), ord("b")}
    assert tokenizer.encode("!") == [place]
    with pytest.raises(TokenizerError, match="0x21"):
        tokenizer.encode("!", parse_special=False)


def test_numpy_integers_are_token_ids(toy_metadata):
    changed = {**toy_metadata, G + "eos_token_id": np.uint32(7)}
    assert Tokenizer.from_gguf(changed).eos_token_id == 7


def test_metadata_is_left_as_it_was(toy_metadata):
    copy = {
        k: list(v) if isinstance(v, list) else v
        for k, v in toy_metadata.items()
    }
    Tokenizer.from_gguf(toy_metadata).encode("a the")
    assert toy_metadata == copy
