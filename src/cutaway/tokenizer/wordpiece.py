"""WordPiece: the longest piece that fits, from left to right.

The vocabulary is all that counts: there are no merges and no ranks. A piece
that does not begin its word is written with ``##`` in front. With the
pieces ``un``, ``##aff`` and ``##able``::

    unaffable    un|affable       "un" is the longest that begins the word
    ##affable    ##aff|able       "##aff" the longest that goes on
    ##able       ##able           nothing is left: un ##aff ##able

If no piece goes on, the *whole* word becomes ``[UNK]``.
"""

from __future__ import annotations

import reprlib
from collections.abc import Iterable, Sequence

import regex

from cutaway.core.checks import check_int
from cutaway.tokenizer.checks import check_ids, check_text, check_token_id
from cutaway.tokenizer.errors import TokenizerError

PREFIX = "##"
_PUNCTUATION = r"\p{P}!-/:-@\[-`{-~"
_WORD = regex.compile(rf"[{_PUNCTUATION}]|[^\s{_PUNCTUATION}]+")


def split_words(text: str) -> list[str]:
    """Cut text at white space, and each punctuation mark by itself.

    Source: BERT's basic tokenizer, without its changes to the text (lower
    case, accents, control characters, spaces around Chinese characters).

    >>> split_words("Don't  stop!")
    ['Don', "'", 't', 'stop', '!']
    """
    return _WORD.findall(text)


class WordPiece:
    """Encodes by greedy longest match, as BERT does.

    Invariants:

    - the ids of a word do not depend on its neighbours;
    - a word that no sequence of greedy matches spells is one ``[UNK]``,
      and so is a word of more than ``max_chars_per_word`` characters;
    - white space is not kept: ``decode(encode(text))`` is the words of
      ``split_words`` with one space between, if none of them is unknown.

    Args:
        tokens: The pieces in order of id; each once.
        unk_token: The piece that stands for a word that cannot be spelled.
        max_chars_per_word: Longer words are unknown at once.

    Raises:
        TokenizerError: A piece is empty or comes twice, or ``unk_token``
            is none of them.
        ArgumentError: ``max_chars_per_word`` is no integer from 1.

    Source: BERT, ``tokenization.py`` (``WordpieceTokenizer``).
    Differs: special tokens such as ``[CLS]`` are neither found in text nor
    added; the limit of a word is Hugging Face's 100 characters, where BERT's
    code has 200.

    >>> pieces = WordPiece(["[UNK]", "un", "##aff", "##able", "##a"])
    >>> pieces.tokenize("unaffable unaffected")
    ['un', '##aff', '##able', '[UNK]']
    """

    def __init__(
        self,
        tokens: Sequence[str],
        *,
        unk_token: str = "[UNK]",
        max_chars_per_word: int = 100,
    ) -> None:
        self.tokens: tuple[str, ...] = _checked(tokens)
        self.ids = {token: number for number, token in enumerate(self.tokens)}
        if unk_token not in self.ids:
            got = repr(unk_token)
            raise TokenizerError("unk_token", got, "one of the tokens")
        self.unk_token = unk_token
        self.max_chars_per_word = check_int(
            "max_chars_per_word", max_chars_per_word, low=1
        )
        self._longest = max(map(len, self.tokens))

    @property
    def vocab_size(self) -> int:
        """The number of pieces."""
        return len(self.tokens)

    def split_word(self, word: str) -> list[str]:
        """Return the pieces of one word.

        Cost: O(n m) for n characters and pieces of at most m.
        """
        if len(word) > self.max_chars_per_word:
            return [self.unk_token]
        pieces: list[str] = []
        start = 0
        while start < len(word):
            mark = PREFIX if start else ""
            end = min(len(word), start + self._longest)
            while end > start and mark + word[start:end] not in self.ids:
                end -= 1
            if end == start:
                return [self.unk_token]
            pieces.append(mark + word[start:end])
            start = end
        return pieces

    def tokenize(self, text: str) -> list[str]:
        """Return the pieces of a text.

        Raises:
            TokenizerError: The text is no ``str`` or holds a lone
                surrogate.
        """
        check_text(text)
        return [
            piece
            for word in split_words(text)
            for piece in self.split_word(word)
        ]

    def encode(self, text: str) -> list[int]:
        """Return the ids of the pieces of a text.

        Raises:
            TokenizerError: As ``tokenize``.
        """
        return [self.ids[piece] for piece in self.tokenize(text)]

    def decode(self, ids: Iterable[int]) -> str:
        """Return the words of some ids with one space between.

        Raises:
            TokenizerError: An id is no piece's.

        Differs: Hugging Face also takes out the space before ``.``, ``,``
        and others (``cleanup``).
        """
        pieces = [
            self.tokens[check_token_id(f"ids[{place}]", i, self.vocab_size)]
            for place, i in enumerate(check_ids(ids))
        ]
        spaced = [
            piece.removeprefix(PREFIX)
            if piece.startswith(PREFIX) and place
            else f" {piece}"
            for place, piece in enumerate(pieces)
        ]
        return "".join(spaced).removeprefix(" ")


def _checked(tokens: Sequence[str]) -> tuple[str, ...]:
    """Return the pieces, or say which of them is unusable."""
    fits = isinstance(tokens, Sequence) and not isinstance(tokens, str)
    if not fits or not tokens:
        got = reprlib.repr(tokens)
        raise TokenizerError("tokens", got, "a list of pieces")
    seen: set[str] = set()
    for place, token in enumerate(tokens):
        if not isinstance(token, str) or not token or token in seen:
            got = reprlib.repr(token)
            expected = "a non-empty text that has not come before"
            raise TokenizerError(f"tokens[{place}]", got, expected)
        seen.add(token)
    return tuple(tokens)
