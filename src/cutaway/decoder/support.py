"""What the decoder computes, and which settings it must refuse."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass

from cutaway.core.block_config import AttentionConfig, NormConfig
from cutaway.core.config import ModelConfig
from cutaway.core.errors import ArgumentError

# What each setting must be beside latent attention, which has no place for
# biases, other norms and sinks; elsewhere it may be anything.
BESIDE_MLA: Mapping[str, object] = {
    "biases": frozenset(),
    "norm": NormConfig(),
    "attention": AttentionConfig(),
}


def check_supported(config: ModelConfig) -> None:
    """Raise unless the decoder computes everything the model asks for.

    A setting that was read but not computed would give wrong logits and
    no error. This is the only place that refuses one.

    Args:
        config: The model.

    Raises:
        ArgumentError: It names each setting that is not computed.

    >>> from dataclasses import replace
    >>> from cutaway.roofline import CONFIGS
    >>> config = CONFIGS["deepseek-v3"]
    >>> check_supported(replace(config, norm=NormConfig(qk=True)))
    Traceback (most recent call last):
        ...
    cutaway.core.errors.ArgumentError: config.norm.qk: got True, \
expected False
    """
    found = list(_contradictions(config))
    if config.mla is not None:
        found += _differences("config", config, BESIDE_MLA)
    if found:
        columns = zip(*found, strict=True)
        raise ArgumentError(*(", ".join(column) for column in columns))


def _contradictions(config: ModelConfig) -> Iterator[tuple[str, str, str]]:
    """Yield each setting that has no meaning beside another one."""
    ffn, moe, biases = config.ffn, config.moe, config.biases
    if ffn.clamp is not None and not ffn.gated:
        yield "config.ffn.clamp", repr(ffn.clamp), "None without a gate"
    if ffn.sigmoid_gain != 1 and ffn.activation != "silu":
        got = repr(ffn.sigmoid_gain)
        yield "config.ffn.sigmoid_gain", got, f"1 with {ffn.activation}"
    if "router" in biases and moe is None:
        yield "config.biases", _shown(biases), "no 'router' without moe"
    if "ffn" in biases and moe is not None and moe.num_shared_experts:
        expected = "no 'ffn' beside shared experts"
        yield "config.biases", _shown(biases), expected
    if config.rope_theta is None and config.local_rope_theta is not None:
        got = repr(config.local_rope_theta)
        yield "config.local_rope_theta", got, "None without rope_theta"


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
