"""Token ids to text: the half of a tokenizer that needs no merges."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cutaway.tokenizer.checks import check_ids, check_token_id
from cutaway.tokenizer.stream import StreamDecoder
from cutaway.tokenizer.vocab import Vocabulary


class TokenDecoder:
    """Joins the bytes of tokens and reads them as UTF-8.

    Args:
        vocab: What each token id stands for.

    >>> TokenDecoder(Vocabulary(["H", "i"], [1, 1])).decode([0, 1])
    'Hi'
    """

    def __init__(self, vocab: Vocabulary) -> None:
        self._vocab = vocab
        self._control_ids = frozenset(vocab.control.values())

    # -- the vocabulary ----------------------------------------------------

    @property
    def vocab_size(self) -> int:
        """The number of tokens; ids run from 0 to one less."""
        return len(self._vocab.tokens)

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """The id of each control token, such as ``<|im_start|>``."""
        return self._vocab.control

    @property
    def missing_bytes(self) -> frozenset[int]:
        """The byte values no token stands for (21 in SmolLM2)."""
        return self._vocab.missing_bytes

    def id_to_token(self, token_id: int) -> str:
        """Return a token as the vocabulary writes it: ``"Ġthe"``."""
        number = check_token_id("token_id", token_id, self.vocab_size)
        return self._vocab.tokens[number]

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes a token stands for: ``b" the"``."""
        return self._bytes_of("token_id", token_id, False)

    # -- ids to text -------------------------------------------------------

    def decode(
        self, ids: Iterable[int], *, skip_special_tokens: bool = False
    ) -> str:
        """Return the text of token ids.

        Args:
            ids: Token ids: ints, or NumPy or torch integers.
            skip_special_tokens: Leave control tokens out.

        Returns:
            The text; bytes that are no UTF-8 become U+FFFD.

        Raises:
            TokenizerError: An id is no token's.
        """
        data = [
            self._bytes_of(f"ids[{place}]", token_id, skip_special_tokens)
            for place, token_id in enumerate(check_ids(ids))
        ]
        return b"".join(data).decode("utf-8", "replace")

    def stream(self, *, skip_special_tokens: bool = False) -> StreamDecoder:
        """Return a decoder that takes the ids one at a time.

        Args:
            skip_special_tokens: Leave control tokens out.
        """

        def token_bytes(token_id: int) -> bytes:
            return self._bytes_of("token_id", token_id, skip_special_tokens)

        return StreamDecoder(token_bytes)

    def _bytes_of(self, name: str, token_id: Any, skip_special: bool) -> bytes:
        """Return the bytes of a token after checking its id."""
        number = check_token_id(name, token_id, self.vocab_size)
        if skip_special and number in self._control_ids:
            return b""
        return self._vocab.token_bytes(number)
