"""Cut text into the words within which merges happen.

BPE never merges across a cut, so the cuts decide what a token can be: with
each digit on its own no token holds two of them, and with a word's leading
space kept at its front `` the`` is one token. The pieces joined give the
text back.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

import regex

from cutaway.tokenizer.errors import TokenizerError

GPT2 = (
    r"'s|'t|'re|'ve|'m|'ll|'d"  # the ends of I'll, don't, it's ...
    r"| ?\p{L}+"  # letters, with the space before them
    r"| ?\p{N}+"  # digits
    r"| ?[^\s\p{L}\p{N}]+"  # anything else that is not space
    r"|\s+(?!\S)"  # spaces, but the last one before a word
    r"|\s+"  # a tab or newline before a word
)
LLAMA3 = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"  # the same in capitals too
    r"|[^\r\n\p{L}\p{N}]?\p{L}+"  # letters, with any one sign before them
    r"|\p{N}{1,3}"  # digits in threes, from the left
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*"  # other signs, with the line's end
    r"|\s*[\r\n]+"  # line ends, with the spaces before them
    r"|\s+(?!\S)"
    r"|\s+"
)
QWEN2 = LLAMA3.replace(r"\p{N}{1,3}", r"\p{N}")  # every digit alone
DIGIT = r"\p{N}"

PRETOKENIZERS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "gpt-2": (GPT2,),
        "smollm": (DIGIT, GPT2),
        "llama-bpe": (LLAMA3,),
        "qwen2": (QWEN2,),
    }
)
"""The patterns of each known cut, by its name in a GGUF file."""


class Pretokenizer:
    """One of the known cuts, which are regular expressions.

    A cut is one pattern or several. They apply one after the other: each
    piece that a pattern leaves is cut by the next as if it were the whole
    text. All are Unicode-aware: ``\\p{L}`` is a letter and ``\\p{N}`` a
    number of any script.

    Args:
        name: The cut's name in a GGUF file (``tokenizer.ggml.pre``):
            ``"gpt-2"``, ``"smollm"``, ``"llama-bpe"`` or ``"qwen2"``.

    Raises:
        TokenizerError: No cut of that name is known.

    Cost: O(characters).
    Source: GPT-2's ``encoder.py``; llama.cpp, ``src/llama-vocab.cpp``, and
    the ``tokenizer.json`` of each model for the others.
    Differs: characters that Unicode added after a library was made are
    classed as neither letter nor digit there; ``regex`` and ``tokenizers``
    can so cut a very new character differently.

    >>> Pretokenizer("smollm")("In 2024, I'll  go")
    ['In', ' ', '2', '0', '2', '4', ',', ' I', "'ll", ' ', ' go']
    >>> Pretokenizer("llama-bpe")("In 2024, I'LL  go")
    ['In', ' ', '202', '4', ',', ' I', "'LL", ' ', ' go']
    """

    def __init__(self, name: str) -> None:
        if not isinstance(name, str) or name not in PRETOKENIZERS:
            known = ", ".join(repr(known) for known in PRETOKENIZERS)
            raise TokenizerError("pre", repr(name), f"one of {known}")
        self.name = name
        *first, last = PRETOKENIZERS[name]
        # A split at a captured match keeps the match as a piece.
        self._splits = [regex.compile(f"({pattern})") for pattern in first]
        self._words = regex.compile(last)

    def __call__(self, text: str) -> list[str]:
        """Return the words of ``text``, in order; none is empty."""
        pieces = [text]
        for pattern in self._splits:
            pieces = [part for piece in pieces for part in pattern.split(piece)]
        cut = self._words.findall
        return [word for piece in pieces for word in cut(piece)]
