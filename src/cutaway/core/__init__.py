"""The notation of the package: configuration, states, protocols, errors."""

from cutaway.core.block_config import AttentionConfig, FFNConfig, NormConfig
from cutaway.core.config import ModelConfig
from cutaway.core.errors import ArgumentError, CutawayError
from cutaway.core.mla_config import MLAConfig
from cutaway.core.moe_config import ExpertGroups, MoEConfig
from cutaway.core.protocols import KVCache
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
    "ArgumentError",
    "AttentionConfig",
    "AttentionState",
    "CutawayError",
    "DynamicScaling",
    "ExpertGroups",
    "FFNConfig",
    "KVCache",
    "LinearScaling",
    "Llama3Scaling",
    "MLAConfig",
    "MoEConfig",
    "ModelConfig",
    "NTKScaling",
    "NormConfig",
    "RopeScaling",
    "YarnScaling",
    "merge",
]
