"""Ordinary text to token ids: cut into words, merge within each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from cutaway.tokenizer.bpe import merge, merge_steps, merge_table
from cutaway.tokenizer.errors import TokenizerError
from cutaway.tokenizer.pretokenize import Pretokenizer
from cutaway.tokenizer.vocab import Vocabulary

MissingBytes = Literal["error", "replace", "drop"]

# Text repeats its words, so most words are looked up instead of merged.
_CACHED_WORDS = 65_536
_LONGEST_CACHED_WORD = 32


class WordEncoder:
    """Encodes text in which no special token is looked for.

    Invariants:

    - the ids do not depend on what was encoded before: the cache holds
      only what merging would give;
    - the cache holds at most 65,536 words of at most 32 characters. When
      it is full it is emptied.

    Args:
        vocab: The tokens.
        merges: Pairs as ``"left right"``, in order of rank.
        pretokenizer: Cuts text into words.
        ignore_merges: A word that is a token is taken whole, even if no
            merges lead to it.

    Raises:
        TokenizerError: The merges do not fit the vocabulary.
    """

    def __init__(
        self,
        vocab: Vocabulary,
        merges: Sequence[str],
        pretokenizer: Pretokenizer,
        ignore_merges: bool = False,
    ) -> None:
        self._vocab = vocab
        self._ignore_merges = ignore_merges
        self._merges = merge_table(merges, vocab.ids)
        self._pretokenize = pretokenizer
        self._missing = bytes(sorted(vocab.missing_bytes))
        self._cache: dict[str, list[int]] = {}

    def encode(
        self, text: str, missing_bytes: MissingBytes, offset: int = 0
    ) -> list[int]:
        """Return the token ids of a text.

        Args:
            text: Text that UTF-8 can encode.
            missing_bytes: What to do with a byte that has no token.
            offset: Where the text starts in the whole, in bytes; for the
                error message.

        Raises:
            TokenizerError: The text holds a byte without a token, and
                ``missing_bytes`` is ``"error"``.

        Cost: O(characters) for words seen before, else O(n log n) for a
        word of n bytes.
        """
        if missing_bytes != "drop":
            text = self._spell(text, missing_bytes, offset)
        ids: list[int] = []
        for word in self._pretokenize(text):
            known = self._cache.get(word)
            ids += self._encode_word(word) if known is None else known
        return ids

    def steps(self, word: str) -> list[list[int]]:
        """Return the ids of one word as they start and after each merge."""
        word = self._spell(word, "error", 0)
        whole = self._whole(word)
        if whole is not None:
            start = self._byte_ids(word)
            return [start] if start == [whole] else [start, [whole]]
        return list(merge_steps(self._byte_ids(word), self._merges))

    def _encode_word(self, word: str) -> list[int]:
        """Merge a word and remember it, unless it is long."""
        whole = self._whole(word)
        if whole is None:
            ids = merge(self._byte_ids(word), self._merges)
        else:
            ids = [whole]
        if len(word) <= _LONGEST_CACHED_WORD:
            if len(self._cache) >= _CACHED_WORDS:
                self._cache.clear()
            self._cache[word] = ids
        return ids

    def _whole(self, word: str) -> int | None:
        """Return the id of a word that is taken whole, else None."""
        return self._vocab.word_id(word) if self._ignore_merges else None

    def _byte_ids(self, word: str) -> list[int]:
        """Return the ids of a word's bytes; one without an id is left out."""
        found = [self._vocab.byte_ids[byte] for byte in word.encode()]
        return [token_id for token_id in found if token_id is not None]

    def _spell(self, text: str, missing_bytes: str, offset: int) -> str:
        """Return a text of which every byte has a token, or raise."""
        data = text.encode()
        if len(data.translate(None, self._missing)) == len(data):
            return text
        if missing_bytes == "replace":
            lacking = self._vocab.missing_bytes
            replaced = [
                char if lacking.isdisjoint(char.encode()) else "\ufffd"
                for char in text
            ]
            return self._spell("".join(replaced), "error", offset)
        place = next(i for i, byte in enumerate(data) if byte in self._missing)
        char = text[len(data[:place].decode("utf-8", "ignore"))]
        raise TokenizerError(
            "text",
            f"byte 0x{data[place]:02X} (of {char!r}) at byte {offset + place}",
            f"the {256 - len(self._missing)} bytes that have a token, or "
            "missing_bytes='replace' or 'drop'",
        )
