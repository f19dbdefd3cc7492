from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.tokenizer import StreamDecoder, TokenizerError
from oracles.nasty_text import CURATED
from oracles.utf8 import half_surrogate, unfinished_tail

BYTES = {
    "two, three and four bytes": "aé字🙂".encode(),
    "a flag": "🇫🇷".encode(),
    "a lone continuation": b"\x80a\xbf",
    "a lead without its rest": b"\xe5a",
    "an overlong form": b"\xc0\xaf\xe0\x80\x80",
    "a surrogate": b"\xed\xa0\x80x",
    "beyond Unicode": b"\xf4\x90\x80\x80",
    "an unfinished tail": "🙂".encode()[:3],
    "two unfinished": b"\xf0\x9f\xf0\x9f\x99\x82",
    "byte order mark": "\ufeffa".encode(),
}


def chunkings(data: bytes):
    """Yield every way to cut data into consecutive non-empty chunks."""
    inner = range(1, len(data))
    for count in range(len(data)):
        for cuts in combinations(inner, count):
            ends = [*cuts, len(data)]
            starts = [0, *cuts]
            yield [data[a:b] for a, b in zip(starts, ends, strict=True)]


@pytest.mark.parametrize("data", BYTES.values(), ids=BYTES.keys())
def test_every_chunking_gives_the_text_of_all_bytes_at_once(data):
    for chunks in chunkings(data):
        check_stream(chunks)


@given(st.lists(st.binary(max_size=5), max_size=12))
def test_any_chunks_give_the_text_of_all_bytes_at_once(chunks):
    check_stream(chunks)


def check_stream(chunks: list[bytes]) -> None:
    """After each chunk all is out but a character that may yet be whole."""
    stream = StreamDecoder(chunks.__getitem__)
    said = ""
    seen = b""
    for place, chunk in enumerate(chunks):
        said += stream.push(place)
        seen += chunk
        held = unfinished_tail(seen) or half_surrogate(seen)
        ready = seen[: len(seen) - len(held)]
        assert said == ready.decode("utf-8", "replace")
    said += stream.finish()
    assert said == seen.decode("utf-8", "replace")


@pytest.mark.model
def test_streamed_text_is_the_decoded_text(tokenizer):
    for text in CURATED:
        ids = tokenizer.encode(text, missing_bytes="replace")
        stream = tokenizer.stream()
        pieces = [stream.push(token_id) for token_id in ids]
        assert "".join(pieces) + stream.finish() == tokenizer.decode(ids)


@pytest.mark.model
@given(st.lists(st.integers(0, 49151), max_size=30), st.booleans())
@settings(max_examples=200, deadline=None)
def test_streamed_text_is_the_decoded_text_for_any_ids(tokenizer, ids, skip):
    stream = tokenizer.stream(skip_special_tokens=skip)
    pieces = [stream.push(token_id) for token_id in ids]
    said = "".join(pieces) + stream.finish()
    assert said == tokenizer.decode(ids, skip_special_tokens=skip)


@pytest.mark.model
def test_an_emoji_of_several_tokens_comes_out_with_its_last(tokenizer):
    ids = tokenizer.encode("👩🏿")
    assert len(ids) > 2
    stream = tokenizer.stream()
    pieces = [stream.push(token_id) for token_id in ids]
    assert [piece for piece in pieces if piece] == ["👩", "🏿"]
    assert "\ufffd" not in "".join(pieces)
    assert stream.finish() == ""


@pytest.mark.model
def test_a_character_cut_short_shows_as_ufffd_in_finish_only(tokenizer):
    ids = tokenizer.encode("👩🏿")[:-1]
    stream = tokenizer.stream()
    assert "".join(map(stream.push, ids)) == "👩"
    assert stream.finish() == "\ufffd"


@pytest.mark.parametrize("bad", [-1, 10_000, True, "a", 1.0, None])
def test_a_push_that_raises_leaves_the_stream_as_it_was(toy, bad):
    first, second = toy.encode("ê")
    stream = toy.stream()
    assert stream.push(first) == ""
    with pytest.raises(TokenizerError, match="token_id"):
        stream.push(bad)
    assert stream.push(second) == "ê"


def test_after_finish_a_stream_takes_no_more(toy):
    stream = toy.stream()
    stream.push(toy.encode("a")[0])
    assert stream.finish() == ""
    assert stream.finish() == ""
    with pytest.raises(TokenizerError, match=r"after finish\(\)"):
        stream.push(3)
