"""Tiny random DeepSeek models of transformers, as folders and as logits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

SIZES: dict[str, Any] = {
    "num_hidden_layers": 3,
    "hidden_size": 24,
    "num_attention_heads": 6,
    "num_key_value_heads": 6,
    "intermediate_size": 37,
    "vocab_size": 97,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-6,  # their latents are normed with it, whatever it is
    "kv_lora_rank": 12,
    "qk_nope_head_dim": 6,
    "qk_rope_head_dim": 4,
    "v_head_dim": 8,
    "n_routed_experts": 8,
    "num_experts_per_tok": 3,
    "moe_intermediate_size": 11,
}
YARN = {
    "rope_type": "yarn",
    "rope_theta": 1e4,
    "factor": 4.0,
    "original_max_position_embeddings": 16,
    "beta_fast": 32,
    "beta_slow": 1,
    "mscale": 0.707,
    "mscale_all_dim": 0.9,  # another, so that cos and sin have a factor
}
PLAIN = {"rope_type": "default", "rope_theta": 1e4}
GROUPS = {"n_group": 4, "topk_group": 2}
MODELS: dict[str, dict[str, Any]] = {
    "v2 lite": {
        "model_type": "deepseek_v2",
        "q_lora_rank": None,
        "n_shared_experts": 2,
        "first_k_dense_replace": 1,
        "topk_method": "greedy",
        "rope_parameters": {**YARN, "mscale_all_dim": 0.707},
    },
    "v2": {
        "model_type": "deepseek_v2",
        "q_lora_rank": 14,
        "n_shared_experts": 2,
        "first_k_dense_replace": 1,
        "topk_method": "group_limited_greedy",
        "routed_scaling_factor": 16.0,
        "rope_parameters": YARN,
        **GROUPS,
    },
    "v2, other widths": {
        "model_type": "deepseek_v2",
        "q_lora_rank": None,
        "n_shared_experts": 1,
        "first_k_dense_replace": 0,
        "topk_method": "greedy",
        "rope_parameters": PLAIN,
        "kv_lora_rank": 6,  # below the width of a head
        "qk_nope_head_dim": 4,
        "qk_rope_head_dim": 8,
        "v_head_dim": 11,
    },
    "v3": {
        "model_type": "deepseek_v3",
        "q_lora_rank": 14,
        "n_shared_experts": 1,
        "first_k_dense_replace": 2,
        "routed_scaling_factor": 2.5,
        "rope_parameters": YARN,
        **GROUPS,
    },
    "v3, one matrix for queries": {
        "model_type": "deepseek_v3",
        "q_lora_rank": None,
        "n_shared_experts": 2,
        "first_k_dense_replace": 0,
        "norm_topk_prob": False,
        "rope_parameters": PLAIN,
        **GROUPS,
    },
}


def build(name: str, seed: int = 0):
    """Return the model; norms, biases and all else drawn at random."""
    import torch
    from transformers import CONFIG_MAPPING, AutoModelForCausalLM

    values = {**SIZES, **MODELS[name]}
    kind = values.pop("model_type")
    if kind == "deepseek_v3":
        values["num_mtp_layers"] = 0
    config = CONFIG_MAPPING[kind](**values)
    config._experts_implementation = "eager"
    model = AutoModelForCausalLM.from_config(
        config, attn_implementation="eager", dtype=torch.float32
    ).eval()
    generator = torch.Generator().manual_seed(seed)
    tensors = [*model.named_parameters(), *model.named_buffers()]
    with torch.no_grad():
        for path, tensor in tensors:
            if path.endswith("inv_freq"):
                continue
            drawn = torch.randn(tensor.shape, generator=generator)
            if path.endswith("norm.weight"):
                drawn = 1 + drawn / 10
            elif path.endswith("correction_bias"):
                drawn = drawn / 5
            elif not path.endswith("embed_tokens.weight"):
                drawn = drawn * tensor.shape[-1] ** -0.5
            tensor.copy_(drawn)
    return model


def save(name: str, folder: Path, seed: int = 0):
    """Write the model as transformers does, and return it."""
    model = build(name, seed)
    model.save_pretrained(folder)
    return model


def logits(model: Any, token_ids: list[int]) -> np.ndarray:
    """Return the logits of a whole text, read at once without a cache."""
    import torch

    with torch.inference_mode():
        tokens = torch.tensor([token_ids])
        return model(tokens, use_cache=False).logits[0].numpy()
