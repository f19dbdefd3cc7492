"""Byte-level BPE by the book: no regular expression, no heap, no cache.

Words are cut by a hand-written scanner over Unicode categories, merges are
looked up in the list of merges as text. Quadratic and worse on purpose.
"""

from __future__ import annotations

import unicodedata

# The characters of Unicode's White_Space property (PropList.txt).
WHITE_SPACE = frozenset(
    "\t\n\v\f\r \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
CONTRACTIONS = ("'s", "'t", "'re", "'ve", "'m", "'ll", "'d")


def kind(char: str) -> str:
    """Return "L" letter, "N" number, "S" white space or "O" other."""
    if char in WHITE_SPACE:
        return "S"
    major = unicodedata.category(char)[0]
    return major if major in "LN" else "O"


def pretokenize(text: str) -> list[str]:
    """Cut text as the ``smollm`` pre-tokenizer does."""
    words = []
    piece = ""
    for char in text:
        if kind(char) == "N":
            words += _gpt2_words(piece)
            words.append(char)
            piece = ""
        else:
            piece += char
    return words + _gpt2_words(piece)


def _gpt2_words(piece: str) -> list[str]:
    words = []
    start = 0
    while start < len(piece):
        end = _word_end(piece, start)
        words.append(piece[start:end])
        start = end
    return words


def _run_end(piece: str, start: int) -> int:
    """Return where the run of one kind that begins at start ends."""
    end = start
    while end < len(piece) and kind(piece[end]) == kind(piece[start]):
        end += 1
    return end


def _word_end(piece: str, start: int) -> int:
    for contraction in CONTRACTIONS:
        if piece.startswith(contraction, start):
            return start + len(contraction)
    first = start + 1 if piece[start] == " " else start
    if first < len(piece) and kind(piece[first]) != "S":
        return _run_end(piece, first)
    # White space: all of it at the end of the piece; before a word, all
    # but the last, which is that word's own (or, if no blank, alone).
    end = _run_end(piece, start)
    return end if end == len(piece) or end == start + 1 else end - 1


def byte_symbols() -> list[str]:
    """Return GPT-2's printable character for each byte value."""
    symbols = [""] * 256
    spare = 0
    for byte in range(256):
        if 33 <= byte <= 126 or 161 <= byte <= 172 or 174 <= byte <= 255:
            symbols[byte] = chr(byte)
        else:
            symbols[byte] = chr(256 + spare)
            spare += 1
    return symbols


def merge_word(
    symbols: list[str], ranks: dict[tuple[str, str], int]
) -> list[str]:
    """Join the pair of lowest rank, leftmost, until none has a rank."""
    word = list(symbols)
    while True:
        ranked = [
            (ranks[word[i], word[i + 1]], i)
            for i in range(len(word) - 1)
            if (word[i], word[i + 1]) in ranks
        ]
        if not ranked:
            return word
        i = min(ranked)[1]
        word = [*word[:i], word[i] + word[i + 1], *word[i + 2 :]]


class SlowBPE:
    """Encodes ordinary text (no special tokens), dropping missing bytes."""

    def __init__(self, tokens: list[str], merges: list[str]) -> None:
        self.ids = {token: i for i, token in enumerate(tokens)}
        pairs = [tuple(merge.split(" ")) for merge in merges]
        self.ranks = {pair: rank for rank, pair in enumerate(pairs)}
        self.symbols = byte_symbols()

    def encode(self, text: str) -> list[int]:
        ids = []
        for word in pretokenize(text):
            symbols = [self.symbols[byte] for byte in word.encode("utf-8")]
            known = [symbol for symbol in symbols if symbol in self.ids]
            merged = merge_word(known, self.ranks)
            ids += [self.ids[token] for token in merged]
        return ids
