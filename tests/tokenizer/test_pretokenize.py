from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from cutaway.tokenizer import Pretokenizer, TokenizerError
from oracles import slow_bpe
from oracles.nasty_text import CURATED, random_texts

cut = Pretokenizer("smollm")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("Hello, world!", ["Hello", ",", " world", "!"]),
        ("I'll don't", ["I", "'ll", " don", "'t"]),
        ("I'LL", ["I", "'", "LL"]),
        ("In 2024", ["In", " ", "2", "0", "2", "4"]),
        ("  two  spaces", [" ", " two", " ", " spaces"]),
        ("a  1", ["a", "  ", "1"]),
        ("a \n b", ["a", " \n", " b"]),
        ("a\n\nb", ["a", "\n", "\n", "b"]),
        ("x=  ", ["x", "=", "  "]),
        ("x²½٣", ["x", "²", "½", "٣"]),
        ("e\u0301a", ["e", "\u0301", "a"]),
        ("!\x1c!", ["!\x1c!"]),
    ],
)
def test_known_cuts(text, words):
    assert cut(text) == words


@given(st.text())
def test_the_words_joined_are_the_text_and_none_is_empty(text):
    words = cut(text)
    assert "".join(words) == text
    assert "" not in words


def test_an_unknown_name_is_refused():
    with pytest.raises(TokenizerError, match=r"tokenizer\.ggml\.pre: got 'x'"):
        Pretokenizer("x")


def test_cuts_equal_a_scanner_that_uses_no_regular_expression():
    unassigned = {
        chr(code)
        for code in range(0x110000)
        if unicodedata.category(chr(code)) == "Cn"
    }
    texts = [*CURATED, *random_texts(600, 1, frozenset(unassigned))]
    for text in texts:
        assert cut(text) == slow_bpe.pretokenize(text), ascii(text)


def test_only_characters_newer_than_a_library_are_classed_otherwise(
    newer_characters,
):
    """What differs is, for ``tokenizers``, not yet a letter or number."""
    peer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=True)
    assert len(newer_characters) < 0x40000 * 0.1
    for char in newer_characters:
        assert len(peer.pre_tokenize_str(f"!{char}!")) == 1
        assert len(cut(f"!{char}!")) == 3
    if unicodedata.unidata_version < "17":
        known = {unicodedata.category(char) for char in newer_characters}
        assert known == {"Cn"}
