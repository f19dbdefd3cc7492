"""Rotary frequencies of a model that reads more than it was trained on."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check_int, check_real
from cutaway.core.errors import ArgumentError
from cutaway.core.rope_scaling import (
    DynamicScaling,
    LinearScaling,
    Llama3Scaling,
    NTKScaling,
    RopeScaling,
    YarnScaling,
)
from cutaway.layers.rope import rope_frequencies

if TYPE_CHECKING:
    from jaxtyping import Float64


def scaled_frequencies(
    head_dim: int,
    theta: float,
    scaling: RopeScaling | None,
    *,
    num_tokens: int | None = None,
) -> tuple[Float64[np.ndarray, " half"], float]:
    """Return the frequencies of all pairs, and a factor for cos and sin.

    Every kind of scaling slows pairs down, so that more positions fit into
    the angles that the model knows. They differ in the pairs they spare.

    Args:
        head_dim: Width of a head; even.
        theta: The base, ``ModelConfig.rope_theta``.
        scaling: The model's scaling; None leaves all as it is.
        num_tokens: Length of the text, which ``DynamicScaling`` alone
            reads. Up to the trained length, and with None, nothing is
            changed there.

    Returns:
        ``head_dim / 2`` radians per position, float64, and the factor,
        which is 1.0 for all kinds but ``YarnScaling``.

    Raises:
        ArgumentError: A size or ``scaling`` is unusable.

    Source: transformers 5, modeling_rope_utils.py.
    Differs: transformers computes in float32 and has no ``NTKScaling``.

    >>> scaled_frequencies(4, 10000.0, LinearScaling(factor=2.0))
    (array([0.5  , 0.005]), 1.0)
    """
    plain = rope_frequencies(head_dim, theta)
    if num_tokens is not None:
        check_int("num_tokens", num_tokens, low=1)
    match scaling:
        case None:
            return plain, 1.0
        case LinearScaling():
            return plain / scaling.factor, 1.0
        case NTKScaling():
            theta = ntk_theta(head_dim, theta, scaling.factor)
            return rope_frequencies(head_dim, theta), 1.0
        case DynamicScaling():
            factor = _dynamic_factor(scaling, num_tokens)
            theta = ntk_theta(head_dim, theta, factor)
            return rope_frequencies(head_dim, theta), 1.0
        case Llama3Scaling():
            return _llama3_frequencies(plain, scaling), 1.0
        case YarnScaling():
            frequencies = _yarn_frequencies(plain, theta, scaling)
            return frequencies, _yarn_attention(scaling)
    raise ArgumentError("scaling", repr(scaling), "a RopeScaling or None")


def ntk_theta(head_dim: int, theta: float, factor: float) -> float:
    """Return the base with which the slowest pair turns ``factor`` slower.

    The fastest pair turns by one radian whatever the base, and those in
    between share the stretch: each by the same ratio more than the one
    before it.

    Args:
        head_dim: Width of a head; even, at least 4.
        theta: The base of the model.
        factor: How much slower the slowest pair shall turn.

    Raises:
        ArgumentError: There are fewer than two pairs, or a number is not
            positive.

    Source: Peng et al. 2023, arXiv 2309.00071, definition 1.

    >>> theta = ntk_theta(4, 10000.0, 2.0)
    >>> theta, rope_frequencies(4, theta)
    (40000.0, array([1.   , 0.005]))
    """
    check_int("head_dim", head_dim, low=4)
    check_real("theta", theta, 0, open_low=True)
    check_real("factor", factor, 0, open_low=True)
    return theta * factor ** (head_dim / (head_dim - 2))


def yarn_range(
    head_dim: int, theta: float, scaling: YarnScaling
) -> tuple[float, float]:
    """Return the pair numbers between which YaRN goes from keep to divide.

    Pair i makes n0 x theta^(-2i / head_dim) / 2 pi turns within the
    trained length n0. Solved for i, that gives the (fractional) pair that
    makes ``beta_fast`` turns, and the one that makes ``beta_slow``.

    Args:
        head_dim: Width of a head; even.
        theta: The base, above 1.
        scaling: Its constants.

    Returns:
        Where the ramp starts and ends; whole numbers if ``truncate``.

    Raises:
        ArgumentError: A size is unusable.

    Source: Peng et al. 2023, arXiv 2309.00071, section 3.2; transformers
    for ``truncate`` and the limits.
    Differs: the paper blends by the turns of a pair, transformers and this
    package by its number.

    >>> scaling = YarnScaling(factor=40.0, original_max_seq_len=4096)
    >>> yarn_range(64, 10000.0, scaling)
    (10, 23)
    """
    check_int("head_dim", head_dim, low=2)
    check_real("theta", theta, 1, open_low=True)
    low, high = (
        head_dim
        * math.log(scaling.original_max_seq_len / (2 * math.pi * turns))
        / (2 * math.log(theta))
        for turns in (scaling.beta_fast, scaling.beta_slow)
    )
    if scaling.truncate:
        low, high = math.floor(low), math.ceil(high)
    return max(low, 0), min(high, head_dim - 1)


def yarn_mscale(factor: float, weight: float = 1.0) -> float:
    """Return how much YaRN sharpens attention: 0.1 weight ln factor + 1.

    A longer text spreads attention over more keys; multiplying queries
    and keys by this makes the scores larger by its square.

    Args:
        factor: How many times longer the text may be.
        weight: Of the logarithm; DeepSeek calls it ``mscale``.

    Raises:
        ArgumentError: ``factor`` is below 1, or ``weight`` below 0.

    Source: Peng et al. 2023, arXiv 2309.00071, equation 22; the weight is
    DeepSeek's.

    >>> round(yarn_mscale(32.0), 5)
    1.34657
    """
    check_real("factor", factor, 1)
    check_real("weight", weight, 0)
    return 0.1 * weight * math.log(factor) + 1.0


def pair_counts(
    head_dim: int, theta: float, scaling: RopeScaling
) -> tuple[int, int, int]:
    """Count the pairs that a scaling keeps, blends, and divides.

    Args:
        head_dim: Width of a head; even.
        theta: The base.
        scaling: Of any kind.

    Returns:
        Pairs that turn as before, pairs in between, and pairs that turn
        ``factor`` times slower. With a factor of 1 all are kept.

    Raises:
        ArgumentError: A size or ``scaling`` is unusable.

    >>> pair_counts(64, 10000.0, LinearScaling(factor=2.0))
    (0, 0, 32)
    """
    plain = rope_frequencies(head_dim, theta)
    frequencies, _ = scaled_frequencies(head_dim, theta, scaling)
    kept = np.isclose(frequencies, plain, rtol=1e-9, atol=0)
    slowed = plain / scaling.factor
    divided = np.isclose(frequencies, slowed, rtol=1e-9, atol=0) & ~kept
    between = ~(kept | divided)
    return int(kept.sum()), int(between.sum()), int(divided.sum())


def _dynamic_factor(scaling: DynamicScaling, num_tokens: int | None) -> float:
    """Return the factor for a text: 1 up to the trained length."""
    trained = scaling.original_max_seq_len
    length = max(trained, num_tokens or trained)
    return scaling.factor * length / trained - (scaling.factor - 1)


def _llama3_frequencies(
    plain: Float64[np.ndarray, " half"], scaling: Llama3Scaling
) -> Float64[np.ndarray, " half"]:
    """Blend by the turns a pair makes within the trained length."""
    turns = scaling.original_max_seq_len * plain / (2 * math.pi)
    low, high = scaling.low_freq_factor, scaling.high_freq_factor
    keep = np.clip((turns - low) / (high - low), 0, 1)
    return keep * plain + (1 - keep) * plain / scaling.factor


def _yarn_frequencies(
    plain: Float64[np.ndarray, " half"], theta: float, scaling: YarnScaling
) -> Float64[np.ndarray, " half"]:
    """Blend by the pair's number, along a ramp."""
    low, high = yarn_range(2 * len(plain), theta, scaling)
    width = max(high - low, 0.001)
    divide = np.clip((np.arange(len(plain)) - low) / width, 0, 1)
    return (1 - divide) * plain + divide * plain / scaling.factor


def _yarn_attention(scaling: YarnScaling) -> float:
    """Return the factor of cos and sin: stated, or from the weights."""
    if scaling.attention_factor is not None:
        return scaling.attention_factor
    factor = scaling.factor
    if scaling.mscale and scaling.mscale_all_dim:
        numerator = yarn_mscale(factor, scaling.mscale)
        return numerator / yarn_mscale(factor, scaling.mscale_all_dim)
    return yarn_mscale(factor)
