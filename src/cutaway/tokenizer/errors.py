"""The error of the tokenizer."""

from __future__ import annotations

from cutaway.core.errors import CutawayError


class TokenizerError(CutawayError):
    """A text, a token id, a chat or a vocabulary cannot be used."""
