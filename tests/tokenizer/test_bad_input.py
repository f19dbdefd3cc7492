from __future__ import annotations

import numpy as np
import pytest

from cutaway.core.errors import CutawayError
from cutaway.tokenizer import TokenizerError


@pytest.mark.parametrize("text", [None, 7, b"bytes", ["a"], 1.5])
@pytest.mark.parametrize("method", ["encode", "pretokenize", "merge_steps"])
def test_what_is_no_str_is_refused(toy, method, text):
    with pytest.raises(TokenizerError, match=r"text: got .*, expected a str"):
        getattr(toy, method)(text)


@pytest.mark.parametrize(
    ("text", "got"),
    [
        ("\ud800", "the lone surrogate U+D800 at character 0"),
        ("ab\udfff", "the lone surrogate U+DFFF at character 2"),
        ("é🙂\udc80x\ud800", "the lone surrogate U+DC80 at character 2"),
        ("\ud83d\ude42", "the lone surrogate U+D83D at character 0"),
    ],
)
@pytest.mark.parametrize("mode", ["error", "replace", "drop"])
def test_a_lone_surrogate_is_named_with_its_place(toy, mode, text, got):
    with pytest.raises(TokenizerError) as fault:
        toy.encode(text, missing_bytes=mode)
    assert (fault.value.name, fault.value.got) == ("text", got)
    assert isinstance(fault.value, CutawayError)


BAD_IDS = [-1, -262, 264, 10**12, True, False, np.True_, 1.0, "1", None, [1]]


@pytest.mark.parametrize("bad", BAD_IDS, ids=repr)
def test_an_id_that_is_no_tokens_is_named_with_its_place(toy, bad):
    assert toy.vocab_size == 264
    with pytest.raises(TokenizerError) as fault:
        toy.decode([3, 4, bad])
    assert fault.value.name == "ids[2]"
    assert fault.value.expected == "a token id from 0 to 263"
    for method in (toy.id_to_token, toy.token_bytes, toy.stream().push):
        with pytest.raises(TokenizerError, match="token_id: got"):
            method(bad)


@pytest.mark.parametrize("ids", [None, 5, "12", b"12", np.array(5)])
def test_what_is_no_sequence_of_ids_is_refused(toy, ids):
    with pytest.raises(TokenizerError, match=r"ids: got .* token ids"):
        toy.decode(ids)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int32, np.int64])
def test_numpy_integers_are_ids(toy, dtype):
    ids = np.array(toy.encode("a the"), dtype=np.int64)
    ids = np.clip(ids, 0, 100).astype(dtype)
    assert toy.decode(ids) == toy.decode(ids.tolist())
    assert toy.token_bytes(dtype(3)) == toy.token_bytes(3)
    assert toy.stream().push(dtype(100)) == toy.decode([100])


def test_no_ids_are_no_text_and_no_text_is_no_ids(toy):
    assert toy.decode([]) == ""
    assert toy.decode(iter(())) == ""
    assert toy.encode("") == []
    assert toy.pretokenize("") == []


def test_a_failed_call_changes_nothing(toy):
    before = toy.encode("a the é")
    for bad in ("b", "a\ud800", 3):
        with pytest.raises(TokenizerError):
            toy.encode(bad)
    assert toy.encode("a the é") == before


def test_tokens_show_as_written_and_as_bytes(toy):
    (token_id,) = toy.encode(" the")
    assert toy.id_to_token(token_id) == "Ġthe"
    assert toy.token_bytes(token_id) == b" the"
    assert toy.token_bytes(2) == b"<user>"
    assert repr(toy) == "Tokenizer(vocab_size=264, pre='smollm')"


def test_special_tokens_cannot_be_changed_from_outside(toy):
    with pytest.raises(TypeError):
        toy.special_tokens["x"] = 1
