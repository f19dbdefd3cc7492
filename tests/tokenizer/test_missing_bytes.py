from __future__ import annotations

import pytest

from cutaway.core.errors import ArgumentError
from cutaway.tokenizer import TokenizerError

MISSING = "04 06 13 14 16 1D C0 C1 F1 F2 F5 F6 F7 F8 F9 FA FB FC FD FE FF"
CASES = {
    # text: the byte, its offset, the replaced text
    "\x04": (0x04, 0, "\ufffd"),
    "a\x04b": (0x04, 1, "a\ufffdb"),
    "é\x06": (0x06, 2, "é\ufffd"),
    "🙂 \x13\x14": (0x13, 5, "🙂 \ufffd\ufffd"),
    "<|im_end|>\x16": (0x16, 10, "<|im_end|>\ufffd"),
    "x<|im_end|>é<|im_end|>.\x1d.": (
        0x1D,
        24,
        "x<|im_end|>é<|im_end|>.\ufffd.",
    ),
    "a\U00050000": (0xF1, 1, "a\ufffd"),
    "\U00040000": (0xF1, 0, "\ufffd"),
    "\U000bffff": (0xF2, 0, "\ufffd"),
    " \U0009abcd!": (0xF2, 1, " \ufffd!"),
}


@pytest.mark.model
def test_the_vocabulary_lacks_21_bytes(tokenizer):
    assert len(tokenizer.missing_bytes) == 21
    assert tokenizer.missing_bytes == set(bytes.fromhex(MISSING))


@pytest.mark.model
@pytest.mark.parametrize("text", CASES)
def test_by_default_a_missing_byte_raises_and_is_named(tokenizer, text):
    byte, offset, _ = CASES[text]
    assert text.encode()[offset] == byte
    with pytest.raises(TokenizerError) as fault:
        tokenizer.encode(text)
    assert fault.value.name == "text"
    assert f"byte 0x{byte:02X} " in fault.value.got
    assert fault.value.got.endswith(f"at byte {offset}")
    assert "235 bytes" in fault.value.expected


@pytest.mark.model
@pytest.mark.parametrize("text", CASES)
def test_replace_puts_ufffd_for_each_character(tokenizer, text):
    _, _, replaced = CASES[text]
    ids = tokenizer.encode(text, missing_bytes="replace")
    assert ids == tokenizer.encode(replaced)
    assert tokenizer.decode(ids) == replaced


@pytest.mark.model
@pytest.mark.parametrize("text", CASES)
def test_drop_gives_the_ids_of_tokenizers(tokenizer, peer, text):
    ids = tokenizer.encode(text, missing_bytes="drop")
    assert ids == peer.encode(text).ids


@pytest.mark.model
def test_drop_gives_the_ids_of_llama_cpp(tokenizer):
    assert tokenizer.encode("a\x04b", missing_bytes="drop") == [81, 82]
    ids = tokenizer.encode("\U00050000", missing_bytes="drop")
    assert ids == [234, 218, 218]


@pytest.mark.model
def test_dropping_lets_neighbours_merge(tokenizer):
    dropped = tokenizer.encode(".\x04.", missing_bytes="drop")
    assert dropped == tokenizer.encode("..")


@pytest.mark.model
def test_every_character_outside_the_missing_bytes_is_encodable(tokenizer):
    planes = (0, 1, 2, 3, 12, 15, 16)
    for plane in planes:
        for code in range(plane << 16, (plane + 1) << 16, 251):
            if 0xD800 <= code <= 0xDFFF or code in tokenizer.missing_bytes:
                continue
            assert tokenizer.decode(tokenizer.encode(chr(code))) == chr(code)


@pytest.mark.model
def test_merge_steps_refuse_a_missing_byte(tokenizer):
    with pytest.raises(TokenizerError, match="0x04"):
        tokenizer.merge_steps("\x04")


def test_replace_needs_the_bytes_of_ufffd(toy_metadata):
    from cutaway.tokenizer import BYTE_TO_SYMBOL, Tokenizer

    changed = dict(toy_metadata)
    tokens = list(changed["tokenizer.ggml.tokens"])
    tokens[tokens.index(BYTE_TO_SYMBOL[0xEF])] = "unrelated"
    changed["tokenizer.ggml.tokens"] = tokens
    lacking = Tokenizer.from_gguf(changed)
    assert lacking.missing_bytes == {ord("b"), 0xEF}
    with pytest.raises(TokenizerError, match=r"0xEF .* at byte 1"):
        lacking.encode("ab", missing_bytes="replace")


def test_a_special_token_may_hold_a_byte_that_text_may_not(toy_metadata):
    from cutaway.tokenizer import Tokenizer

    changed = dict(toy_metadata)
    changed["tokenizer.ggml.tokens"] = [
        "<b>", *toy_metadata["tokenizer.ggml.tokens"][1:]
    ]  # fmt: skip
    tokenizer = Tokenizer.from_gguf(changed)
    assert tokenizer.encode("<b>") == [0]
    with pytest.raises(TokenizerError, match=r"0x62 .* at byte 4"):
        tokenizer.encode("<b>ab")
    with pytest.raises(TokenizerError, match=r"0x62 .* at byte 1"):
        tokenizer.encode("<b>", parse_special=False)


def test_an_unknown_mode_is_refused(toy):
    with pytest.raises(ArgumentError, match="missing_bytes: got 'ignore'"):
        toy.encode("a", missing_bytes="ignore")
