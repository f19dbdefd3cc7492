"""Write a tokenizer as Hugging Face does: the two JSON files of a folder."""

from __future__ import annotations

from typing import Any

from cutaway.tokenizer.hf_stages import (
    byte_level_json,
    postprocessor_json,
    pretokenizer_json,
)
from cutaway.tokenizer.tokenizer import Tokenizer
from cutaway.tokenizer.vocab import CONTROL, NORMAL


def tokenizer_json(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the contents of a ``tokenizer.json`` for this tokenizer.

    Args:
        tokenizer: Any byte-level BPE tokenizer of this package.

    Returns:
        Plain lists, mappings, numbers and texts for ``json.dump``.

    Source: Hugging Face ``tokenizers``, which makes the same ids from it.
    Differs: there a byte without a token is left out silently, as with
    ``missing_bytes="drop"`` here.

    >>> from cutaway.tokenizer import train_bpe
    >>> data = tokenizer_json(train_bpe(["low low"], num_merges=2))
    >>> data["model"]["merges"]
    [['l', 'o'], ['lo', 'w']]
    >>> Tokenizer.from_hf(data).encode("low") == [257]
    True
    """
    spec = tokenizer.spec
    kinds = enumerate(zip(spec.tokens, spec.kinds, strict=True))
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            _added_token(token_id, token, kind == CONTROL)
            for token_id, (token, kind) in kinds
            if kind != NORMAL
        ],
        "normalizer": spec.normalizer and {"type": spec.normalizer},
        "pre_tokenizer": pretokenizer_json(spec.pre),
        "post_processor": postprocessor_json(spec),
        "decoder": byte_level_json(),
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": spec.ignore_merges,
            "vocab": {token: i for i, token in enumerate(spec.tokens)},
            "merges": [line.split(" ") for line in spec.merges],
        },
    }


def tokenizer_config(tokenizer: Tokenizer) -> dict[str, Any]:
    """Return the contents of a ``tokenizer_config.json``.

    It names the tokens that begin and end a text and holds the chat
    template, which ``tokenizer.json`` does not.

    Args:
        tokenizer: Any byte-level BPE tokenizer of this package.

    >>> from cutaway.tokenizer import train_bpe
    >>> made = train_bpe(["a"], num_merges=0, special_tokens=["<|end|>"])
    >>> tokenizer_config(made)["clean_up_tokenization_spaces"]
    False
    """
    spec = tokenizer.spec
    config: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        **spec.template_names,
    }
    for name, token_id in (
        ("bos_token", spec.bos_token_id),
        ("eos_token", spec.eos_token_id),
    ):
        if token_id is not None:
            config[name] = spec.tokens[token_id]
    if spec.chat_template is not None:
        config["chat_template"] = spec.chat_template
    return config


def _added_token(token_id: int, token: str, special: bool) -> dict[str, Any]:
    return {
        "id": token_id,
        "content": token,
        "single_word": False,
        "lstrip": False,
        "rstrip": False,
        "normalized": False,
        "special": special,
    }
