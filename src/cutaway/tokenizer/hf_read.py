"""Read ``tokenizer.json``: how Hugging Face writes a tokenizer down.

The file holds a pipeline of five stages, each a small JSON object with a
``type``: normalizer, pre-tokenizer, model (vocabulary and merges),
post-processor and decoder; and beside them the special tokens. Here the
stages of the byte-level BPE family are recognised (GPT-2, SmolLM2, Llama 3,
Qwen2), and whatever else a file asks for is refused by name rather than
left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from cutaway.tokenizer.errors import TokenizerError
from cutaway.tokenizer.hf_stages import (
    optional_list,
    postprocessor_bos,
    pretokenizer_name,
)
from cutaway.tokenizer.spec import TokenizerSpec
from cutaway.tokenizer.vocab import CONTROL, NORMAL, USER_DEFINED

# Settings of a BPE model that change its ids, with the values that do not.
_NEUTRAL = {
    "dropout": (None, 0.0),
    "continuing_subword_prefix": (None, ""),
    "end_of_word_suffix": (None, ""),
    "byte_fallback": (None, False),
}
_NAMES = ("bos_token", "eos_token", "unk_token", "pad_token")
_ADDED_FLAGS = ("lstrip", "rstrip", "single_word")


def spec_from_hf(
    data: Mapping[str, Any], config: Mapping[str, Any] | None = None
) -> TokenizerSpec:
    """Read a parsed ``tokenizer.json``.

    Args:
        data: The file, parsed.
        config: The parsed ``tokenizer_config.json`` beside it, which names
            the tokens that begin and end a text and holds the chat
            template; without it the spec has no end token and no template.

    Raises:
        TokenizerError: A part is missing or malformed, or asks for
            something that is not byte-level BPE as this package does it.

    Differs: truncation, padding and ``clean_up_tokenization_spaces`` are
    left aside; an ``unk_token`` is not used (a byte without a token is an
    error, unless the caller of ``encode`` says otherwise).
    """
    model = _model(data)
    normalizer = _normalizer(data.get("normalizer"))
    added = optional_list("added_tokens", data.get("added_tokens"))
    tokens, kinds = _tokens(model["vocab"], added, normalizer is not None)
    ids = {token: token_id for token_id, token in enumerate(tokens)}
    config = {} if config is None else config
    names = special_names(config)
    for name, token in names.items():
        if token not in ids:
            raise TokenizerError(name, repr(token), "a token of the vocabulary")
    bos = postprocessor_bos(data.get("post_processor"), ids)
    begins = names.get("bos_token") if bos is None else bos
    ends = names.get("eos_token")
    return TokenizerSpec(
        tokens=tokens,
        kinds=kinds,
        merges=_merges(model["merges"]),
        pre=pretokenizer_name(data.get("pre_tokenizer")),
        eos_token_id=None if ends is None else ids[ends],
        bos_token_id=None if begins is None else ids[begins],
        add_bos=bos is not None,
        ignore_merges=bool(model.get("ignore_merges")),
        normalizer=normalizer,
        chat_template=_template(config.get("chat_template")),
        template_names=names,
    )


def special_names(config: Mapping[str, Any]) -> dict[str, str]:
    """Return the tokens that a ``tokenizer_config.json`` names.

    Args:
        config: The parsed file. A token stands there as its text, or as
            a mapping with its ``content``.

    Raises:
        TokenizerError: It is no mapping, or a name stands for no text.

    >>> special_names({"eos_token": {"content": "</s>"}, "bos_token": None})
    {'eos_token': '</s>'}
    """
    if not isinstance(config, Mapping):
        kind = type(config).__name__
        expected = "a parsed tokenizer_config.json"
        raise TokenizerError("tokenizer_config", f"a {kind}", expected)
    found = {}
    for name in _NAMES:
        token = config.get(name)
        if isinstance(token, Mapping):
            token = token.get("content")
        if token is None:
            continue
        if not isinstance(token, str):
            raise TokenizerError(name, repr(token), "the text of a token")
        found[name] = token
    return found


def _model(data: Any) -> Mapping[str, Any]:
    """Return the model part of a file, checked but for its lists."""
    if not isinstance(data, Mapping):
        kind = type(data).__name__
        raise TokenizerError("data", f"a {kind}", "a parsed tokenizer.json")
    model = data.get("model")
    kind = model.get("type") if isinstance(model, Mapping) else None
    if not isinstance(model, Mapping) or kind != "BPE":
        raise TokenizerError("model.type", repr(kind), "'BPE'")
    for name, neutral in _NEUTRAL.items():
        if model.get(name) not in neutral:
            got = repr(model[name])
            raise TokenizerError(f"model.{name}", got, repr(neutral[0]))
    decoder = data.get("decoder")
    kind = decoder.get("type") if isinstance(decoder, Mapping) else None
    if kind != "ByteLevel":
        raise TokenizerError("decoder.type", repr(kind), "'ByteLevel'")
    for key, expected in (("vocab", Mapping), ("merges", Sequence)):
        if not isinstance(model.get(key), expected):
            got = type(model.get(key)).__name__
            raise TokenizerError(f"model.{key}", f"a {got}", "all entries")
    return model


def _tokens(
    vocab: Mapping[str, Any], added: Sequence[Any], normalizes: bool
) -> tuple[list[str], list[int]]:
    """Return the tokens in order of id, and the kind of each."""
    # Special tokens are looked for in the text as it came.
    flags = (*_ADDED_FLAGS, "normalized") if normalizes else _ADDED_FLAGS
    ids: dict[Any, Any] = dict(vocab)
    kinds: dict[Any, int] = {}
    for place, entry in enumerate(added):
        token, token_id = _added(f"added_tokens[{place}]", entry, flags)
        if ids.setdefault(token, token_id) != token_id:
            got = f"id {token_id} for {token!r}"
            expected = f"{ids[token]}, its id in the vocabulary"
            raise TokenizerError(f"added_tokens[{place}]", got, expected)
        kinds[token] = CONTROL if entry.get("special") else USER_DEFINED
    whole = all(type(token_id) is int for token_id in ids.values())
    if not whole or sorted(ids.values()) != list(range(len(ids))):
        raise TokenizerError(
            "model.vocab",
            f"{len(ids)} tokens whose ids are not 0 to {len(ids) - 1}",
            "each id once, without a gap",
        )
    tokens = sorted(ids, key=ids.__getitem__)
    return tokens, [kinds.get(token, NORMAL) for token in tokens]


def _added(name: str, entry: Any, flags: Sequence[str]) -> tuple[str, int]:
    """Return the text and id of an added token, or refuse one of flags."""
    expected = "a mapping with content and id"
    if not isinstance(entry, Mapping):
        raise TokenizerError(name, repr(entry), expected)
    if not isinstance(entry.get("content"), str) or "id" not in entry:
        raise TokenizerError(name, repr(dict(entry)), expected)
    for flag in flags:
        if entry.get(flag):
            raise TokenizerError(f"{name}.{flag}", True, "False")
    return entry["content"], entry["id"]


def _merges(merges: Sequence[Any]) -> list[str]:
    """Return merges as ``"left right"``: files have texts or pairs."""
    lines = []
    for rank, merge in enumerate(merges):
        pair = merge.split(" ") if isinstance(merge, str) else merge
        fits = isinstance(pair, Sequence) and len(pair) == 2
        if not fits or not all(isinstance(part, str) for part in pair):
            name = f"model.merges[{rank}]"
            raise TokenizerError(name, repr(merge), "a pair of tokens")
        lines.append(" ".join(pair))
    return lines


def _normalizer(stage: Any) -> Literal["NFC"] | None:
    """Return ``"NFC"`` or None."""
    if stage is None:
        return None
    if isinstance(stage, Mapping) and stage.get("type") == "NFC":
        return "NFC"
    raise TokenizerError("normalizer", repr(stage), "none, or NFC")


def _template(template: Any) -> str | None:
    """Return the chat template; of several that have names, "default"."""
    if isinstance(template, Sequence) and not isinstance(template, str):
        named = [
            entry.get("template")
            for entry in template
            if isinstance(entry, Mapping) and entry.get("name") == "default"
        ]
        template = named[-1] if named else None
    if template is None or isinstance(template, str):
        return template
    raise TokenizerError("chat_template", repr(template)[:60], "a text")
