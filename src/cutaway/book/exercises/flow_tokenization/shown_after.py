"""Exercise 4: how much text may be shown after each token."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def shown_after(chunks: list[bytes]) -> list[int]:
    """Return how many whole characters are there after each chunk."""
    shown: list[int] = []
    characters = missing = 0
    for chunk in chunks:
        for byte in chunk:
            if missing:
                missing -= 1
            elif byte >= 0xF0:
                missing = 3
            elif byte >= 0xE0:
                missing = 2
            elif byte >= 0xC0:
                missing = 1
            if not missing:
                characters += 1
        shown.append(characters)
    return shown


def _grade(judge: Judge) -> None:
    rng = judge.rng
    texts = ["a é字🙂!", "🙂🙂", "aé", "字", "plain", "éa", "👩🏿‍🚀 ß\n"]
    # Each of these tells one mistake from the others.
    letter = str(rng.choice(list("abcdef"))).encode()
    _one(judge, [letter, b"b"])
    _one(judge, ["é".encode()])
    _one(judge, [letter, "é".encode()[:1], "é".encode()[1:]])
    alphabet = list("ab é字🙂ß€𝄞")
    for _ in range(20):
        length = int(rng.integers(1, 12))
        texts.append("".join(rng.choice(alphabet, length)))
    for text in texts:
        data = text.encode()
        for widest in (1, 3, 6):
            _one(judge, _chunks(judge, data, widest))
        _one(judge, [data])
        _one(judge, [b"", data[:1], b"", data[1:]])
    _one(judge, ["🙂".encode()[:3]])  # the end never comes
    _one(judge, [b"a", "é".encode()[:1]])


def _chunks(judge: Judge, data: bytes, widest: int) -> list[bytes]:
    chunks = []
    while data:
        width = int(judge.rng.integers(1, widest + 1))
        chunks.append(data[:width])
        data = data[width:]
    return chunks


def _one(judge: Judge, chunks: list[bytes]) -> None:
    expected = shown_after(chunks)
    judge.same_list(judge.call(chunks), expected, chunks, what="count")


def _each_alone(errors: str) -> Callable[[list[bytes]], list[int]]:
    def wrong(chunks: list[bytes]) -> list[int]:
        total, out = 0, []
        for chunk in chunks:
            total += len(chunk.decode("utf-8", errors))
            out.append(total)
        return out

    return wrong


def _with_replacement(chunks: list[bytes]) -> list[int]:
    whole = [b"".join(chunks[: n + 1]) for n in range(len(chunks))]
    return [len(data.decode("utf-8", "replace")) for data in whole]


def _bytes_so_far(chunks: list[bytes]) -> list[int]:
    return [sum(map(len, chunks[: n + 1])) for n in range(len(chunks))]


def _of_each_chunk(chunks: list[bytes]) -> list[int]:
    counts = [0, *shown_after(chunks)]
    return [after - before for before, after in pairwise(counts)]


EXERCISE = Exercise(
    id="flow/tokenization:4",
    title="Characters that are whole",
    reference=shown_after,
    grade=_grade,
    hints=(
        "The first byte of a character says how long it is: below 0x80 one "
        "byte, from 0xC0 two, from 0xE0 three, from 0xF0 four.",
        "Remember from chunk to chunk how many bytes the current character "
        "still lacks. It counts when that number reaches zero.",
        "`codecs.getincrementaldecoder('utf-8')()` keeps the unfinished "
        "bytes for you: its `decode(chunk)` gives the text that is whole.",
    ),
    reread="Characters that are several tokens",
    mistakes=(
        Mistake(
            _with_replacement,
            "an unfinished character was counted; wait for its last byte",
        ),
        Mistake(
            _each_alone("replace"),
            "each chunk was decoded by itself; keep the unfinished bytes",
        ),
        Mistake(
            _each_alone("ignore"),
            "the bytes of a cut character were thrown away; keep them",
        ),
        Mistake(
            _bytes_so_far,
            "these are bytes; a character may have up to four",
        ),
        Mistake(
            _of_each_chunk,
            "the counts are of all chunks so far, not of the last",
        ),
    ),
)
