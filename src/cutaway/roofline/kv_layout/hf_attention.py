"""Families whose layers attend: their heads, windows and latents.

Names and defaults are those of the configuration classes of transformers
5.24; the tests run a small model of each class and count its cache.
"""

from __future__ import annotations

from collections.abc import Mapping

from cutaway.roofline.kv_layout import hf_kinds as kinds
from cutaway.roofline.kv_layout import hf_parts as parts
from cutaway.roofline.kv_layout.hf_family import Family

# Heads and widths are stated, nothing has a window.
# fmt: off
_PLAIN = (
    "apertus", "arcee", "cohere", "ernie4_5", "ernie4_5_moe", "glm",
    "glm4", "glm4_moe", "gpt_neox", "granite", "granitemoe", "helium",
    "internlm3", "llama", "minimax_m2", "nemotron", "olmo", "olmo2",
    "olmoe", "opt", "phi", "seed_oss", "smollm3", "stablelm",
)
# fmt: on
_QWEN = {"sliding_window": 4096, "max_window_layers": 28}

GROUPED: Mapping[str, Family] = {
    **{name: Family() for name in _PLAIN},
    **{
        name: Family(defaults={"head_dim": width})
        for name, width in (
            ("ernie4_5", 128),
            ("gemma", 256),
            ("glm", 128),
            ("glm4", 128),
            ("helium", 128),
            ("minimax_m2", 128),
            ("seed_oss", 128),
        )
    },
    **{
        name: Family(kinds=kinds.all_local)
        for name in ("mixtral", "phi3", "phimoe", "starcoder2")
    },
    "mistral": Family(kinds=kinds.all_local, defaults={"sliding_window": 4096}),
    "qwen2": Family(
        kinds=kinds.qwen2,
        defaults=_QWEN,
    ),
    "qwen3": Family(
        kinds=kinds.qwen2,
        defaults={"head_dim": 128, **_QWEN},
    ),
    "qwen2_moe": Family(
        kinds=kinds.qwen2_moe,
        defaults=_QWEN,
    ),
    "qwen3_moe": Family(
        kinds=kinds.qwen3_moe, defaults={"sliding_window": 4096}
    ),
    "gemma2": Family(
        kinds=kinds.every(2),
        defaults={"head_dim": 256, "sliding_window": 4096},
    ),
    "gemma3_text": Family(
        kinds=kinds.every(6, key="sliding_window_pattern"),
        defaults={
            "head_dim": 256,
            "num_attention_heads": 8,
            "num_key_value_heads": 4,
            "sliding_window": 4096,
        },
    ),
    "gemma3n_text": Family(
        kinds=kinds.every(5),
        defaults={
            "head_dim": 256,
            "sliding_window": 512,
            "num_kv_shared_layers": 15,
        },
        shared="num_kv_shared_layers",
    ),
    "cohere2": Family(
        kinds=kinds.every(4, key="sliding_window_pattern"),
        defaults={"sliding_window": 4096},
    ),
    "olmo3": Family(kinds=kinds.every(4), defaults={"sliding_window": 4096}),
    "exaone4": Family(
        kinds=kinds.every(4, key="sliding_window_pattern"),
        defaults={"sliding_window": 4096},
    ),
    "gpt_oss": Family(
        kinds=kinds.every(2),
        defaults={"head_dim": 64, "sliding_window": 128},
    ),
    "llama4_text": Family(
        kinds=kinds.llama4,
        defaults={"head_dim": 128, "attention_chunk_size": 8192},
        window="attention_chunk_size",
    ),
    "falcon": Family(shape=parts.falcon),
    "gpt2": Family(shape=parts.gpt),
    "gpt_bigcode": Family(shape=parts.gpt, defaults={"multi_query": True}),
}
"""Attention with keys and values of some heads."""

LATENT: Mapping[str, Family] = {
    name: Family(
        shape=parts.latent,
        defaults={"kv_lora_rank": 512, "qk_rope_head_dim": 64, **more},
        kinds=reader,
    )
    for name, reader, more in (
        ("deepseek_v2", kinds.all_full, {}),
        ("deepseek_v3", kinds.all_full, {}),
        ("deepseek_v32", kinds.all_indexed, {"index_head_dim": 128}),
    )
}
"""Attention with one vector for all heads."""
