from __future__ import annotations

import random
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import pre_tokenizers

from cutaway.tokenizer import Pretokenizer, TokenizerError
from cutaway.tokenizer.pretokenize import PRETOKENIZERS
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
    with pytest.raises(TokenizerError, match=r"^pre: got 'x'"):
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


# The four families


@pytest.mark.parametrize("name", PRETOKENIZERS)
def test_cuts_equal_tokenizers_on_nasty_texts(
    name, peer_cuts, newer_characters
):
    ours = Pretokenizer(name)
    marks = random.Random(8)
    near_contractions = [
        "".join(marks.choices("'’sSſtTrReEvVmMlLdD 1\n\r\té.", k=12))
        for _ in range(1000)
    ]
    texts = [
        *CURATED,
        *random_texts(1000, 7, newer_characters),
        *near_contractions,
    ]
    for text in texts:
        spans = [span for _, span in peer_cuts[name].pre_tokenize_str(text)]
        expected = [text[start:end] for start, end in spans]
        assert ours(text) == expected, ascii(text)


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=200, deadline=None)
@pytest.mark.parametrize("name", PRETOKENIZERS)
def test_cuts_of_any_text_equal_tokenizers_and_lose_nothing(
    name, peer_cuts, newer_characters, text
):
    text = "".join(char for char in text if char not in newer_characters)
    words = Pretokenizer(name)(text)
    spans = [span for _, span in peer_cuts[name].pre_tokenize_str(text)]
    assert words == [text[start:end] for start, end in spans]
    assert "".join(words) == text
    assert "" not in words


@pytest.mark.parametrize(
    ("text", "gpt2", "smollm", "llama3", "qwen2"),
    [
        ("12345", "12345", "1|2|3|4|5", "123|45", "1|2|3|4|5"),
        ("I'LL", "I|'|LL", "I|'|LL", "I|'LL", "I|'LL"),
        ("don't", "don|'t", "don|'t", "don|'t", "don|'t"),
        ("(see", "(|see", "(|see", "(see", "(see"),
        ("a\n\nb", "a|\n|\n|b", "a|\n|\n|b", "a|\n\n|b", "a|\n\n|b"),
        (".\n x", ".|\n| x", ".|\n| x", ".\n| x", ".\n| x"),
        ("\tx", "\t|x", "\t|x", "\tx", "\tx"),
        (" 7", " 7", " |7", " |7", " |7"),
    ],
)
def test_the_families_differ_where_they_are_known_to(
    text, gpt2, smollm, llama3, qwen2
):
    cuts = ["|".join(Pretokenizer(name)(text)) for name in PRETOKENIZERS]
    assert cuts == [gpt2, smollm, llama3, qwen2]


@pytest.mark.parametrize("name", ["", "llama3", None, 3, "SMOLLM", ["gpt-2"]])
def test_a_name_that_is_none_of_them_is_refused(name):
    with pytest.raises(TokenizerError, match="expected one of 'gpt-2'"):
        Pretokenizer(name)
