"""Unigram: of all ways to cut a text, the most probable one.

Each piece has a probability, and a cut is as probable as the product of
its pieces. With log-probabilities that is a sum, and the best cut is a
longest path, found from left to right: the best cut that ends here is the
best one that ends earlier and one more piece.
"""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cutaway.core.checks import check_real
from cutaway.tokenizer.checks import check_ids, check_text, check_token_id
from cutaway.tokenizer.errors import TokenizerError
from cutaway.tokenizer.stream import StreamDecoder

SPACE = "▁"
UNK_PENALTY = 10.0
_BYTE = re.compile(r"<0x([0-9A-F]{2})>")


def viterbi(
    text: str,
    scores: Mapping[str, float],
    unk_score: float = -math.inf,
    longest: int | None = None,
) -> list[str]:
    """Return the pieces of the most probable cut of a text.

    Args:
        text: The text, with spaces already written as ``▁``.
        scores: The log-probability of each piece.
        unk_score: What a character costs that is no piece. With ``-inf``
            such a text has no cut.
        longest: Characters of the longest piece, if it is known: a caller
            with many texts counts once, not for each.

    Returns:
        Pieces that joined are the text. Of equally probable cuts it is the
        one whose last piece is longest, then the last but one, and so on.

    Raises:
        TokenizerError: The text has no cut.

    Cost: O(n m) for n characters and pieces of at most m.
    Source: Kudo 2018, arXiv 1804.10959, section 3.1.

    >>> scores = {"a": -1.0, "b": -1.2, "ab": -2.1, "c": -1.5}
    >>> viterbi("abc", scores)
    ['ab', 'c']
    """
    if longest is None:
        longest = max(map(len, scores), default=1)
    # For each place: the score of the best cut that ends there, and where
    # its last piece starts.
    best = [(0.0, 0)] + [(-math.inf, -1)] * len(text)
    for start in range(len(text)):
        here, origin = best[start]
        if origin < 0:
            continue  # no cut ends here
        for end in range(start + 1, min(start + longest, len(text)) + 1):
            score = scores.get(text[start:end])
            if score is not None and score + here > best[end][0]:
                best[end] = (score + here, start)
        if text[start] not in scores and unk_score + here > best[start + 1][0]:
            best[start + 1] = (unk_score + here, start)
    return _walk_back(text, [start for _, start in best])


def _walk_back(text: str, starts: Sequence[int]) -> list[str]:
    """Follow the starts of the last pieces from the end of the text."""
    if starts[-1] < 0:
        expected = "a text that the pieces spell"
        raise TokenizerError("text", reprlib.repr(text), expected)
    pieces: list[str] = []
    end = len(text)
    while end > 0:
        pieces.append(text[starts[end] : end])
        end = starts[end]
    return pieces[::-1]


class Unigram:
    """Encodes by the most probable cut, as SentencePiece's unigram does.

    A space is written as ``▁``, and one more is put before the text, so
    that a word has the same pieces wherever it stands.

    Invariants:

    - ``decode(encode(text)) == text`` if no character is unknown or
      ``byte_fallback`` is on, for text that does not hold ``▁`` itself;
    - text never becomes a control piece: ``<unk>`` and ``<0x41>`` in a text
      are spelled like any other.

    Args:
        pieces: Each piece with its log-probability, in order of id. The
            scores of ``unk_piece`` and of byte pieces are not used.
        unk_piece: The piece that stands for characters without a piece; a
            run of them is one.
        byte_fallback: Spell such characters with the pieces ``<0x00>`` to
            ``<0xFF>`` instead, of which there must be all 256.
        dummy_prefix: Put a space before the text.

    Raises:
        TokenizerError: A piece is empty or comes twice, ``unk_piece`` is
            none of them, or a byte piece is missing.
        ArgumentError: A score is no finite number.

    Source: SentencePiece, ``unigram_model.cc``; an unknown character costs
    10 more than the least probable piece.
    Differs: Hugging Face ``tokenizers`` also finds control pieces in text,
    and puts no second space before a text that begins with one.

    >>> pieces = [("<unk>", 0), ("▁", -2), ("▁lo", -1), ("w", -2), ("lo", -3)]
    >>> Unigram(pieces).tokenize("low lox")
    ['▁lo', 'w', '▁lo', 'x']
    >>> Unigram(pieces).encode("low lox")
    [2, 3, 2, 0]
    """

    def __init__(
        self,
        pieces: Sequence[tuple[str, float]],
        *,
        unk_piece: str = "<unk>",
        byte_fallback: bool = False,
        dummy_prefix: bool = True,
    ) -> None:
        self.pieces = _checked(pieces)
        self.ids = {piece: i for i, (piece, _) in enumerate(self.pieces)}
        if unk_piece not in self.ids:
            got = repr(unk_piece)
            raise TokenizerError("unk_piece", got, "one of the pieces")
        self.unk_id = self.ids[unk_piece]
        self.byte_fallback = byte_fallback
        self.dummy_prefix = dummy_prefix
        self.scores = {
            piece: score
            for piece, score in self.pieces
            if piece != unk_piece
            and not (byte_fallback and _BYTE.fullmatch(piece))
        }
        least = min(self.scores.values(), default=0.0)
        self._unk_score = least - UNK_PENALTY
        self._longest = max(map(len, self.scores), default=1)
        if byte_fallback:
            for byte in range(256):
                if _byte_piece(byte) not in self.ids:
                    got = f"no {_byte_piece(byte)}"
                    raise TokenizerError("pieces", got, "all 256 bytes")

    @property
    def vocab_size(self) -> int:
        """The number of pieces."""
        return len(self.pieces)

    def tokenize(self, text: str) -> list[str]:
        """Return the pieces of a text; an unknown run stays as it is.

        Raises:
            TokenizerError: The text is no ``str`` or holds a lone
                surrogate.
        """
        check_text(text)
        if not text:
            return []
        marked = SPACE * self.dummy_prefix + text.replace(" ", SPACE)
        found: list[str] = []
        unknown = False
        unk_score, longest = self._unk_score, self._longest
        for piece in viterbi(marked, self.scores, unk_score, longest):
            if piece not in self.scores and unknown:
                found[-1] += piece
            else:
                found.append(piece)
            unknown = piece not in self.scores
        return found

    def encode(self, text: str) -> list[int]:
        """Return the ids of the pieces of a text.

        Raises:
            TokenizerError: As ``tokenize``.
        """
        ids: list[int] = []
        for piece in self.tokenize(text):
            if piece in self.scores:
                ids.append(self.ids[piece])
            elif self.byte_fallback:
                ids += [self.ids[_byte_piece(b)] for b in piece.encode()]
            else:
                ids.append(self.unk_id)
        return ids

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes a piece stands for: ``b" low"``, ``b"\\xf0"``."""
        return self._bytes_of("token_id", token_id)

    def decode(self, ids: Iterable[int]) -> str:
        """Return the text of some ids.

        Raises:
            TokenizerError: An id is no piece's.

        Differs: bytes that are no UTF-8 become U+FFFD as Python's
        ``"replace"`` does it, in byte pieces and across them.
        """
        data = [
            self._bytes_of(f"ids[{place}]", token_id)
            for place, token_id in enumerate(check_ids(ids))
        ]
        whole = b"".join(data)
        if self.dummy_prefix:
            whole = whole.removeprefix(b" ")
        return whole.decode("utf-8", "replace")

    def stream(self) -> StreamDecoder:
        """Return a decoder that takes the ids one at a time."""
        at_start = self.dummy_prefix

        def token_bytes(token_id: int) -> bytes:
            nonlocal at_start
            data = self._bytes_of("token_id", token_id)
            if at_start:
                data = data.removeprefix(b" ")
                at_start = False
            return data

        return StreamDecoder(token_bytes)

    def _bytes_of(self, name: str, token_id: Any) -> bytes:
        """Return the bytes of a piece after checking its id."""
        number = check_token_id(name, token_id, self.vocab_size)
        piece = self.pieces[number][0]
        byte = _BYTE.fullmatch(piece) if self.byte_fallback else None
        if byte is not None:
            return bytes([int(byte[1], 16)])
        return piece.replace(SPACE, " ").encode()


def _byte_piece(byte: int) -> str:
    return f"<0x{byte:02X}>"


def _checked(pieces: Any) -> tuple[tuple[str, float], ...]:
    """Return the pieces and scores, or say which of them is unusable."""
    fits = isinstance(pieces, Sequence) and not isinstance(pieces, str)
    if not fits or not pieces:
        got = reprlib.repr(pieces)
        raise TokenizerError("pieces", got, "a list of pairs (piece, score)")
    found: dict[str, float] = {}
    for place, entry in enumerate(pieces):
        name = f"pieces[{place}]"
        pair = entry if isinstance(entry, Sequence) else ()
        if len(pair) != 2 or not isinstance(pair[0], str):
            raise TokenizerError(name, reprlib.repr(entry), "(piece, score)")
        if not pair[0] or pair[0] in found:
            expected = "a non-empty text that has not come before"
            raise TokenizerError(name, repr(pair[0]), expected)
        found[pair[0]] = check_real(f"{name}[1]", pair[1], -math.inf)
    return tuple(found.items())
