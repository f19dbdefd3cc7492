"""The notation of the package: configuration, states, protocols, errors."""

from cutaway.core.block_config import AttentionConfig, FFNConfig, NormConfig
from cutaway.core.config import ModelConfig
from cutaway.core.errors import ArgumentError, CutawayError
from cutaway.core.float8 import (
    FLOAT8,
    Float8Format,
    float8_decode,
    float8_encode,
)
from cutaway.core.kv_shape import KVShape
from cutaway.core.mla_config import MLAConfig
from cutaway.core.moe_config import ExpertGroups, MoEConfig
from cutaway.core.protocols import AttendingCache, KVCache
from cutaway.core.rope_scaling import (
    DynamicScaling,
    LinearScaling,
    Llama3Scaling,
    NTKScaling,
    RopeScaling,
    YarnScaling,
)
from cutaway.core.state import AttentionState, merge

__all__ = [
    "FLOAT8",
    "ArgumentError",
    "AttendingCache",
    "AttentionConfig",
    "AttentionState",
    "CutawayError",
    "DynamicScaling",
    "ExpertGroups",
    "FFNConfig",
    "Float8Format",
    "KVCache",
    "KVShape",
    "LinearScaling",
    "Llama3Scaling",
    "MLAConfig",
    "MoEConfig",
    "ModelConfig",
    "NTKScaling",
    "NormConfig",
    "RopeScaling",
    "YarnScaling",
    "float8_decode",
    "float8_encode",
    "merge",
]
