"""DeepSeek: a dense Llama, then latent attention and shared experts."""

from __future__ import annotations

from cutaway.core.mla_config import MLAConfig
from cutaway.core.moe_config import ExpertGroups, MoEConfig
from cutaway.core.rope_scaling import YarnScaling
from cutaway.roofline.models.rows import Published, Sizes, rows


def _latent(
    name: str,
    sizes: Sizes,
    *,
    q_lora_rank: int | None,
    mscale: float,
    moe: MoEConfig,
) -> dict[str, Published]:
    return rows(
        "inference/configs of deepseek-ai/DeepSeek-V3, and config.json",
        {name: sizes},
        rope_theta=1e4,
        rope_scaling=YarnScaling(
            factor=40.0,
            original_max_seq_len=4096,
            mscale=mscale,
            mscale_all_dim=mscale,
        ),
        rope_layout="interleaved",
        norm_eps=1e-6,
        moe=moe,
        mla=MLAConfig(
            kv_lora_rank=512,
            q_lora_rank=q_lora_rank,
            qk_nope_head_dim=128,
            qk_rope_head_dim=64,
            v_head_dim=128,
        ),
    )


# layers, hidden, heads, KV heads, head_dim, ffn, vocabulary, length
DEEPSEEK = {
    **rows(
        "config.json of deepseek-ai/deepseek-llm-67b-base",
        {"deepseek-67b": (95, 8192, 64, 8, 128, 22016, 102400, 4096)},
        rope_theta=1e4,
        norm_eps=1e-6,
    ),
    **_latent(
        "deepseek-v2-lite",
        (27, 2048, 16, 16, 192, 10944, 102400, 163840),
        q_lora_rank=None,
        mscale=0.707,
        moe=MoEConfig(
            num_experts=64,
            experts_per_token=6,
            expert_ffn_size=1408,
            num_shared_experts=2,
            num_dense_layers=1,
            renormalize=False,
        ),
    ),
    **_latent(
        "deepseek-v2",
        (60, 5120, 128, 128, 192, 12288, 102400, 163840),
        q_lora_rank=1536,
        mscale=0.707,
        moe=MoEConfig(
            num_experts=160,
            experts_per_token=6,
            expert_ffn_size=1536,
            num_shared_experts=2,
            num_dense_layers=1,
            renormalize=False,
            weight_scale=16.0,
            groups=ExpertGroups(num_groups=8, groups_per_token=3),
        ),
    ),
    **_latent(
        "deepseek-v3",
        (61, 7168, 128, 128, 192, 18432, 129280, 163840),
        q_lora_rank=1536,
        mscale=1.0,
        moe=MoEConfig(
            num_experts=256,
            experts_per_token=8,
            expert_ffn_size=2048,
            num_shared_experts=1,
            num_dense_layers=3,
            scoring="sigmoid",
            weight_scale=2.5,
            correction_bias=True,
            groups=ExpertGroups(
                num_groups=8, groups_per_token=4, score="top2_sum"
            ),
        ),
    ),
}
