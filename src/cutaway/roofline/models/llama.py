"""Llama and its relatives: one architecture, many sizes."""

from __future__ import annotations

from cutaway.core.moe_config import MoEConfig
from cutaway.core.rope_scaling import Llama3Scaling
from cutaway.roofline.models.rows import rows

_SMOLLM2 = "config.json of HuggingFaceTB/SmolLM2-*"
_LLAMA2 = "config.json of meta-llama/Llama-2-*-hf"
_LLAMA3 = "config.json of meta-llama/Llama-3.*"


def _llama3_scaling(factor: float) -> Llama3Scaling:
    return Llama3Scaling(
        factor=factor,
        low_freq_factor=1.0,
        high_freq_factor=4.0,
        original_max_seq_len=8192,
    )


# layers, hidden, heads, KV heads, head_dim, ffn, vocabulary, length
LLAMA = {
    **rows(
        _SMOLLM2,
        {
            "smollm2-135m": (30, 576, 9, 3, 64, 1536, 49152, 8192),
            "smollm2-360m": (32, 960, 15, 5, 64, 2560, 49152, 8192),
        },
        rope_theta=1e5,
        norm_eps=1e-5,
        tie_embeddings=True,
    ),
    **rows(
        _SMOLLM2,
        {"smollm2-1.7b": (24, 2048, 32, 32, 64, 8192, 49152, 8192)},
        rope_theta=1.3e5,
        norm_eps=1e-5,
        tie_embeddings=True,
    ),
    **rows(
        "config.json of TinyLlama/TinyLlama-1.1B",
        {"tinyllama-1.1b": (22, 2048, 32, 4, 64, 5632, 32000, 2048)},
        rope_theta=1e4,
        norm_eps=1e-5,
    ),
    **rows(
        _LLAMA2,
        {
            "llama-2-7b": (32, 4096, 32, 32, 128, 11008, 32000, 4096),
            "llama-2-13b": (40, 5120, 40, 40, 128, 13824, 32000, 4096),
            "llama-2-70b": (80, 8192, 64, 8, 128, 28672, 32000, 4096),
        },
        rope_theta=1e4,
        norm_eps=1e-5,
    ),
    **rows(
        _LLAMA3,
        {
            "llama-3.1-8b": (32, 4096, 32, 8, 128, 14336, 128256, 131072),
            "llama-3.1-70b": (80, 8192, 64, 8, 128, 28672, 128256, 131072),
            "llama-3.1-405b": (126, 16384, 128, 8, 128, 53248, 128256, 131072),
        },
        rope_theta=5e5,
        rope_scaling=_llama3_scaling(8.0),
        norm_eps=1e-5,
    ),
    **rows(
        _LLAMA3,
        {
            "llama-3.2-1b": (16, 2048, 32, 8, 64, 8192, 128256, 131072),
            "llama-3.2-3b": (28, 3072, 24, 8, 128, 8192, 128256, 131072),
        },
        rope_theta=5e5,
        rope_scaling=_llama3_scaling(32.0),
        norm_eps=1e-5,
        tie_embeddings=True,
    ),
    **rows(
        "config.json of mistralai/Mistral-7B-v0.1",
        {"mistral-7b-v0.1": (32, 4096, 32, 8, 128, 14336, 32000, 32768)},
        rope_theta=1e4,
        norm_eps=1e-5,
        window=4096,
    ),
    **rows(
        "config.json of mistralai/Mixtral-8x7B-v0.1",
        {"mixtral-8x7b": (32, 4096, 32, 8, 128, 14336, 32000, 32768)},
        rope_theta=1e6,
        norm_eps=1e-5,
        moe=MoEConfig(
            num_experts=8, experts_per_token=2, expert_ffn_size=14336
        ),
    ),
}
