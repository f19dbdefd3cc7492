"""Families with states of fixed size, with and without attention.

Names and defaults are those of the configuration classes of transformers
5.24; the tests run a small model of each class and count its cache.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from cutaway.roofline.kv_layout import hf_kinds as kinds
from cutaway.roofline.kv_layout import hf_parts as parts
from cutaway.roofline.kv_layout.hf_family import Family
from cutaway.roofline.kv_layout.hf_parts import Config, States


def _mamba(expand: str, state: str, kernel: str) -> Callable[[Config], States]:
    return partial(parts.mamba, expand=expand, state=state, kernel=kernel)


def _mamba2(
    heads: str, width: str, groups: str, state: str, kernel: str
) -> Callable[[Config], States]:
    return partial(
        parts.mamba2,
        heads=heads,
        width=width,
        groups=groups,
        state=state,
        kernel=kernel,
    )


_BAMBA = _mamba2(
    "mamba_n_heads",
    "mamba_d_head",
    "mamba_n_groups",
    "mamba_d_state",
    "mamba_d_conv",
)
_BAMBA_DEFAULTS = {
    "mamba_n_heads": 128,
    "mamba_n_groups": 1,
    "mamba_d_state": 256,
    "mamba_d_conv": 4,
    "mamba_expand": 2,
}
_DELTA_DEFAULTS = {
    "head_dim": 256,
    "linear_conv_kernel_dim": 4,
    "linear_key_head_dim": 128,
    "linear_num_key_heads": 16,
    "linear_num_value_heads": 32,
    "linear_value_head_dim": 128,
}
_FOURTH = kinds.every(4, key="full_attention_interval", other=kinds.STATE)

MAMBA: Mapping[str, Family] = {
    **{
        name: Family(
            shape=None,
            kinds=kinds.all_state,
            states=_mamba("expand", "state_size", "conv_kernel"),
            defaults={"expand": 2, "state_size": 16, "conv_kernel": 4},
        )
        for name in ("mamba", "falcon_mamba")
    },
    "mamba2": Family(
        shape=None,
        kinds=kinds.all_state,
        states=_mamba2(
            "num_heads", "head_dim", "n_groups", "state_size", "conv_kernel"
        ),
        defaults={"n_groups": 8, "state_size": 128, "conv_kernel": 4},
    ),
    "jamba": Family(
        kinds=kinds.jamba,
        states=_mamba("mamba_expand", "mamba_d_state", "mamba_d_conv"),
        defaults={
            "attn_layer_period": 8,
            "attn_layer_offset": 4,
            "mamba_expand": 2,
            "mamba_d_state": 16,
            "mamba_d_conv": 4,
        },
    ),
    "bamba": Family(
        kinds=kinds.listed("attn_layer_indices"),
        states=_BAMBA,
        defaults=_BAMBA_DEFAULTS,
    ),
    "granitemoehybrid": Family(
        kinds=kinds.all_state, states=_BAMBA, defaults=_BAMBA_DEFAULTS
    ),
    "falcon_h1": Family(
        kinds=kinds.all_both,
        states=_BAMBA,
        defaults={**_BAMBA_DEFAULTS, "mamba_d_ssm": 1024},
    ),
    "nemotron_h": Family(
        kinds=kinds.nemotron,
        states=_mamba2(
            "mamba_num_heads",
            "mamba_head_dim",
            "n_groups",
            "ssm_state_size",
            "conv_kernel",
        ),
        defaults={
            "head_dim": 128,
            "mamba_num_heads": 128,
            "mamba_head_dim": 64,
            "n_groups": 8,
            "ssm_state_size": 128,
            "conv_kernel": 4,
        },
    ),
    "zamba2": Family(
        shape=parts.doubled,
        kinds=kinds.zamba2,
        states=_mamba2(
            "n_mamba_heads",
            "mamba_headdim",
            "mamba_ngroups",
            "mamba_d_state",
            "mamba_d_conv",
        ),
        defaults={
            "n_mamba_heads": 8,
            "mamba_ngroups": 1,
            "mamba_d_state": 64,
            "mamba_d_conv": 4,
            "mamba_expand": 2,
        },
    ),
}
"""Mamba and Mamba-2, alone, between attention layers or beside them."""

LINEAR: Mapping[str, Family] = {
    **{
        name: Family(
            kinds=_FOURTH, states=parts.delta_rule, defaults=_DELTA_DEFAULTS
        )
        for name in ("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text")
    },
    "olmo_hybrid": Family(
        kinds=kinds.olmo_hybrid,
        states=parts.delta_rule,
        defaults={"linear_conv_kernel_dim": 4},
    ),
    "kimi_linear": Family(
        shape=parts.latent,
        kinds=kinds.kimi,
        states=parts.kimi,
        defaults={
            "kv_lora_rank": 512,
            "qk_rope_head_dim": 64,
            "linear_num_heads": 32,
            "linear_head_dim": 128,
            "linear_conv_kernel_dim": 4,
        },
    ),
    "minimax": Family(
        kinds=kinds.every(2, one=kinds.STATE, other=kinds.FULL),
        states=parts.lightning,
    ),
    "recurrent_gemma": Family(
        kinds=kinds.recurrent_gemma,
        states=parts.gated_lru,
        defaults={
            "attention_window_size": 2048,
            "block_types": ["recurrent", "recurrent", "attention"],
            "conv1d_width": 4,
        },
        window="attention_window_size",
    ),
    **{
        name: Family(
            kinds=kinds.listed("full_attn_idxs", default=True),
            states=parts.short_conv,
            defaults={"conv_L_cache": 3},
        )
        for name in ("lfm2", "lfm2_moe")
    },
}
"""Linear attention, recurrences and short convolutions."""
