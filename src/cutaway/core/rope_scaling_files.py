"""How the files of a model say that its rotary frequencies are scaled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from types import MappingProxyType
from typing import Any

from cutaway.core.checks import check_choice
from cutaway.core.errors import ArgumentError
from cutaway.core.rope_scaling import (
    DynamicScaling,
    LinearScaling,
    Llama3Scaling,
    RopeScaling,
    YarnScaling,
)

HF_KINDS: Mapping[str, type[RopeScaling]] = MappingProxyType(
    {
        kind.kind: kind
        for kind in (LinearScaling, DynamicScaling, Llama3Scaling, YarnScaling)
    }
)
"""Values of ``rope_type`` in a config.json, and what they stand for."""

HF_FIELDS: Mapping[str, str] = MappingProxyType(
    {"original_max_position_embeddings": "original_max_seq_len"}
)
"""Keys of a config.json whose field has another name here."""

GGUF_FIELDS: Mapping[str, str] = MappingProxyType(
    {
        "factor": "factor",
        "original_context_length": "original_max_seq_len",
        "yarn_beta_fast": "beta_fast",
        "yarn_beta_slow": "beta_slow",
    }
)
"""Keys of a GGUF file, without their prefix, and the fields they fill."""


def rope_scaling_from_hf(
    mapping: Mapping[str, Any] | None, *, max_seq_len: int
) -> RopeScaling | None:
    """Read ``rope_scaling`` or ``rope_parameters`` of a config.json.

    Args:
        mapping: The parsed entry; None if the file has none.
        max_seq_len: ``max_position_embeddings`` of the file, which is the
            trained length of kinds that do not state it.

    Returns:
        The scaling, or None where there is nothing to scale.

    Raises:
        ArgumentError: The kind is unknown, a key is missing, or there is
            one that this kind does not read.

    Source: transformers 5, modeling_rope_utils.py.

    >>> rope_scaling_from_hf({"type": "linear", "factor": 2.0},
    ...                      max_seq_len=4096)
    LinearScaling(factor=2.0)
    """
    if not mapping:
        return None
    kind = mapping.get("rope_type", mapping.get("type", "default"))
    check_choice("rope_type", kind, ("default", *HF_KINDS))
    values = {
        HF_FIELDS.get(key, key): value
        for key, value in mapping.items()
        if key not in ("rope_type", "type", "rope_theta") and value is not None
    }
    if values.get("partial_rotary_factor") == 1:
        del values["partial_rotary_factor"]
    if kind == "default":
        _refuse(kind, values, set())
        return None
    if kind == "dynamic":  # has no key for the trained length
        _refuse(kind, values, {"factor"})
    if kind != "linear":
        values.setdefault("original_max_seq_len", max_seq_len)
    return _build(HF_KINDS[kind], values)


def rope_scaling_from_gguf(
    metadata: Mapping[str, Any], arch: str, *, max_seq_len: int
) -> RopeScaling | None:
    """Read the ``rope.scaling`` keys of a GGUF file.

    They tell of ``linear`` and ``yarn`` only, the latter with the factor
    of its paper. A Llama-3 file carries a tensor of divisors instead. Old
    files have ``rope.scale_linear``, which is the factor; 0 is none.

    Args:
        metadata: Key-value pairs of the file.
        arch: The prefix of the keys, ``general.architecture``.
        max_seq_len: Trained length where the file does not state it.

    Returns:
        The scaling, or None where there is nothing to scale.

    Raises:
        ArgumentError: A key is missing, or there is one whose meaning
            depends on the architecture.

    Source: llama.cpp, gguf-py/gguf/constants.py and src/llama-model.cpp.

    >>> keys = {"llama.rope.scaling.type": "linear",
    ...         "llama.rope.scaling.factor": 4.0}
    >>> rope_scaling_from_gguf(keys, "llama", max_seq_len=2048)
    LinearScaling(factor=4.0)
    """
    prefix = f"{arch}.rope.scaling."
    found = {
        key.removeprefix(prefix): value
        for key, value in metadata.items()
        if key.startswith(prefix)
    }
    found.pop("finetuned", None)
    older = metadata.get(f"{arch}.rope.scale_linear")
    if older:
        found.setdefault("factor", older)
    kind = found.pop("type", "linear" if found else "none")
    check_choice(f"{prefix}type", kind, ("none", "linear", "yarn"))
    if kind == "none":
        return None
    values = {GGUF_FIELDS.get(key, key): found[key] for key in found}
    if kind == "linear":
        values.pop("original_max_seq_len", None)
        return _build(LinearScaling, values)
    values.setdefault("original_max_seq_len", max_seq_len)
    return _build(YarnScaling, values)


def _build(kind: type[RopeScaling], values: dict[str, Any]) -> RopeScaling:
    """Make a scaling of the values of a file, or say which key is amiss."""
    names = {field.name for field in fields(kind)}
    _refuse(kind.kind, values, names)
    for field in fields(kind):
        if field.default is MISSING and field.name not in values:
            name = f"rope_scaling.{field.name}"
            raise ArgumentError(name, "no such key", "a value")
    return kind(**values)


def _refuse(kind: str, values: Mapping[str, Any], known: set[str]) -> None:
    """Raise if there is a value that this kind of scaling does not read."""
    for key in sorted(values.keys() - known):
        name, expected = f"rope_scaling.{key}", f"no such key for {kind!r}"
        raise ArgumentError(name, repr(values[key]), expected)
