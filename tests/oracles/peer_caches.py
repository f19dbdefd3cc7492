"""Caches of small random models of transformers, layer by layer.

The models run; what they then hold is looked at, not computed.
"""

from __future__ import annotations

import json
from typing import Any

WINDOW = 5
TOKENS = 9
LAYERS = 6

_SIZES: dict[str, Any] = {
    "hidden_size": 48,
    "intermediate_size": 40,
    "ffn_dim": 40,
    "word_embed_proj_dim": 48,
    "num_attention_heads": 6,
    "num_key_value_heads": 3,
    "head_dim": 10,
    "vocab_size": 96,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "n_embd": 48,
    "n_head": 6,
    "n_positions": 64,
}
_EXPERTS: dict[str, Any] = {
    "num_experts": 4,
    "num_local_experts": 4,
    "n_routed_experts": 4,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 16,
    "shared_expert_intermediate_size": 16,
    "moe_shared_expert_intermediate_size": 16,
    "shared_intermediate_size": 16,
    "n_group": 1,
    "topk_group": 1,
}
_LATENT: dict[str, Any] = {
    "num_key_value_heads": 6,
    "kv_lora_rank": 16,
    "q_lora_rank": 12,
    "qk_rope_head_dim": 8,
    "qk_nope_head_dim": 12,
    "v_head_dim": 10,
    "head_dim": 8,
    "index_head_dim": 16,
    "index_n_heads": 2,
    "index_topk": 8,
}
_STATES: dict[str, Any] = {
    "mamba_n_heads": 8,
    "mamba_d_state": 7,
    "mamba_d_conv": 3,
    "mamba_n_groups": 2,
    "mamba_d_ssm": 32,
    "mamba_num_heads": 8,
    "mamba_head_dim": 12,
    "mamba_ngroups": 2,
    "n_mamba_heads": 4,
    "n_groups": 2,
    "num_heads": 8,
    "state_size": 7,
    "ssm_state_size": 7,
    "conv_kernel": 3,
    "chunk_size": 16,
    "mamba_chunk_size": 16,
    "linear_num_key_heads": 2,
    "linear_num_value_heads": 4,
    "linear_key_head_dim": 6,
    "linear_value_head_dim": 8,
    "linear_conv_kernel_dim": 3,
    "linear_num_heads": 2,
    "linear_head_dim": 8,
    "conv_L_cache": 4,
    "lru_width": 36,
    "attn_layer_period": 3,
    "attn_layer_offset": 1,
    "attn_layer_indices": [1, 3],
    "full_attn_idxs": [1, 3],
}
_WINDOWS = {
    "sliding_window": WINDOW,
    "attention_window_size": WINDOW,
    "attention_chunk_size": WINDOW,
    "num_kv_shared_layers": 2,
    "hidden_size_per_layer_input": 8,
    "vocab_size_per_layer_input": 96,
}
_HYBRID = ["linear_attention", "full_attention"] * (LAYERS // 2)
OWN: dict[str, dict[str, Any]] = {
    "gemma3n_text": {
        "layer_types": ["sliding_attention", "full_attention"] * 3,
        "activation_sparsity_pattern": None,
    },
    "granitemoehybrid": {"layer_types": _HYBRID},
    "helium": {"head_dim": 8},
    "lfm2_moe": {"layer_types": ["conv", "full_attention"] * 3},
    "mamba": {"intermediate_size": 96},
    "falcon_mamba": {"intermediate_size": 96},
    "mamba2": {"head_dim": 12},
    "nemotron_h": {
        "layers_block_type": [
            "linear_attention",
            "moe",
            "full_attention",
            "mlp",
            "linear_attention",
            "full_attention",
        ]
    },
    "zamba2": {
        "head_dim": 16,
        "layers_block_type": ["linear_attention", "hybrid"] * 3,
    },
}
"""What a class needs to be small, or to have all its kinds of layers."""


def small_config(kind: str, **more: Any) -> Any:
    """Return a small configuration of a class of transformers."""
    from transformers import CONFIG_MAPPING

    made = CONFIG_MAPPING[kind]
    known = made()
    sizes = {**_SIZES, **_EXPERTS, **_STATES, **_WINDOWS}
    if hasattr(known, "kv_lora_rank"):
        sizes |= _LATENT
    sizes |= {"num_hidden_layers": LAYERS, "n_layer": LAYERS}
    if kind == "nemotron_h":  # it counts the list
        del sizes["num_hidden_layers"]
    mine = {
        key: value
        for key, value in sizes.items()
        if hasattr(known, key)
        and not isinstance(getattr(made, key, None), property)
    }
    return made(**{**mine, **OWN.get(kind, {}), **more})


def saved(config: Any) -> dict[str, Any]:
    """Return the file that transformers writes for a configuration."""
    return json.loads(config.to_json_string(use_diff=True))


def observed_layers(config: Any) -> list[dict[str, Any]]:
    """Run a random model on some tokens and describe what it has kept.

    Returns:
        For each layer ``heads``, ``key_dim``, ``value_dim`` and the
        ``rows`` of its keys and values, if it has any; ``extra``, the
        numbers a token of an indexer's keys; ``recurrent`` and ``conv``,
        the numbers of its states.
    """
    import torch
    from transformers import AutoModelForCausalLM, DynamicCache

    torch.manual_seed(0)
    model = AutoModelForCausalLM.from_config(config).eval()
    own = config.model_type == "recurrent_gemma"  # it returns no cache
    given = {"cache": DynamicCache(config=config)} if own else {}
    with torch.no_grad():
        out = model(torch.arange(3, 3 + TOKENS)[None], use_cache=True, **given)
    cache = given.get("cache")
    for name in ("past_key_values", "cache_params", "cache"):
        cache = cache or getattr(out, name, None)
    layers = list(cache.layers) + [None] * (LAYERS - len(cache.layers))
    found = [_observed(layer) for layer in layers]
    for index, state in enumerate(getattr(cache, "linear_cache", [])):
        if len(state):  # MiniMax keeps its states beside the layers
            found[index]["recurrent"] = state.numel()
    for index, layer in enumerate(model.model.layers if own else ()):
        block = layer.temporal_block
        if hasattr(block, "rg_lru"):
            found[index]["recurrent"] = block.rg_lru.recurrent_states.numel()
            found[index]["conv"] = block.conv1d_state.numel()
    return found


def _observed(layer: Any) -> dict[str, Any]:
    """Describe one layer of a cache."""
    found: dict[str, Any] = {}
    if getattr(layer, "keys", None) is not None and layer.keys.numel():
        _, heads, rows, key_dim = layer.keys.shape
        value_dim = layer.values.shape[-1]
        found |= {"heads": heads, "rows": rows}
        found |= {"key_dim": key_dim, "value_dim": value_dim}
    indexer = getattr(layer, "indexer_keys", None)
    if indexer is not None:
        found["extra"] = indexer.numel() // TOKENS
    recurrent = getattr(layer, "recurrent_states", None) or {}
    conv = getattr(layer, "conv_states", None) or {}
    numbers = sum(one.numel() for one in recurrent.values() if one is not None)
    if numbers:
        found["recurrent"] = numbers
    for state in conv.values():
        if state is not None:
            # It keeps the token just read as well; one less is needed.
            *_, channels, kernel = state.shape
            found["conv"] = channels * (kernel - 1)
    return found
