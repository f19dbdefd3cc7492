"""Weights: where they come from, how a file packs them, how to unpack."""

from cutaway.weights.block_types import (
    BLOCK_TYPES,
    BlockType,
    fitting_type,
)
from cutaway.weights.fetch import (
    MODELS,
    FetchError,
    ModelSource,
    cache_dir,
    fetch,
    locate,
)
from cutaway.weights.gguf import GGUFError, GGUFFile, TensorInfo
from cutaway.weights.hf_folder import HFFolder, HFFolderError
from cutaway.weights.hf_names import hf_stored
from cutaway.weights.hf_write import hf_config, save_hf_folder
from cutaway.weights.mapped_file import MappedFile
from cutaway.weights.names import decoder_names
from cutaway.weights.permute import (
    GGUF_ROPE_LAYOUTS,
    permute_rows,
    unpermute_rows,
)
from cutaway.weights.quant import DEQUANTIZERS, dequantize
from cutaway.weights.quant_error import error_bound, qgroup_steps
from cutaway.weights.quant_pack import QUANTIZERS, quantize
from cutaway.weights.safetensors import SafetensorsError, SafetensorsFile
from cutaway.weights.safetensors_write import save_safetensors
from cutaway.weights.stored import Stored, find_stored, whole

__all__ = [
    "BLOCK_TYPES",
    "DEQUANTIZERS",
    "GGUF_ROPE_LAYOUTS",
    "MODELS",
    "QUANTIZERS",
    "BlockType",
    "FetchError",
    "GGUFError",
    "GGUFFile",
    "HFFolder",
    "HFFolderError",
    "MappedFile",
    "ModelSource",
    "SafetensorsError",
    "SafetensorsFile",
    "Stored",
    "TensorInfo",
    "cache_dir",
    "decoder_names",
    "dequantize",
    "error_bound",
    "fetch",
    "find_stored",
    "fitting_type",
    "hf_config",
    "hf_stored",
    "locate",
    "permute_rows",
    "qgroup_steps",
    "quantize",
    "save_hf_folder",
    "save_safetensors",
    "unpermute_rows",
    "whole",
]
