"""Attention variants: masks and scores as data, for every implementation."""

from cutaway.attention.variants.masks import (
    causal,
    full,
    prefix_lm,
    sliding_window,
    streaming,
)
from cutaway.attention.variants.scores import (
    alibi,
    alibi_slopes,
    sink_logits,
    softcap,
)
from cutaway.attention.variants.variant import AttentionVariant, per_head

__all__ = [
    "AttentionVariant",
    "alibi",
    "alibi_slopes",
    "causal",
    "full",
    "per_head",
    "prefix_lm",
    "sink_logits",
    "sliding_window",
    "softcap",
    "streaming",
]
