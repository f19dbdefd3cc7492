"""Weights: where they come from, how a file packs them, how to unpack."""

from cutaway.weights.block_types import BLOCK_TYPES, BlockType
from cutaway.weights.fetch import (
    MODELS,
    FetchError,
    ModelSource,
    cache_dir,
    fetch,
    locate,
)
from cutaway.weights.gguf import GGUFError, GGUFFile, TensorInfo
from cutaway.weights.names import decoder_names
from cutaway.weights.quant import DEQUANTIZERS, dequantize

__all__ = [
    "BLOCK_TYPES",
    "DEQUANTIZERS",
    "MODELS",
    "BlockType",
    "FetchError",
    "GGUFError",
    "GGUFFile",
    "ModelSource",
    "TensorInfo",
    "cache_dir",
    "decoder_names",
    "dequantize",
    "fetch",
    "locate",
]
