"""Rotary settings of published models, for the facts registry."""

from __future__ import annotations

import numpy as np

from cutaway.core.errors import ArgumentError
from cutaway.core.rope_scaling import RopeScaling, YarnScaling
from cutaway.layers import pair_counts, rope_frequencies, yarn_range
from cutaway.roofline import model_config

__all__ = ["half_cosine_error", "pairs", "ramp", "rope"]


def rope(model: str) -> tuple[int, float, RopeScaling]:
    """Return the turned width, theta and scaling of a published model.

    Raises:
        ArgumentError: The model is unknown, or does not scale.
    """
    config = model_config(model)
    theta, scaling = config.rope_theta, config.rope_scaling
    if theta is None or scaling is None:
        raise ArgumentError("model", repr(model), "one with a RopeScaling")
    return config.rope_dim, theta, scaling


def pairs(model: str) -> tuple[int, int, int]:
    """Return how many pairs a model keeps, blends and divides.

    >>> pairs("llama-3.1-8b")
    (29, 6, 29)
    """
    return pair_counts(*rope(model))


def ramp(model: str) -> tuple[float, float]:
    """Return the pairs between which a model's YaRN blends.

    >>> ramp("deepseek-v3")
    (10, 23)
    """
    width, theta, scaling = rope(model)
    if not isinstance(scaling, YarnScaling):
        raise ArgumentError("model", repr(model), "one with YarnScaling")
    return yarn_range(width, theta, scaling)


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
