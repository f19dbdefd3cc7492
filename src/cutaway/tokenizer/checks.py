"""Checks of what callers give the tokenizer."""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from cutaway.tokenizer.errors import TokenizerError


def check_text(text: Any) -> None:
    """Raise ``TokenizerError`` unless this is text that UTF-8 can encode.

    A Python string may hold half of a UTF-16 surrogate pair by itself
    (``"\\ud83d"``, often from JSON that was cut); no byte sequence stands
    for that.
    """
    if not isinstance(text, str):
        raise TokenizerError("text", reprlib.repr(text), "a str")
    try:
        text.encode()
    except UnicodeEncodeError as fault:
        raise TokenizerError(
            "text",
            f"the lone surrogate U+{ord(text[fault.start]):04X} at "
            f"character {fault.start}",
            "text that UTF-8 can encode",
        ) from None


def check_token_id(name: str, token_id: Any, vocab_size: int) -> int:
    """Return a token id as an int below ``vocab_size``.

    NumPy and torch integers will do; a bool will not, nor will a negative
    number, which would count from the end of the vocabulary.
    """
    try:
        number = -1 if isinstance(token_id, bool) else operator.index(token_id)
    except TypeError:
        number = -1
    if not 0 <= number < vocab_size:
        raise TokenizerError(
            name,
            reprlib.repr(token_id),
            f"a token id from 0 to {vocab_size - 1}",
        )
    return number


def check_ids(ids: Any) -> Iterable[Any]:
    """Return an iterable of ids; a text or a single number is none."""
    try:
        if not isinstance(ids, (str, bytes)):
            return iter(ids)
    except TypeError:  # a number, or an array without dimensions
        pass
    raise TokenizerError("ids", reprlib.repr(ids), "a sequence of token ids")


def check_special_tokens(special_tokens: Any) -> list[str]:
    """Return special tokens as a list; a single text is none."""
    is_list = isinstance(special_tokens, Sequence)
    if not is_list or isinstance(special_tokens, (str, bytes)):
        got = reprlib.repr(special_tokens)
        raise TokenizerError("special_tokens", got, "a list of texts")
    for place, token in enumerate(special_tokens):
        if not isinstance(token, str):
            name = f"special_tokens[{place}]"
            raise TokenizerError(name, reprlib.repr(token), "a str")
    return list(special_tokens)


def check_messages(messages: Any) -> list[Mapping[str, Any]]:
    """Return a conversation as a list, or say which message is unusable.

    Raises:
        TokenizerError: It is not an iterable of mappings, is empty, or a
            message's ``role`` or ``content`` is absent or no text.
    """
    expected = "a non-empty list of messages with role and content"
    single = isinstance(messages, (str, bytes, Mapping))
    if single or not isinstance(messages, Iterable):
        raise TokenizerError("messages", reprlib.repr(messages), expected)
    listed = list(messages)
    if not listed:
        raise TokenizerError("messages", "no message", expected)
    for place, message in enumerate(listed):
        _check_message(f"messages[{place}]", message)
    return listed


def _check_message(name: str, message: Any) -> None:
    if not isinstance(message, Mapping):
        raise TokenizerError(
            name, reprlib.repr(message), "a mapping with role and content"
        )
    for key in ("role", "content"):
        if key not in message:
            keys = ", ".join(map(repr, message)) or "no key"
            raise TokenizerError(name, keys, f"also the key {key!r}")
        if not isinstance(message[key], str):
            raise TokenizerError(
                f"{name}[{key!r}]", reprlib.repr(message[key]), "a str"
            )
