"""DeepSeek-V2 and V3: latent attention, shared experts."""

from __future__ import annotations

from cutaway.core.hf_config.dense import llama
from cutaway.core.hf_config.parts import Config, Fields
from cutaway.core.mla_config import MLAConfig
from cutaway.core.moe_config import ExpertGroups, MoEConfig
from cutaway.core.reading import read_count, read_real, refuse

V2_DEFAULTS = {
    "q_lora_rank": 1536,
    "n_shared_experts": 2,
    "first_k_dense_replace": 0,
    "routed_scaling_factor": 1.0,
}
V3_DEFAULTS = {
    "q_lora_rank": 1536,
    "n_shared_experts": 1,
    "first_k_dense_replace": 3,
    "routed_scaling_factor": 2.5,
}


def deepseek_v2(config: Config) -> Fields:
    """Read a DeepSeek-V2 or V2-Lite: latent attention, shared experts."""
    config = {**V2_DEFAULTS, **config}
    method = config.get("topk_method", "greedy")
    refuse(config, "topk_method", ("greedy", "group_limited_greedy"))
    refuse(config, "scoring_func", ("softmax",))
    refuse(config, "norm_topk_prob", (False,))
    groups = None
    if method == "group_limited_greedy":
        groups = ExpertGroups(
            num_groups=read_count(config, "n_group"),
            groups_per_token=read_count(config, "topk_group"),
        )
    moe = MoEConfig(**_experts(config), renormalize=False, groups=groups)
    return {**_latent(config), "moe": moe}


def deepseek_v3(config: Config) -> Fields:
    """Read a DeepSeek-V3, whose router has sigmoids and biases.

    The layers that predict further tokens (MTP) are not part of it.
    """
    config = {**V3_DEFAULTS, **config}
    refuse(config, "topk_method", ("noaux_tc",))
    refuse(config, "scoring_func", ("sigmoid",))
    refuse(config, "rope_interleave", (True,))
    moe = MoEConfig(
        **_experts(config),
        scoring="sigmoid",
        renormalize=bool(config.get("norm_topk_prob", True)),
        correction_bias=True,
        groups=ExpertGroups(
            num_groups=read_count(config, "n_group", 8),
            groups_per_token=read_count(config, "topk_group", 4),
            score="top2_sum",
        ),
    )
    return {**_latent(config), "moe": moe}


def _experts(config: Config) -> Fields:
    """Return the sizes of a DeepSeek's mixture of experts."""
    refuse(config, "moe_layer_freq", (1,))
    return {
        "num_experts": read_count(config, "n_routed_experts"),
        "experts_per_token": read_count(config, "num_experts_per_tok"),
        "expert_ffn_size": read_count(config, "moe_intermediate_size"),
        "num_shared_experts": config.get("n_shared_experts") or 0,
        "num_dense_layers": config.get("first_k_dense_replace") or 0,
        "weight_scale": read_real(config, "routed_scaling_factor"),
    }


def _latent(config: Config) -> Fields:
    """Return the sizes of a DeepSeek's latent attention."""
    mla = MLAConfig(
        kv_lora_rank=read_count(config, "kv_lora_rank"),
        q_lora_rank=config.get("q_lora_rank"),
        qk_nope_head_dim=read_count(config, "qk_nope_head_dim"),
        qk_rope_head_dim=read_count(config, "qk_rope_head_dim"),
        v_head_dim=read_count(config, "v_head_dim"),
    )
    fields = {
        **llama(config),
        "head_dim": mla.qk_head_dim,
        "rope_layout": "interleaved",
        "mla": mla,
    }
    return {**fields, "num_kv_heads": fields["num_heads"]}
