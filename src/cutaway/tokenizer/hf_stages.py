"""The pre-tokenizer and post-processor stages of a ``tokenizer.json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cutaway.tokenizer.errors import TokenizerError
from cutaway.tokenizer.pretokenize import PRETOKENIZERS
from cutaway.tokenizer.spec import TokenizerSpec


def pretokenizer_json(name: str) -> dict[str, Any]:
    """Return the stage that cuts as our pre-tokenizer of this name.

    >>> pretokenizer_json("gpt-2")["type"]
    'ByteLevel'
    """
    if name == "gpt-2":
        return byte_level_json()
    if name == "smollm":
        digits = {"type": "Digits", "individual_digits": True}
        return _sequence([digits, byte_level_json()])
    (pattern,) = PRETOKENIZERS[name]
    split = {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": "Isolated",
        "invert": False,
    }
    return _sequence([split, byte_level_json(False)])


def pretokenizer_name(stage: Any) -> str:
    """Return which of our pre-tokenizers a stage is.

    Raises:
        TokenizerError: It is none of them.
    """
    given = _essence(stage)
    for name in PRETOKENIZERS:
        if given == _essence(pretokenizer_json(name)):
            return name
    known = ", ".join(PRETOKENIZERS)
    raise TokenizerError(
        "pre_tokenizer", repr(stage)[:120], f"that of one of {known}"
    )


def postprocessor_bos(stage: Any, ids: Mapping[str, int]) -> str | None:
    """Return the token that a post-processor puts first, or None.

    Args:
        stage: The stage, parsed; None if there is none.
        ids: The id of each token.

    Raises:
        TokenizerError: It does anything else to the ids, or puts what is
            no token, or an id that is not the token's.
    """
    bos = None
    for step in _steps(stage, "post_processor.processors"):
        kind = step.get("type") if isinstance(step, Mapping) else None
        if kind == "TemplateProcessing" and bos is None:
            bos = _template_bos(step)
            _check_template_id(step, bos, ids)
        elif kind != "ByteLevel":  # which only moves offsets
            raise TokenizerError(
                "post_processor",
                repr(step)[:120],
                "ByteLevel, or a template that puts one token first",
            )
    return bos


def postprocessor_json(spec: TokenizerSpec) -> dict[str, Any]:
    """Return the stage that adds what the spec wants at the front."""
    offsets = {**byte_level_json(), "trim_offsets": False}
    if not spec.add_bos or spec.bos_token_id is None:
        return offsets
    bos = spec.tokens[spec.bos_token_id]
    token = {"SpecialToken": {"id": bos, "type_id": 0}}
    first = {"Sequence": {"id": "A", "type_id": 0}}
    second = {"Sequence": {"id": "B", "type_id": 1}}
    again = {"SpecialToken": {"id": bos, "type_id": 1}}
    template = {
        "type": "TemplateProcessing",
        "single": [token, first],
        "pair": [token, first, again, second],
        "special_tokens": {
            bos: {"id": bos, "ids": [spec.bos_token_id], "tokens": [bos]}
        },
    }
    return {"type": "Sequence", "processors": [offsets, template]}


def byte_level_json(use_regex: bool = True) -> dict[str, Any]:
    """Return the stage that writes bytes as symbols, and may cut words."""
    return {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": use_regex,
    }


def _sequence(stages: list[dict[str, Any]]) -> dict[str, Any]:
    return {"type": "Sequence", "pretokenizers": stages}


def optional_list(name: str, value: Any) -> list[Any]:
    """Return a list of the file; what is absent is an empty one."""
    if value is not None and not isinstance(value, list):
        raise TokenizerError(name, repr(value)[:60], "a list")
    return value or []


def _steps(stage: Any, name: str) -> list[Any]:
    """Return the steps of a stage: of a sequence its members, by name."""
    if stage is None:
        return []
    if isinstance(stage, Mapping) and stage.get("type") == "Sequence":
        return optional_list(name, stage.get(name.rpartition(".")[2]))
    return [stage]


def _essence(stage: Any) -> list[Any]:
    """Return what of a pre-tokenizer decides the cuts."""
    found = []
    for step in _steps(stage, "pre_tokenizer.pretokenizers"):
        step = dict(step) if isinstance(step, Mapping) else {"type": step}
        step.pop("trim_offsets", None)  # moves offsets, not cuts
        if step.get("type") == "ByteLevel":
            step.setdefault("use_regex", True)  # absent from old files
        found.append(step)
    return found


def _template_bos(step: Mapping[str, Any]) -> str:
    """Return the one token that a template puts before the text."""
    single = step.get("single")
    try:
        begin, body = single  # type: ignore[misc]
        sequence = body["Sequence"]["id"]
        token = begin["SpecialToken"]["id"]
    except (TypeError, ValueError, KeyError):
        sequence = token = None
    if sequence != "A" or not isinstance(token, str):
        raise TokenizerError(
            "post_processor.single",
            repr(single)[:120],
            "one special token, then the text",
        )
    return token


def _check_template_id(
    step: Mapping[str, Any], bos: str, ids: Mapping[str, int]
) -> None:
    """Refuse a template's first token that the vocabulary has not so."""
    if bos not in ids:
        expected = "a token of the vocabulary"
        raise TokenizerError("post_processor", repr(bos), expected)
    try:
        given = step["special_tokens"][bos]["ids"]
    except (TypeError, KeyError):
        given = None
    if given != [ids[bos]]:
        name = f"post_processor.special_tokens[{bos!r}].ids"
        raise TokenizerError(name, repr(given)[:60], f"[{ids[bos]}]")
