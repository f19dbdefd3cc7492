"""Cut text into the words within which merges happen.

BPE never merges across a cut, so the cuts decide what a token can be: with
each digit on its own no token holds two of them, and with a word's leading
space kept at its front `` the`` is one token. The pieces joined give the
text back.
"""

from __future__ import annotations

import regex

from cutaway.tokenizer.errors import TokenizerError

DIGIT = r"(\p{N})"
GPT2_WORD = (
    r"'s|'t|'re|'ve|'m|'ll|'d"  # the ends of I'll, don't, it's ...
    r"| ?\p{L}+"  # letters, with the space before them
    r"| ?\p{N}+"  # digits
    r"| ?[^\s\p{L}\p{N}]+"  # anything else that is not space
    r"|\s+(?!\S)"  # spaces, but the last one before a word
    r"|\s+"  # a tab or newline before a word
)
NAMES = ("smollm",)


class Pretokenizer:
    """The ``smollm`` cut: every digit alone, then GPT-2's words.

    The two patterns apply one after the other, so each piece between two
    digits is cut as if it were the whole text. Both are Unicode-aware:
    ``\\p{N}`` is a digit or number of any script.

    Args:
        name: The cut's name in a GGUF file (``tokenizer.ggml.pre``).

    Raises:
        TokenizerError: No cut of that name is known.

    Cost: O(characters).
    Source: llama.cpp, ``src/llama-vocab.cpp`` (``smollm``); GPT-2's
    ``encoder.py`` for the word pattern.
    Differs: characters that Unicode added after a library was made are
    classed as neither letter nor digit there; ``regex`` and ``tokenizers``
    can so cut a very new character differently.

    >>> Pretokenizer("smollm")("In 2024, I'll  go")
    ['In', ' ', '2', '0', '2', '4', ',', ' I', "'ll", ' ', ' go']
    """

    def __init__(self, name: str) -> None:
        if name not in NAMES:
            known = ", ".join(repr(known) for known in NAMES)
            raise TokenizerError(
                "tokenizer.ggml.pre", repr(name), f"one of {known}"
            )
        self.name = name
        self._digit = regex.compile(DIGIT)
        self._word = regex.compile(GPT2_WORD)

    def __call__(self, text: str) -> list[str]:
        """Return the words of ``text``, in order; none is empty."""
        cut = self._word.findall
        # A split at a captured digit keeps the digit as a piece.
        return [
            word for piece in self._digit.split(text) for word in cut(piece)
        ]
