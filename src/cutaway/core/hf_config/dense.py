"""Llama, Mistral, Qwen2 and Qwen3."""

from __future__ import annotations

from collections.abc import Collection

from cutaway.core.block_config import NormConfig
from cutaway.core.hf_config.parts import (
    Config,
    Fields,
    base_fields,
    optional_window,
)
from cutaway.core.reading import refuse


def llama(config: Config) -> Fields:
    """Read a Llama."""
    return silu_gated(config, derived=("num_key_value_heads", "head_dim"))


def mistral(config: Config) -> Fields:
    """Read a Mistral: every layer has the window."""
    window = {"window": config.get("sliding_window", 4096)}
    return {**silu_gated(config, derived=("head_dim",)), **window}


def qwen2(config: Config) -> Fields:
    """Read a Qwen2 or Qwen2.5: biases on queries, keys and values."""
    fields = silu_gated(config, derived=("head_dim",))
    biases = {"biases": frozenset({"qkv"})}
    return {**fields, **optional_window(config), **biases}


def qwen3(config: Config) -> Fields:
    """Read a Qwen3: norms on query and key heads."""
    norm = {"norm": NormConfig(qk=True)}
    return {**silu_gated(config), **optional_window(config), **norm}


def silu_gated(
    config: Config, *, theta: float = 1e4, derived: Collection[str] = ()
) -> Fields:
    """Read what all these share: SwiGLU, and no bias by default."""
    refuse(config, "hidden_act", ("silu",))
    refuse(config, "attention_bias", (False,))
    return base_fields(config, theta=theta, derived=derived)
