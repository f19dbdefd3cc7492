"""Rotary settings of published models, for the facts registry."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from cutaway.attention import alibi_slopes
from cutaway.core.errors import ArgumentError
from cutaway.core.rope_scaling import Llama3Scaling, RopeScaling, YarnScaling
from cutaway.layers import (
    pair_counts,
    rope_frequencies,
    yarn_mscale,
    yarn_range,
)

__all__ = [
    "ROPES",
    "Rope",
    "alibi_slopes",
    "half_cosine_error",
    "pairs",
    "ramp",
    "yarn_mscale",
]


@dataclass(frozen=True, kw_only=True)
class Rope:
    """How a model turns its queries and keys.

    Attributes:
        head_dim: Width of the part that is turned.
        theta: Base of the frequencies.
        scaling: How they are stretched.
    """

    head_dim: int
    theta: float
    scaling: RopeScaling


ROPES: Mapping[str, Rope] = MappingProxyType(
    {
        "llama-3.1-8b": Rope(
            head_dim=128,
            theta=500_000.0,
            scaling=Llama3Scaling(
                factor=8.0,
                low_freq_factor=1.0,
                high_freq_factor=4.0,
                original_max_seq_len=8192,
            ),
        ),
        "gpt-oss-20b": Rope(
            head_dim=64,
            theta=150_000.0,
            scaling=YarnScaling(
                factor=32.0, original_max_seq_len=4096, truncate=False
            ),
        ),
        "deepseek-v3": Rope(
            head_dim=64,  # the part of a key that is turned, of 192
            theta=10_000.0,
            scaling=YarnScaling(
                factor=40.0,
                original_max_seq_len=4096,
                mscale=1.0,
                mscale_all_dim=1.0,
            ),
        ),
    }
)
"""As the models' own ``config.json`` state them."""


def pairs(model: str) -> tuple[int, int, int]:
    """Return how many pairs a model keeps, blends and divides.

    >>> pairs("llama-3.1-8b")
    (29, 6, 29)
    """
    rope = ROPES[model]
    return pair_counts(rope.head_dim, rope.theta, rope.scaling)


def ramp(model: str) -> tuple[float, float]:
    """Return the pairs between which a model's YaRN blends.

    >>> ramp("deepseek-v3")
    (10, 23)
    """
    rope = ROPES[model]
    if not isinstance(rope.scaling, YarnScaling):
        raise ArgumentError("model", repr(model), "one with YarnScaling")
    return yarn_range(rope.head_dim, rope.theta, rope.scaling)


def half_cosine_error(num_tokens: int, head_dim: int, theta: float) -> float:
    """Return how wrong cosines are if their angles are taken in float16.

    The largest error over all positions and pairs. A large angle has no
    digits left for its fraction of a turn.

    >>> round(half_cosine_error(2048, 32, 10000.0), 4)
    0.7819
    """
    frequencies = rope_frequencies(head_dim, theta)
    positions = np.arange(num_tokens)
    exact = np.outer(positions, frequencies)
    half = np.outer(
        positions.astype(np.float16), frequencies.astype(np.float16)
    )
    return float(np.abs(np.cos(half) - np.cos(exact)).max())
