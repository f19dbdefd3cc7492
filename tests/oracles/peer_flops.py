"""FLOPs of tiny transformers models of every family, as torch sees them."""

from __future__ import annotations

from typing import Any

TINY = {
    "num_hidden_layers": 3,
    "hidden_size": 24,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 10,
    "intermediate_size": 37,
    "vocab_size": 97,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5,
}
LATENT = {
    "kv_lora_rank": 12,
    "q_lora_rank": 14,
    "qk_nope_head_dim": 6,
    "qk_rope_head_dim": 4,
    "v_head_dim": 8,
    "num_key_value_heads": 6,
    "n_routed_experts": 8,
    "num_experts_per_tok": 3,
    "moe_intermediate_size": 11,
    "n_shared_experts": 2,
    "first_k_dense_replace": 1,
}
EXPERTS = {"num_local_experts": 5, "num_experts_per_tok": 2}
FAMILIES: dict[str, dict[str, Any]] = {
    "llama": TINY,
    "qwen2": TINY,
    "qwen3": TINY,
    "gemma2": {**TINY, "sliding_window": 4},
    "gemma3_text": {**TINY, "sliding_window": 4},
    "mixtral": {**TINY, **EXPERTS},
    "qwen3_moe": {
        **TINY,
        "num_experts": 7,
        "num_experts_per_tok": 3,
        "moe_intermediate_size": 11,
    },
    "gpt_oss": {**TINY, **EXPERTS, "sliding_window": 4},
    "deepseek_v2": {**TINY, **LATENT, "head_dim": None},
    "deepseek_v3": {
        **TINY,
        **LATENT,
        "head_dim": None,
        "n_group": 4,
        "topk_group": 2,
    },
    "gpt2": {
        "n_layer": 3,
        "n_embd": 24,
        "n_head": 6,
        "n_positions": 64,
        "vocab_size": 97,
    },
    "opt": {
        "num_hidden_layers": 3,
        "hidden_size": 24,
        "num_attention_heads": 6,
        "ffn_dim": 37,
        "max_position_embeddings": 64,
        "vocab_size": 97,
        "word_embed_proj_dim": 24,
    },
}


def config_json(family: str) -> dict[str, Any]:
    """Return the file of a tiny model of a family."""
    values = {k: v for k, v in FAMILIES[family].items() if v is not None}
    return {"model_type": family, **values}


def peer_flops(family: str, q_len: int) -> tuple[int, int]:
    """Return the FLOPs of attention, and of all other products.

    Attention is counted over the full rectangle of queries and keys.
    """
    import torch
    from torch.utils.flop_counter import FlopCounterMode
    from transformers import CONFIG_MAPPING, AutoModelForCausalLM

    values = config_json(family)
    kind = values.pop("model_type")
    if kind == "deepseek_v3":
        values["num_mtp_layers"] = 0
    config = CONFIG_MAPPING[kind](**values)
    config._experts_implementation = "eager"
    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(
        config, attn_implementation="eager"
    ).eval()
    tokens = torch.arange(q_len)[None] % 97
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(tokens, use_cache=False)
    attention = 0
    for path, ops in counter.get_flop_counts().items():
        if path.rsplit(".", 1)[-1] in ("self_attn", "attn"):
            named = {str(op): count for op, count in ops.items()}
            attention += named.get("aten.bmm", 0)
    return attention, counter.get_total_flops() - attention
