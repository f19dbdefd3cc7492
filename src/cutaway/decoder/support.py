"""What the decoder computes, and which settings it must refuse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from cutaway.core.block_config import AttentionConfig, FFNConfig, NormConfig
from cutaway.core.config import ModelConfig
from cutaway.core.errors import ArgumentError

# What each setting must be; a setting that is not here may be anything.
COMPUTED: Mapping[str, object] = {
    "learned_positions": None,
    "local_rope_theta": None,
    "embed_scale": None,
    "logit_softcap": None,
    "biases": frozenset(),
    "norm": NormConfig(),
    "ffn": FFNConfig(),
    "attention": AttentionConfig(),
    "moe": None,
    "mla": None,
}


def check_supported(config: ModelConfig) -> None:
    """Raise unless the decoder computes everything the model asks for.

    A setting that was read but not computed would give wrong logits and
    no error. This is the only place that refuses one.

    Args:
        config: The model.

    Raises:
        ArgumentError: It names each setting that is not computed.

    >>> from cutaway.roofline import CONFIGS
    >>> check_supported(CONFIGS["qwen3-0.6b"])
    Traceback (most recent call last):
        ...
    cutaway.core.errors.ArgumentError: config.norm.qk: got True, \
expected False
    """
    found = list(_differences("config", config, COMPUTED))
    if found:
        columns = zip(*found, strict=True)
        raise ArgumentError(*(", ".join(column) for column in columns))


def _differences(
    path: str, part: object, computed: Mapping[str, object]
) -> Iterator[tuple[str, str, str]]:
    """Yield name, value and the value computed, where the two differ."""
    for name, expected in computed.items():
        value = getattr(part, name)
        if is_dataclass(expected) and not isinstance(expected, type):
            inner = {
                field.name: getattr(expected, field.name)
                for field in fields(expected)
            }
            yield from _differences(f"{path}.{name}", value, inner)
        elif value != expected:
            yield f"{path}.{name}", _shown(value), _shown(expected)


def _shown(value: object) -> str:
    """Return a value for a message; sets sorted, classes by name."""
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(value)) + "}"
    return type(value).__name__ if is_dataclass(value) else repr(value)
