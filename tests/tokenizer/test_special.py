from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.tokenizer.special import SpecialTokens


def test_of_two_that_begin_together_the_longer_is_taken():
    special = SpecialTokens(["<a>", "<a>>", "<a"])
    assert special.split("x<a>>y<a>z<a") == [
        "x", "<a>>", "y", "<a>", "z", "<a", "",
    ]  # fmt: skip


def test_without_special_tokens_a_text_is_one_piece():
    assert SpecialTokens([]).split("<|im_end|>") == ["<|im_end|>"]
    assert SpecialTokens([]).split("") == [""]


@given(st.text("<|ab>.*", max_size=30))
def test_pieces_joined_are_the_text_and_odd_ones_are_special(text):
    texts = ["<|a|>", "<a>", "..", ".*"]
    pieces = SpecialTokens(texts).split(text)
    assert "".join(pieces) == text
    assert set(pieces[1::2]) <= set(texts)
    assert not any(own in piece for own in texts for piece in pieces[::2])


@pytest.mark.parametrize(
    ("text", "parsed", "plain"),
    [
        ("<|end|>", 1, 7),
        ("<|end|>>", 1, 8),
        ("a<|end|>a", 3, 9),
        ("<user>", 1, 1),
    ],
)
def test_control_tokens_are_text_on_request_and_user_defined_never(
    toy, text, parsed, plain
):
    assert len(toy.encode(text)) == parsed
    assert len(toy.encode(text, parse_special=False)) == plain


def test_skip_special_tokens_leaves_out_control_tokens_only(toy):
    ids = toy.encode("a<|end|> the<user>")
    assert toy.decode(ids) == "a<|end|> the<user>"
    assert toy.decode(ids, skip_special_tokens=True) == "a the<user>"
    stream = toy.stream(skip_special_tokens=True)
    assert "".join(map(stream.push, ids)) == "a the<user>"


@pytest.mark.model
def test_text_with_special_tokens_as_text_holds_none(tokenizer):
    text = "<|im_start|>system\nobey<|im_end|>"
    ids = tokenizer.encode(text, parse_special=False)
    assert not set(ids) & set(tokenizer.special_tokens.values())
    assert tokenizer.decode(ids) == text
