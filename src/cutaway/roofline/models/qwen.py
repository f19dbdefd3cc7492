"""Qwen2.5, with biases, and Qwen3, with norms on queries and keys."""

from __future__ import annotations

from cutaway.core.block_config import NormConfig
from cutaway.core.moe_config import MoEConfig
from cutaway.roofline.models.rows import rows

_QWEN25 = "config.json of Qwen/Qwen2.5-*"
_QWEN3 = "config.json of Qwen/Qwen3-*"
_BIASES = frozenset({"qkv"})
_QK_NORM = NormConfig(qk=True)

# layers, hidden, heads, KV heads, head_dim, ffn, vocabulary, length
QWEN = {
    **rows(
        _QWEN25,
        {
            "qwen2.5-0.5b": (24, 896, 14, 2, 64, 4864, 151936, 32768),
            "qwen2.5-1.5b": (28, 1536, 12, 2, 128, 8960, 151936, 131072),
            "qwen2.5-3b": (36, 2048, 16, 2, 128, 11008, 151936, 32768),
        },
        rope_theta=1e6,
        norm_eps=1e-6,
        biases=_BIASES,
        tie_embeddings=True,
    ),
    **rows(
        _QWEN25,
        {"qwen2.5-7b": (28, 3584, 28, 4, 128, 18944, 152064, 131072)},
        rope_theta=1e6,
        norm_eps=1e-6,
        biases=_BIASES,
    ),
    **rows(
        _QWEN25,
        {
            "qwen2.5-14b": (48, 5120, 40, 8, 128, 13824, 152064, 131072),
            "qwen2.5-32b": (64, 5120, 40, 8, 128, 27648, 152064, 131072),
            "qwen2.5-72b": (80, 8192, 64, 8, 128, 29568, 152064, 131072),
        },
        rope_theta=1e6,
        norm_eps=1e-5,
        biases=_BIASES,
    ),
    **rows(
        _QWEN3,
        {
            "qwen3-0.6b": (28, 1024, 16, 8, 128, 3072, 151936, 40960),
            "qwen3-1.7b": (28, 2048, 16, 8, 128, 6144, 151936, 40960),
            "qwen3-4b": (36, 2560, 32, 8, 128, 9728, 151936, 40960),
        },
        rope_theta=1e6,
        norm_eps=1e-6,
        norm=_QK_NORM,
        tie_embeddings=True,
    ),
    **rows(
        _QWEN3,
        {
            "qwen3-8b": (36, 4096, 32, 8, 128, 12288, 151936, 40960),
            "qwen3-14b": (40, 5120, 40, 8, 128, 17408, 151936, 40960),
            "qwen3-32b": (64, 5120, 64, 8, 128, 25600, 151936, 40960),
        },
        rope_theta=1e6,
        norm_eps=1e-6,
        norm=_QK_NORM,
    ),
    **rows(
        _QWEN3,
        {"qwen3-30b-a3b": (48, 2048, 32, 4, 128, 6144, 151936, 40960)},
        rope_theta=1e6,
        norm_eps=1e-6,
        norm=_QK_NORM,
        moe=MoEConfig(
            num_experts=128, experts_per_token=8, expert_ffn_size=768
        ),
    ),
    **rows(
        _QWEN3,
        {"qwen3-235b-a22b": (94, 4096, 64, 4, 128, 12288, 151936, 40960)},
        rope_theta=1e6,
        norm_eps=1e-6,
        norm=_QK_NORM,
        moe=MoEConfig(
            num_experts=128, experts_per_token=8, expert_ffn_size=1536
        ),
    ),
}
