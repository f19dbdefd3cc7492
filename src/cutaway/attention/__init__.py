"""Attention: what a token takes from the tokens before it."""

from cutaway.attention.delta import gated_delta_rule
from cutaway.attention.dense import attention
from cutaway.attention.heads import merge_heads, repeat_heads
from cutaway.attention.linear import linear_attention
from cutaway.attention.mla import (
    absorbed_attention,
    expanded_attention,
    latent_rows,
    latent_scale,
    turn_tail,
    up_projections,
)
from cutaway.attention.variants import (
    AttentionVariant,
    alibi,
    alibi_slopes,
    causal,
    full,
    per_head,
    prefix_lm,
    sink_logits,
    sliding_window,
    softcap,
    streaming,
)

__all__ = [
    "AttentionVariant",
    "absorbed_attention",
    "alibi",
    "alibi_slopes",
    "attention",
    "causal",
    "expanded_attention",
    "full",
    "gated_delta_rule",
    "latent_rows",
    "latent_scale",
    "linear_attention",
    "merge_heads",
    "per_head",
    "prefix_lm",
    "repeat_heads",
    "sink_logits",
    "sliding_window",
    "softcap",
    "streaming",
    "turn_tail",
    "up_projections",
]
