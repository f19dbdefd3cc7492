"""Models of which only the cache is sized: hybrids, and a few others.

``ModelConfig`` describes no layer that keeps a state, so these stand here
as their ``config.json`` does, without the keys that leave the cache alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from cutaway.core.checks import check_choice
from cutaway.roofline.kv_layout import KVLayout, kv_layout, kv_layout_from_hf
from cutaway.roofline.models import CONFIGS

_SIZES = (
    "num_hidden_layers",
    "hidden_size",
    "num_attention_heads",
    "num_key_value_heads",
    "max_position_embeddings",
)


def _file(kind: str, *sizes: int, **more: Any) -> dict[str, Any]:
    stated = dict(zip(_SIZES, sizes, strict=True))
    return {"model_type": kind, **stated, **more}


# layers, hidden, heads, KV heads, length
CACHE_FILES: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "mixtral-8x22b": _file("mixtral", 56, 6144, 48, 8, 65536),
        "mistral-large-2": _file(
            "mistral", 88, 12288, 96, 8, 131072, sliding_window=None
        ),
        "jamba-1.5-mini": _file("jamba", 32, 4096, 32, 8, 262144),
        "jamba-1.5-large": _file("jamba", 72, 8192, 64, 8, 262144),
        "nemotron-h-8b": _file(
            "nemotron_h",
            *(52, 4096, 32, 8, 8192),
            hybrid_override_pattern="M-M-M-M*"
            + 3 * "-M-M-M-M-M*"
            + "-M-M-M-M-M-",
        ),
        "qwen3-next-80b-a3b": _file("qwen3_next", 48, 2048, 16, 2, 262144),
        "qwen3.5-397b-a17b": _file(
            "qwen3_5_moe_text",
            *(60, 4096, 32, 2, 262144),
            linear_num_value_heads=64,
        ),
        "kimi-linear-48b-a3b": _file(
            "kimi_linear",
            *(27, 2304, 32, 32, 1048576),
            linear_attn_config={
                "full_attn_layers": [4, 8, 12, 16, 20, 24, 27],
                "kda_layers": [n for n in range(1, 27) if n % 4],
            },
        ),
        "deepseek-v3.2": _file("deepseek_v32", 61, 7168, 128, 128, 163840),
        "gemma-3n-e4b": _file("gemma3n_text", 35, 2048, 8, 2, 32768),
        "llama-4-scout": _file("llama4_text", 48, 5120, 40, 8, 131072),
    }
)
"""The keys of each file that shape its cache."""

CACHE_SOURCES: Mapping[str, str] = MappingProxyType(
    {
        "mixtral-8x22b": "config.json of mistralai/Mixtral-8x22B-v0.1",
        "mistral-large-2": (
            "config.json of mistralai/Mistral-Large-Instruct-2407"
        ),
        "jamba-1.5-mini": "arXiv 2408.12570, section 2",
        "jamba-1.5-large": "arXiv 2408.12570, section 2",
        "nemotron-h-8b": "config.json of nvidia/Nemotron-H-8B-Base-8K",
        "qwen3-next-80b-a3b": "Qwen3NextConfig of transformers 5.24",
        "qwen3.5-397b-a17b": "config.json of Qwen/Qwen3.5-397B-A17B",
        "kimi-linear-48b-a3b": (
            "config.json of moonshotai/Kimi-Linear-48B-A3B-Instruct"
        ),
        "deepseek-v3.2": "DeepseekV32Config of transformers 5.24",
        "gemma-3n-e4b": "Gemma3nTextConfig of transformers 5.24",
        "llama-4-scout": "Llama4TextConfig of transformers 5.24",
    }
)
"""Where the sizes of each were read."""


def model_layout(name: str) -> KVLayout:
    """Return what a published model caches, by name.

    Args:
        name: A key of ``CONFIGS`` or of ``CACHE_FILES``; case does not
            matter.

    Raises:
        ArgumentError: The name is unknown; the message lists the known.

    >>> model_layout("Jamba-1.5-Mini").bytes_per_token()
    16384
    """
    key = str(name).lower()
    check_choice("model", key, (*CONFIGS, *CACHE_FILES))
    if key in CONFIGS:
        return kv_layout(CONFIGS[key])
    return kv_layout_from_hf(CACHE_FILES[key])
