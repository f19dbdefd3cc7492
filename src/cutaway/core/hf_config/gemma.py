"""Gemma-2 and Gemma-3: local and global layers, norms before and after."""

from __future__ import annotations

from cutaway.core.block_config import AttentionConfig, FFNConfig, NormConfig
from cutaway.core.hf_config.parts import (
    Config,
    Fields,
    base_fields,
    mapping_at,
    pattern_fields,
)
from cutaway.core.reading import read_count, read_real, refuse, required


def gemma2(config: Config) -> Fields:
    """Read a Gemma-2: every second layer local, scores and logits capped."""
    cap = config.get("attn_logit_softcapping", 50.0)
    return {
        **_gemma(config, softcap=cap, qk=False),
        **pattern_fields({"sliding_window": 4096, **config}, period=2),
        "logit_softcap": config.get("final_logit_softcapping", 30.0),
    }


def gemma3(config: Config) -> Fields:
    """Read the text part of a Gemma-3 that also sees pictures."""
    required(config, "text_config")
    return gemma3_text(mapping_at(config, "text_config"))


def gemma3_text(config: Config) -> Fields:
    """Read a Gemma-3: five local layers, then a global one."""
    defaults = {
        "vocab_size": 262208,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "rms_norm_eps": 1e-6,
        "max_position_embeddings": 131072,
        "sliding_window": 4096,
    }
    config = {**defaults, **config}
    refuse(config, "use_bidirectional_attention", (False,))
    rope = mapping_at(config, "rope_parameters")
    local = mapping_at(rope, "sliding_attention")
    refuse(local, "rope_type", ("default",))
    theta = read_real(config, "rope_local_base_freq", 1e4)
    if rope:
        config["rope_parameters"] = mapping_at(rope, "full_attention")
    cap = config.get("attn_logit_softcapping")
    period = read_count(config, "sliding_window_pattern", 6)
    windows = pattern_fields(config, period=period)
    if windows:
        windows["local_rope_theta"] = read_real(local, "rope_theta", theta)
    return {
        **_gemma(config, softcap=cap, qk=True, theta=1e6),
        **windows,
        "logit_softcap": config.get("final_logit_softcapping"),
    }


def _gemma(
    config: Config, *, softcap: float | None, qk: bool, theta: float = 1e4
) -> Fields:
    """Return what the second and third Gemma have in common."""
    refuse(config, "hidden_activation", ("gelu_pytorch_tanh",))
    refuse(config, "attention_bias", (False,))
    width = read_count(config, "query_pre_attn_scalar", 256)
    fields = base_fields(config, theta=theta, tied=True)
    return {
        **fields,
        "embed_scale": fields["hidden_size"] ** 0.5,
        "norm": NormConfig(kind="rms_plus_one", after=True, qk=qk),
        "ffn": FFNConfig(activation="gelu_tanh"),
        "attention": AttentionConfig(scale=width**-0.5, softcap=softcap),
    }
