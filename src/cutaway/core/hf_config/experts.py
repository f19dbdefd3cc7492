"""Mixtral, Qwen3 with experts and gpt-oss."""

from __future__ import annotations

from cutaway.core.block_config import AttentionConfig, FFNConfig, NormConfig
from cutaway.core.hf_config.dense import silu_gated
from cutaway.core.hf_config.parts import (
    Config,
    Fields,
    base_fields,
    pattern_fields,
)
from cutaway.core.moe_config import MoEConfig
from cutaway.core.reading import read_count, read_real, refuse

GPT_OSS_ROPE = {
    "rope_type": "yarn",
    "factor": 32.0,
    "original_max_position_embeddings": 4096,
    "truncate": False,
}
"""What the class of gpt-oss takes if a file does not say."""


def mixtral(config: Config) -> Fields:
    """Read a Mixtral: every network is a mixture of experts."""
    moe = MoEConfig(
        num_experts=read_count(config, "num_local_experts"),
        experts_per_token=read_count(config, "num_experts_per_tok"),
        expert_ffn_size=read_count(config, "intermediate_size"),
    )
    fields = silu_gated(config, theta=1e6, derived=("head_dim",))
    return {**fields, "window": config.get("sliding_window"), "moe": moe}


def qwen3_moe(config: Config) -> Fields:
    """Read a Qwen3 with experts in every layer."""
    refuse(config, "decoder_sparse_step", (1,))
    refuse(config, "mlp_only_layers", ([],))
    # Newer versions of the class write the key that Mixtral has.
    key = (
        "num_local_experts" if "num_local_experts" in config else "num_experts"
    )
    moe = MoEConfig(
        num_experts=read_count(config, key),
        experts_per_token=read_count(config, "num_experts_per_tok"),
        expert_ffn_size=read_count(config, "moe_intermediate_size"),
        renormalize=bool(config.get("norm_topk_prob", False)),
    )
    fields = silu_gated(config, derived=("head_dim",))
    fields |= {"norm": NormConfig(qk=True), "moe": moe}
    if config.get("use_sliding_window", False):
        fields["window"] = config.get("sliding_window", 4096)
    return fields


def gpt_oss(config: Config) -> Fields:
    """Read a gpt-oss: sinks, biases everywhere, every second layer local."""
    refuse(config, "hidden_act", ("silu",))
    refuse(config, "attention_bias", (True,))
    config = {"sliding_window": 128, **config}
    if not config.keys() & {"rope_parameters", "rope_scaling"}:
        config = {**config, "rope_scaling": GPT_OSS_ROPE}
    moe = MoEConfig(
        num_experts=read_count(config, "num_local_experts"),
        experts_per_token=read_count(config, "num_experts_per_tok"),
        expert_ffn_size=read_count(config, "intermediate_size"),
    )
    ffn = FFNConfig(
        clamp=read_real(config, "swiglu_limit", 7.0),
        sigmoid_gain=read_real(config, "swiglu_alpha", 1.702),
    )
    return {
        **base_fields(config, theta=1.5e5),
        **pattern_fields(config, period=2),
        "biases": frozenset({"qkv", "attn_out", "ffn", "router"}),
        "ffn": ffn,
        "attention": AttentionConfig(sink_logits=True),
        "moe": moe,
    }
