"""GPT-2, GPT-3 and OPT, with learned positions; and gpt-oss, without."""

from __future__ import annotations

from typing import Any

from cutaway.core.block_config import AttentionConfig, FFNConfig, NormConfig
from cutaway.core.moe_config import MoEConfig
from cutaway.core.rope_scaling import YarnScaling
from cutaway.roofline.models.rows import Published, Sizes, rows

_LEARNED: dict[str, Any] = {
    "rope_theta": None,
    "norm_eps": 1e-5,
    "biases": frozenset({"qkv", "attn_out", "ffn"}),
    "norm": NormConfig(kind="layer"),
    "tie_embeddings": True,
}


def _gpt_oss(
    name: str, num_layers: int, num_experts: int
) -> dict[str, Published]:
    sizes: Sizes = (num_layers, 2880, 64, 8, 64, 2880, 201088, 131072)
    return rows(
        "gpt_oss/torch/model.py of openai/gpt-oss, and its model card",
        {name: sizes},
        rope_theta=1.5e5,
        rope_scaling=YarnScaling(
            factor=32.0, original_max_seq_len=4096, truncate=False
        ),
        norm_eps=1e-5,
        window=128,
        window_pattern=("local", "global"),
        biases=frozenset({"qkv", "attn_out", "ffn", "router"}),
        ffn=FFNConfig(clamp=7.0, sigmoid_gain=1.702),
        attention=AttentionConfig(sink_logits=True),
        moe=MoEConfig(
            num_experts=num_experts, experts_per_token=4, expert_ffn_size=2880
        ),
    )


# layers, hidden, heads, KV heads, head_dim, ffn, vocabulary, length
GPT = {
    **rows(
        "config.json of openai-community/gpt2*",
        {
            "gpt2": (12, 768, 12, 12, 64, 3072, 50257, 1024),
            "gpt2-medium": (24, 1024, 16, 16, 64, 4096, 50257, 1024),
            "gpt2-large": (36, 1280, 20, 20, 64, 5120, 50257, 1024),
            "gpt2-xl": (48, 1600, 25, 25, 64, 6400, 50257, 1024),
        },
        learned_positions=1024,
        ffn=FFNConfig(gated=False, activation="gelu_tanh"),
        **_LEARNED,
    ),
    **rows(
        "Brown et al. 2020, arXiv 2005.14165, table 2.1",
        {"gpt-3-175b": (96, 12288, 96, 96, 128, 49152, 50257, 2048)},
        learned_positions=2048,
        ffn=FFNConfig(gated=False, activation="gelu_tanh"),
        **_LEARNED,
    ),
    **rows(
        "metaseq/launcher/opt_job_constants.py of facebookresearch/metaseq",
        {
            "opt-13b": (40, 5120, 40, 40, 128, 20480, 50272, 2048),
            "opt-66b": (64, 9216, 72, 72, 128, 36864, 50272, 2048),
            "opt-175b": (96, 12288, 96, 96, 128, 49152, 50272, 2048),
        },
        learned_positions=2050,
        ffn=FFNConfig(gated=False, activation="relu"),
        **_LEARNED,
    ),
    **_gpt_oss("gpt-oss-20b", num_layers=24, num_experts=32),
    **_gpt_oss("gpt-oss-120b", num_layers=36, num_experts=128),
}
