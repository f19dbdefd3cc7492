"""The tokens: their ids, their bytes, and which of them are special."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from cutaway.tokenizer.errors import TokenizerError
from cutaway.tokenizer.symbols import BYTE_TO_SYMBOL, to_bytes, to_symbols

# The kinds of token in GGUF's ``tokenizer.ggml.token_type``.
NORMAL, CONTROL, USER_DEFINED = 1, 3, 4


class Vocabulary:
    """What each token id stands for.

    A normal token is written in byte symbols; a special one as the text it
    matches. Special are control tokens, which mark structure
    (``<|im_start|>``), and user-defined ones, text that is never cut.

    Args:
        tokens: The tokens in order of id.
        kinds: The GGUF token type of each: 1, 3 or 4.

    Raises:
        TokenizerError: The lengths differ, a token is empty or comes
            twice, a kind is unknown, or a normal token is not written in
            byte symbols.

    Attributes:
        tokens: The tokens as the file writes them.
        ids: The id of each token.
        control: The id of each control token.
        user_defined: The id of each user-defined token.
        byte_ids: For each byte value the id of its token, or None.
        missing_bytes: The byte values that have no token.

    >>> vocab = Vocabulary(["<|end|>", "t", "Ġ", "Ġt"], [3, 1, 1, 1])
    >>> vocab.token_bytes(3), vocab.control["<|end|>"], len(vocab.missing_bytes)
    (b' t', 0, 254)
    """

    def __init__(self, tokens: Sequence[str], kinds: Sequence[int]) -> None:
        _check(tokens, kinds)
        self.tokens: tuple[str, ...] = tuple(tokens)
        self.ids: Mapping[str, int] = MappingProxyType(
            {token: token_id for token_id, token in enumerate(tokens)}
        )
        self.control = self._of_kind(CONTROL, kinds)
        self.user_defined = self._of_kind(USER_DEFINED, kinds)
        self._special_ids = special = frozenset(
            [*self.control.values(), *self.user_defined.values()]
        )
        found = [self.ids.get(symbol) for symbol in BYTE_TO_SYMBOL]
        self.byte_ids: tuple[int | None, ...] = tuple(
            [None if token_id in special else token_id for token_id in found]
        )
        self.missing_bytes = frozenset(
            byte
            for byte, token_id in enumerate(self.byte_ids)
            if token_id is None
        )

    def token_bytes(self, token_id: int) -> bytes:
        """Return the bytes a token decodes to."""
        token = self.tokens[token_id]
        if token_id in self._special_ids:
            return token.encode()
        return to_bytes(token)

    def word_id(self, word: str) -> int | None:
        """Return the id of the normal token that is this word, or None."""
        token_id = self.ids.get(to_symbols(word.encode()))
        return None if token_id in self._special_ids else token_id

    def _of_kind(self, kind: int, kinds: Sequence[int]) -> Mapping[str, int]:
        return MappingProxyType(
            {
                token: token_id
                for token_id, token in enumerate(self.tokens)
                if kinds[token_id] == kind
            }
        )


def _check(tokens: Sequence[str], kinds: Sequence[int]) -> None:
    """Refuse tokens and kinds that do not make a vocabulary."""
    if len(tokens) != len(kinds):
        raise TokenizerError(
            "kinds",
            f"{len(kinds)} types for {len(tokens)} tokens",
            "one for each token",
        )
    if len(set(tokens)) < len(tokens) or "" in tokens:
        token, times = Counter(["", *tokens]).most_common(1)[0]
        raise TokenizerError(
            "tokens",
            f"{token!r} {times} times",
            "every token once, and none empty",
        )
    for token_id, kind in enumerate(kinds):
        if kind not in (NORMAL, CONTROL, USER_DEFINED):
            raise TokenizerError(
                f"kinds[{token_id}]",
                kind,
                "1 (normal), 3 (control) or 4 (user-defined)",
            )
    if set("".join(tokens)) <= set(BYTE_TO_SYMBOL):
        return
    for token_id, (token, kind) in enumerate(zip(tokens, kinds, strict=True)):
        if kind == NORMAL and not set(token) <= set(BYTE_TO_SYMBOL):
            raise TokenizerError(
                f"tokens[{token_id}]",
                repr(token),
                "a normal token written in byte symbols",
            )
