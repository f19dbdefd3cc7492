"""Exercise 3: WordPiece, the longest piece that fits."""

from __future__ import annotations

from collections.abc import Callable

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge

UNKNOWN = 0


def longest_match(
    word: str, pieces: dict[str, int], max_chars: int
) -> list[int]:
    """Return the ids of a word's pieces, or [0] if it is unknown."""
    if len(word) > max_chars:
        return [UNKNOWN]
    ids: list[int] = []
    start = 0
    while start < len(word):
        mark = "##" if start else ""
        end = len(word)
        while end > start and mark + word[start:end] not in pieces:
            end -= 1
        if end == start:
            return [UNKNOWN]
        ids.append(pieces[mark + word[start:end]])
        start = end
    return ids


def _grade(judge: Judge) -> None:
    # Each of these tells one mistake from the others.
    i, j, k, m = (int(n) for n in judge.rng.permutation(90)[:4] + 1)
    _one(judge, "ab", {"a": i, "b": j, "##b": k}, 100)
    _one(judge, "ab", {"a": i, "##b": j, "ab": k}, 100)
    _one(judge, "ac", {"a": i, "##b": j}, 100)
    _one(judge, "abb", {"a": i, "##b": j}, 3)
    _one(judge, "aé", {"a": i, "##é": j}, 2)
    _one(judge, "abbb", {"a": i, "##b": j}, 3)
    # Greedy does not look back: "abc" is longer than "ab".
    known = {"ab": i, "abc": j, "##cd": k, "##d": m}
    for word in ("abcd", "abc", "abcdd", "acd", "abe", "d", "ab" + "é" * 3):
        _one(judge, word, known, 100)
    for length, max_chars in ((6, 100), (3, 100), (1, 9), (9, 8), (8, 8)):
        for num_pieces in (12, 30, 5):
            pieces = _pieces(judge, num_pieces)
            for _ in range(3):
                letters = judge.rng.choice(list("abc"), length)
                _one(judge, "".join(letters), pieces, max_chars)


def _pieces(judge: Judge, count: int) -> dict[str, int]:
    """Draw pieces over three letters, whole ones and continuations."""
    pieces: dict[str, int] = {}
    for _ in range(count):
        length = int(judge.rng.integers(1, 4))
        text = "".join(judge.rng.choice(list("abc"), length))
        mark = "##" if judge.rng.integers(3) else ""
        pieces.setdefault(mark + text, len(pieces) + 1)
    return pieces


def _one(
    judge: Judge, word: str, pieces: dict[str, int], max_chars: int
) -> None:
    expected = longest_match(word, pieces, max_chars)
    got = judge.call(word, pieces, max_chars)
    judge.same_list(got, expected, word, pieces, max_chars)


def _variant(
    *,
    marked: Callable[[int], str] = lambda start: "##" if start else "",
    shortest: bool = False,
    limit: Callable[[str], int] = len,
    slack: int = 0,
    unknown_part: bool = False,
) -> Callable[[str, dict[str, int], int], list[int]]:
    """Return the loop with one slip in it."""

    def wrong(word: str, pieces: dict[str, int], max_chars: int) -> list[int]:
        if limit(word) > max_chars - slack:
            return [UNKNOWN]
        ids: list[int] = []
        start = 0
        while start < len(word):
            ends = range(start + 1, len(word) + 1)
            for end in ends if shortest else reversed(ends):
                if marked(start) + word[start:end] in pieces:
                    ids.append(pieces[marked(start) + word[start:end]])
                    start = end
                    break
            else:
                if not unknown_part:
                    return [UNKNOWN]
                ids.append(UNKNOWN)
                start += 1
        return ids

    return wrong


EXERCISE = Exercise(
    id="flow/tokenization:3",
    title="The longest piece that fits",
    reference=longest_match,
    grade=_grade,
    hints=(
        "Keep a `start`. Try the ends from `len(word)` down to `start + 1` "
        "and take the first piece that is in the vocabulary.",
        "At the start of the word look for the text itself, later for `##` "
        "and the text.",
        "If no end fits, the answer is `[0]` for the whole word, whatever "
        "was found before.",
    ),
    reread="WordPiece: the longest piece that fits",
    mistakes=(
        Mistake(
            _variant(limit=lambda word: len(word.encode())),
            "max_chars counts characters, not bytes",
        ),
        Mistake(
            _variant(slack=1),
            "a word of exactly max_chars characters is not too long",
        ),
        Mistake(
            _variant(limit=lambda word: 0),
            "a word of more than max_chars characters is unknown",
        ),
        Mistake(
            _variant(unknown_part=True),
            "one missing piece makes the whole word unknown",
        ),
        Mistake(
            _variant(shortest=True),
            "the shortest piece was taken; the longest must be",
        ),
        Mistake(
            _variant(marked=lambda start: ""),
            "a piece that continues a word is written with ## in front",
        ),
        Mistake(
            _variant(marked=lambda start: "##"),
            "the first piece of a word has no ##",
        ),
    ),
)
