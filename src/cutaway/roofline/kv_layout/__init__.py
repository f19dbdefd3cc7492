"""What the layers of a model cache: sizes, budgets, files."""

from cutaway.roofline.kv_layout.budget import break_even_tokens, max_tokens
from cutaway.roofline.kv_layout.cache_format import (
    BFLOAT16,
    CacheFormat,
    bits_per_value,
)
from cutaway.roofline.kv_layout.hf import FAMILIES, kv_layout_from_hf
from cutaway.roofline.kv_layout.layout import (
    KVLayout,
    kv_layout,
    share_layers,
)
from cutaway.roofline.kv_layout.parts import (
    AttentionCache,
    Layer,
    LayerCache,
    SharedCache,
    StateCache,
)

__all__ = [
    "BFLOAT16",
    "FAMILIES",
    "AttentionCache",
    "CacheFormat",
    "KVLayout",
    "Layer",
    "LayerCache",
    "SharedCache",
    "StateCache",
    "bits_per_value",
    "break_even_tokens",
    "kv_layout",
    "kv_layout_from_hf",
    "max_tokens",
    "share_layers",
]
