"""Attention: what a token takes from the tokens before it."""

from cutaway.attention.dense import attention
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
    "alibi",
    "alibi_slopes",
    "attention",
    "causal",
    "full",
    "per_head",
    "prefix_lm",
    "sink_logits",
    "sliding_window",
    "softcap",
    "streaming",
]
