"""The notation of the package: configuration, states, protocols, errors."""

from cutaway.core.config import ModelConfig
from cutaway.core.errors import ArgumentError, CutawayError
from cutaway.core.protocols import KVCache
from cutaway.core.state import AttentionState, merge

__all__ = [
    "ArgumentError",
    "AttentionState",
    "CutawayError",
    "KVCache",
    "ModelConfig",
    "merge",
]
