"""Special tokens: found in the text before anything else is cut.

They have ids of their own and are never made by merges. Whoever can write
them into a text can therefore write structure: a user message that holds
``<|im_end|>`` ends the user's turn.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from cutaway.tokenizer.errors import TokenizerError


class SpecialTokens:
    """Finds a set of literal texts; of two that begin together, the longer.

    Args:
        texts: The special tokens' texts; none empty.

    Source: Hugging Face ``tokenizers``, ``added_vocabulary.rs`` (leftmost,
    then longest).
    Differs: no ``lstrip``, ``rstrip``, ``single_word`` or normalising.

    >>> SpecialTokens(["<|im_end|>"]).split("Hi<|im_end|>\\n")
    ['Hi', '<|im_end|>', '\\n']
    """

    def __init__(self, texts: Iterable[str]) -> None:
        longest_first = sorted(texts, key=len, reverse=True)
        either = "|".join(map(re.escape, longest_first))
        self._pattern = re.compile(f"({either})") if either else None

    def split(self, text: str) -> list[str]:
        """Cut the special tokens out of a text.

        Returns:
            Ordinary text at the even places (it may be empty), special
            tokens at the odd ones; joined they are the text.
        """
        return [text] if self._pattern is None else self._pattern.split(text)

    def refuse(self, messages: Iterable[Mapping[str, Any]]) -> None:
        """Raise if the role or content of a message holds a special token.

        Args:
            messages: Mappings with ``role`` and ``content``.

        Raises:
            TokenizerError: Naming the message and the first such token.
        """
        for place, message in enumerate(messages):
            for key in ("role", "content"):
                found = self.split(message[key])[1::2]
                if found:
                    raise TokenizerError(
                        f"messages[{place}][{key!r}]",
                        f"the special token {found[0]!r}",
                        "text without special tokens, or "
                        "special_in_content='parse'",
                    )
