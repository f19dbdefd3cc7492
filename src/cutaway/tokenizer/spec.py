"""What a model's file says of its tokenizer, read and checked."""

from __future__ import annotations

import operator
import reprlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from cutaway.tokenizer.errors import TokenizerError

_PREFIX = "tokenizer.ggml."
# The keys of a file that become fields of a spec as they are.
_KEYS = {
    "tokens": "tokens",
    "kinds": "token_type",
    "merges": "merges",
    "pre": "pre",
}
# Set, these change what ``encode`` must do in ways it does not.
_UNSUPPORTED_FLAGS = ("add_eos_token", "add_space_prefix")
# Cuts whose models take a word that is a token whole, and begin a text
# with a token of their own unless the file says otherwise.
_LLAMA3 = ("llama-bpe",)
# The names by which a chat template may use a special token.
_TEMPLATE_NAMES = {
    "bos_token": "bos_token_id",
    "eos_token": "eos_token_id",
    "unk_token": "unknown_token_id",
    "pad_token": "padding_token_id",
}


@dataclass(frozen=True, kw_only=True)
class TokenizerSpec:
    """The data of a byte-level BPE tokenizer.

    Attributes:
        tokens: The tokens in order of id.
        kinds: The GGUF token type of each: 1 normal, 3 control, 4
            user-defined.
        merges: Pairs as ``"left right"``, in order of rank.
        pre: The name of the pre-tokenizer.
        eos_token_id: The token that ends an answer, or None.
        bos_token_id: The token that begins a text, or None.
        add_bos: ``encode`` puts that token first.
        ignore_merges: A word that is a token needs no merges: Llama 3.
        normalizer: ``"NFC"`` if text is brought to that form of Unicode
            first, as in Qwen2's ``tokenizer.json``; else None.
        chat_template: The Jinja source of the chat template, or None.
        template_names: Tokens the template may use by name, such as
            ``eos_token``.
    """

    tokens: Sequence[str]
    kinds: Sequence[int]
    merges: Sequence[str]
    pre: str
    eos_token_id: int | None = None
    bos_token_id: int | None = None
    add_bos: bool = False
    ignore_merges: bool = False
    normalizer: Literal["NFC"] | None = None
    chat_template: str | None = None
    template_names: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def from_gguf(cls, metadata: Mapping[str, Any]) -> TokenizerSpec:
        """Read the data from the key-value pairs of a GGUF file.

        Raises:
            TokenizerError: A key is missing or of the wrong type, a token
                id is out of range, or the file asks for a tokenizer of
                another kind.
        """
        model = _text(metadata, _PREFIX + "model")
        if model != "gpt2":
            raise TokenizerError(
                _PREFIX + "model", repr(model), "'gpt2' (byte-level BPE)"
            )
        for flag in _UNSUPPORTED_FLAGS:
            if metadata.get(_PREFIX + flag):
                raise TokenizerError(_PREFIX + flag, True, "False")
        tokens = _list_of(str, metadata, _PREFIX + "tokens")
        named = {
            name: tokens[token_id]
            for name, key in _TEMPLATE_NAMES.items()
            if (token_id := _token_id(metadata, key, tokens)) is not None
        }
        eos_token_id = _token_id(metadata, "eos_token_id", tokens)
        if eos_token_id is None:
            raise _missing(_PREFIX + "eos_token_id")
        template = "tokenizer.chat_template"
        pre = _text(metadata, _PREFIX + "pre")
        llama3 = pre in _LLAMA3
        return cls(
            tokens=tokens,
            kinds=_list_of(int, metadata, _PREFIX + "token_type"),
            merges=_list_of(str, metadata, _PREFIX + "merges"),
            pre=pre,
            eos_token_id=eos_token_id,
            bos_token_id=_token_id(metadata, "bos_token_id", tokens),
            add_bos=bool(metadata.get(_PREFIX + "add_bos_token", llama3)),
            ignore_merges=llama3,
            chat_template=(
                _text(metadata, template) if template in metadata else None
            ),
            template_names=named,
        )


def gguf_name(name: str) -> str:
    """Return the key of a GGUF file for a field of a spec at fault.

    >>> gguf_name("kinds[3]"), gguf_name("text")
    ('tokenizer.ggml.token_type[3]', 'text')
    """
    field_name, bracket, place = name.partition("[")
    key = _KEYS.get(field_name)
    return name if key is None else f"{_PREFIX}{key}{bracket}{place}"


def _missing(key: str) -> TokenizerError:
    return TokenizerError(key, "no such key", "a value")


def _text(metadata: Mapping[str, Any], key: str) -> str:
    """Return a value that must be text."""
    if key not in metadata:
        raise _missing(key)
    if not isinstance(metadata[key], str):
        raise TokenizerError(key, reprlib.repr(metadata[key]), "a string")
    return metadata[key]


def _list_of(kind: type, metadata: Mapping[str, Any], key: str) -> Any:
    """Return a value that must be a list of texts or of integers."""
    if key not in metadata:
        raise _missing(key)
    value = metadata[key]
    if not isinstance(value, (list, tuple)) or set(map(type, value)) - {kind}:
        raise TokenizerError(
            key, reprlib.repr(value), f"a list of {kind.__name__}"
        )
    return value


def _token_id(
    metadata: Mapping[str, Any], key: str, tokens: Sequence[str]
) -> int | None:
    """Return a token id of the metadata, or None where it has none."""
    value = metadata.get(_PREFIX + key)
    if value is None:
        return None
    try:
        token_id = operator.index(value)
    except TypeError:
        token_id = -1
    if isinstance(value, bool) or not 0 <= token_id < len(tokens):
        raise TokenizerError(
            _PREFIX + key, repr(value), f"a token id below {len(tokens)}"
        )
    return token_id
