"""Published ``config.json`` files, cut down to what shapes a model.

Typed from the files and from LitGPT's ``litgpt/config.py``, not from the
package: key names, defaults left out and all.
"""

from __future__ import annotations

from typing import Any

# type, layers, hidden, heads, KV heads, head_dim, ffn, vocabulary, length,
# theta, epsilon, tied
ROTARY = {
    "smollm2-135m": "llama 30 576 9 3 64 1536 49152 8192 100000 1e-05 1",
    "smollm2-360m": "llama 32 960 15 5 64 2560 49152 8192 100000 1e-05 1",
    "smollm2-1.7b": "llama 24 2048 32 32 64 8192 49152 8192 130000 1e-05 1",
    "tinyllama-1.1b": "llama 22 2048 32 4 64 5632 32000 2048 10000 1e-05 0",
    "llama-2-7b": "llama 32 4096 32 32 128 11008 32000 4096 10000 1e-05 0",
    "llama-2-13b": "llama 40 5120 40 40 128 13824 32000 4096 10000 1e-05 0",
    "llama-2-70b": "llama 80 8192 64 8 128 28672 32000 4096 10000 1e-05 0",
    "llama-3.1-8b": "llama 32 4096 32 8 128 14336 128256 131072 5e5 1e-05 0",
    "llama-3.1-70b": "llama 80 8192 64 8 128 28672 128256 131072 5e5 1e-05 0",
    "llama-3.1-405b": (
        "llama 126 16384 128 8 128 53248 128256 131072 5e5 1e-05 0"
    ),
    "llama-3.2-1b": "llama 16 2048 32 8 64 8192 128256 131072 5e5 1e-05 1",
    "llama-3.2-3b": "llama 28 3072 24 8 128 8192 128256 131072 5e5 1e-05 1",
    "mistral-7b-v0.1": "mistral 32 4096 32 8 128 14336 32000 32768 1e4 1e-05 0",
    "mixtral-8x7b": "mixtral 32 4096 32 8 128 14336 32000 32768 1e6 1e-05 0",
    "qwen2.5-0.5b": "qwen2 24 896 14 2 64 4864 151936 32768 1e6 1e-06 1",
    "qwen2.5-1.5b": "qwen2 28 1536 12 2 128 8960 151936 131072 1e6 1e-06 1",
    "qwen2.5-3b": "qwen2 36 2048 16 2 128 11008 151936 32768 1e6 1e-06 1",
    "qwen2.5-7b": "qwen2 28 3584 28 4 128 18944 152064 131072 1e6 1e-06 0",
    "qwen2.5-14b": "qwen2 48 5120 40 8 128 13824 152064 131072 1e6 1e-05 0",
    "qwen2.5-32b": "qwen2 64 5120 40 8 128 27648 152064 131072 1e6 1e-05 0",
    "qwen2.5-72b": "qwen2 80 8192 64 8 128 29568 152064 131072 1e6 1e-05 0",
    "qwen3-0.6b": "qwen3 28 1024 16 8 128 3072 151936 40960 1e6 1e-06 1",
    "qwen3-1.7b": "qwen3 28 2048 16 8 128 6144 151936 40960 1e6 1e-06 1",
    "qwen3-4b": "qwen3 36 2560 32 8 128 9728 151936 40960 1e6 1e-06 1",
    "qwen3-8b": "qwen3 36 4096 32 8 128 12288 151936 40960 1e6 1e-06 0",
    "qwen3-14b": "qwen3 40 5120 40 8 128 17408 151936 40960 1e6 1e-06 0",
    "qwen3-32b": "qwen3 64 5120 64 8 128 25600 151936 40960 1e6 1e-06 0",
    "qwen3-30b-a3b": (
        "qwen3_moe 48 2048 32 4 128 6144 151936 40960 1e6 1e-06 0"
    ),
    "qwen3-235b-a22b": (
        "qwen3_moe 94 4096 64 4 128 12288 151936 40960 1e6 1e-06 0"
    ),
    "gemma-2-2b": "gemma2 26 2304 8 4 256 9216 256000 8192 10000 1e-06 1",
    "gemma-2-9b": "gemma2 42 3584 16 8 256 14336 256000 8192 10000 1e-06 1",
    "gemma-2-27b": "gemma2 46 4608 32 16 128 36864 256000 8192 1e4 1e-06 1",
    "gemma-3-1b": "gemma3_text 26 1152 4 1 256 6912 262144 32768 1e6 1e-06 1",
    "gemma-3-4b": "gemma3_text 34 2560 8 4 256 10240 262208 131072 1e6 1e-06 1",
    "gemma-3-12b": (
        "gemma3_text 48 3840 16 8 256 15360 262208 131072 1e6 1e-06 1"
    ),
    "gemma-3-27b": (
        "gemma3_text 62 5376 32 16 128 21504 262208 131072 1e6 1e-06 1"
    ),
    "gpt-oss-20b": "gpt_oss 24 2880 64 8 64 2880 201088 131072 1.5e5 1e-05 0",
    "gpt-oss-120b": "gpt_oss 36 2880 64 8 64 2880 201088 131072 1.5e5 1e-05 0",
    "deepseek-67b": "llama 95 8192 64 8 128 22016 102400 4096 1e4 1e-06 0",
    "deepseek-v2-lite": (
        "deepseek_v2 27 2048 16 16 0 10944 102400 163840 1e4 1e-06 0"
    ),
    "deepseek-v2": (
        "deepseek_v2 60 5120 128 128 0 12288 102400 163840 1e4 1e-06 0"
    ),
    "deepseek-v3": (
        "deepseek_v3 61 7168 128 128 0 18432 129280 163840 1e4 1e-06 0"
    ),
}
KEYS = (
    "num_hidden_layers",
    "hidden_size",
    "num_attention_heads",
    "num_key_value_heads",
    "head_dim",
    "intermediate_size",
    "vocab_size",
    "max_position_embeddings",
)

# layers, hidden, heads, length; GPT-2's own key names
GPT2 = {
    "gpt2": (12, 768, 12, 1024),
    "gpt2-medium": (24, 1024, 16, 1024),
    "gpt2-large": (36, 1280, 20, 1024),
    "gpt2-xl": (48, 1600, 25, 1024),
    "gpt-3-175b": (96, 12288, 96, 2048),
}
OPT = {
    "opt-13b": (40, 5120, 40, 20480),
    "opt-66b": (64, 9216, 72, 36864),
    "opt-175b": (96, 12288, 96, 49152),
}

LLAMA3 = {
    "rope_type": "llama3",
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
GEMMA3 = {"rope_local_base_freq": 10000, "sliding_window_pattern": 6}
GEMMA3_LONG = {"rope_scaling": {"factor": 8.0, "rope_type": "linear"}}
GPT_OSS = {
    "attention_bias": True,
    "num_experts_per_tok": 4,
    "sliding_window": 128,
    "swiglu_limit": 7.0,
    "rope_scaling": {
        "beta_fast": 32.0,
        "beta_slow": 1.0,
        "factor": 32.0,
        "original_max_position_embeddings": 4096,
        "rope_type": "yarn",
        "truncate": False,
    },
}
LATENT = {
    "kv_lora_rank": 512,
    "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64,
    "v_head_dim": 128,
    "num_experts_per_tok": 6,
    "n_shared_experts": 2,
    "first_k_dense_replace": 1,
    "moe_layer_freq": 1,
    "norm_topk_prob": False,
    "scoring_func": "softmax",
}
YARN = {
    "beta_fast": 32,
    "beta_slow": 1,
    "factor": 40,
    "mscale": 0.707,
    "mscale_all_dim": 0.707,
    "original_max_position_embeddings": 4096,
    "type": "yarn",
}
MORE: dict[str, dict[str, Any]] = {
    "llama-3.1-8b": {"rope_scaling": {**LLAMA3, "factor": 8.0}},
    "llama-3.1-70b": {"rope_scaling": {**LLAMA3, "factor": 8.0}},
    "llama-3.1-405b": {"rope_scaling": {**LLAMA3, "factor": 8.0}},
    "llama-3.2-1b": {"rope_scaling": {**LLAMA3, "factor": 32.0}},
    "llama-3.2-3b": {"rope_scaling": {**LLAMA3, "factor": 32.0}},
    "mistral-7b-v0.1": {"sliding_window": 4096},
    "mixtral-8x7b": {
        "num_local_experts": 8,
        "num_experts_per_tok": 2,
        "sliding_window": None,
    },
    "qwen3-30b-a3b": {
        "moe_intermediate_size": 768,
        "num_experts": 128,
        "num_experts_per_tok": 8,
        "norm_topk_prob": True,
    },
    "qwen3-235b-a22b": {
        "moe_intermediate_size": 1536,
        "num_experts": 128,
        "num_experts_per_tok": 8,
        "norm_topk_prob": True,
    },
    "gemma-2-2b": {"query_pre_attn_scalar": 256, "sliding_window": 4096},
    "gemma-2-9b": {"query_pre_attn_scalar": 256, "sliding_window": 4096},
    "gemma-2-27b": {"query_pre_attn_scalar": 144, "sliding_window": 4096},
    "gemma-3-1b": {**GEMMA3, "sliding_window": 512, "rope_scaling": None},
    "gemma-3-4b": {**GEMMA3, **GEMMA3_LONG, "sliding_window": 1024},
    "gemma-3-12b": {**GEMMA3, **GEMMA3_LONG, "sliding_window": 1024},
    "gemma-3-27b": {
        **GEMMA3,
        **GEMMA3_LONG,
        "sliding_window": 1024,
        "query_pre_attn_scalar": 168,
    },
    "gpt-oss-20b": {**GPT_OSS, "num_local_experts": 32},
    "gpt-oss-120b": {**GPT_OSS, "num_local_experts": 128},
    "deepseek-v2-lite": {
        **LATENT,
        "q_lora_rank": None,
        "moe_intermediate_size": 1408,
        "n_routed_experts": 64,
        "routed_scaling_factor": 1.0,
        "topk_method": "greedy",
        "n_group": 1,
        "topk_group": 1,
        "rope_scaling": YARN,
    },
    "deepseek-v2": {
        **LATENT,
        "q_lora_rank": 1536,
        "moe_intermediate_size": 1536,
        "n_routed_experts": 160,
        "routed_scaling_factor": 16.0,
        "topk_method": "group_limited_greedy",
        "n_group": 8,
        "topk_group": 3,
        "rope_scaling": YARN,
    },
    "deepseek-v3": {
        **LATENT,
        "q_lora_rank": 1536,
        "moe_intermediate_size": 2048,
        "n_routed_experts": 256,
        "num_experts_per_tok": 8,
        "n_shared_experts": 1,
        "first_k_dense_replace": 3,
        "routed_scaling_factor": 2.5,
        "norm_topk_prob": True,
        "scoring_func": "sigmoid",
        "topk_method": "noaux_tc",
        "n_group": 8,
        "topk_group": 4,
        "num_nextn_predict_layers": 1,
        "rope_scaling": {**YARN, "mscale": 1.0, "mscale_all_dim": 1.0},
    },
}
NAMES = (*ROTARY, *GPT2, *OPT)


def config_json(name: str) -> dict[str, Any]:
    """Return the published file of a model, without what shapes nothing."""
    if name in GPT2:
        layers, hidden, heads, length = GPT2[name]
        return {
            "model_type": "gpt2",
            "n_layer": layers,
            "n_embd": hidden,
            "n_head": heads,
            "n_positions": length,
            "vocab_size": 50257,
            "activation_function": "gelu_new",
            "layer_norm_epsilon": 1e-5,
        }
    if name in OPT:
        layers, hidden, heads, ffn = OPT[name]
        return {
            "model_type": "opt",
            "num_hidden_layers": layers,
            "hidden_size": hidden,
            "num_attention_heads": heads,
            "ffn_dim": ffn,
            "word_embed_proj_dim": hidden,
            "max_position_embeddings": 2048,
            "vocab_size": 50272,
            "activation_function": "relu",
            "do_layer_norm_before": True,
            "_remove_final_layer_norm": False,
        }
    kind, *sizes, theta, epsilon, tied = ROTARY[name].split()
    found = dict(zip(KEYS, map(int, sizes), strict=True))
    if not found["head_dim"]:
        del found["head_dim"]
    if not kind.startswith("gemma"):  # there, true is the default
        found["tie_word_embeddings"] = tied == "1"
    return {
        "model_type": kind,
        **found,
        "rope_theta": float(theta),
        "rms_norm_eps": float(epsilon),
        **MORE.get(name, {}),
    }


def peer_config(name: str) -> Any:
    """Return the model's configuration as a class of transformers."""
    from transformers import CONFIG_MAPPING

    values = config_json(name)
    # Layers that predict further tokens are not part of the model.
    values.pop("num_nextn_predict_layers", None)
    if values["model_type"] == "deepseek_v3":
        values["num_mtp_layers"] = 0
    return CONFIG_MAPPING[values.pop("model_type")](**values)


def peer_num_params(name: str) -> int:
    """Count the parameters of a transformers model without its weights.

    The bias that corrects a router's choice is a buffer there.
    """
    import torch
    from transformers import AutoModelForCausalLM

    with torch.device("meta"):
        model = AutoModelForCausalLM.from_config(peer_config(name))
    known = {id(p): p.numel() for p in model.parameters()}
    biases = [
        buffer.numel()
        for path, buffer in model.named_buffers()
        if path.endswith("e_score_correction_bias")
    ]
    return sum(known.values()) + sum(biases)
