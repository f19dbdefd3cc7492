"""The cuts that shape a distribution before a token is drawn from it.

Each works on the last axis of ``[..., vocab]`` logits, returns a new array
and marks a dropped token by ``-inf``. The likeliest token always stays, and
``-inf`` in the input stays as well, so the cuts can follow one another. In
which order they do is a choice, and engines differ: see ``ORDERS``.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check, check_int, check_real
from cutaway.core.errors import ArgumentError

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


def softmax(logits: ArrayLike) -> Float[np.ndarray, "*batch vocab"]:
    """Turn logits into probabilities along the last axis.

    The largest logit is subtracted first: no exponential can overflow.

    Args:
        logits: ``[..., vocab]``, finite or ``-inf``.

    Returns:
        Probabilities of the same shape; 0 where the logit is ``-inf``.

    Raises:
        ArgumentError: A NaN, a ``+inf``, or a row without a finite logit.

    Cost: one pass, O(vocab) a row.

    >>> softmax([0.0, 0.0, -np.inf])
    array([0.5, 0.5, 0. ])
    """
    z, peak = checked_logits(logits)
    with np.errstate(over="ignore"):  # -2e308 is -inf: the weight is 0
        weights = np.exp(z - peak)
    return weights / weights.sum(axis=-1, keepdims=True)


def apply_temperature(
    logits: ArrayLike, temperature: float
) -> Float[np.ndarray, "*batch vocab"]:
    """Divide the logits by the temperature.

    Below 1 the gaps between logits grow and the distribution sharpens;
    above 1 it flattens. The order of the tokens never changes.

    Args:
        logits: ``[..., vocab]``, finite or ``-inf``.
        temperature: Greater than 0. Greedy decoding is not a division: the
            sampler handles 0.

    Raises:
        ArgumentError: Bad logits or temperature, or one so small that a
            quotient overflows.

    Cost: one pass, O(vocab) a row.
    Source: Hugging Face ``TemperatureLogitsWarper``.

    >>> apply_temperature([1.0, 3.0], 0.5)
    array([2., 6.])
    """
    check_real("temperature", temperature, 0, open_low=True)
    z, _ = checked_logits(logits)
    with np.errstate(over="ignore"):  # very negative: -inf is the limit
        scaled = (z.astype(np.float64) / temperature).astype(z.dtype)
    check(
        not np.isposinf(scaled).any(),
        "temperature",
        temperature,
        f"one with logits / temperature finite in {z.dtype}, or 0 (greedy)",
    )
    return scaled


def apply_top_k(logits: ArrayLike, k: int) -> Float[np.ndarray, "*batch vocab"]:
    """Keep the k largest logits, and any equal to the smallest of them.

    Args:
        logits: ``[..., vocab]``, finite or ``-inf``.
        k: At least 1; at or above ``vocab`` it keeps all.

    Raises:
        ArgumentError: Bad logits or k.

    Cost: O(vocab) a row (a partition, not a sort).
    Source: Fan et al. 2018, arXiv 1805.04833; Hugging Face
    ``TopKLogitsWarper``, which keeps ties as well.

    >>> apply_top_k([3.0, 1.0, 2.0, 2.0], 2)
    array([  3., -inf,   2.,   2.])
    """
    check_int("top_k", k, low=1)
    z, _ = checked_logits(logits)
    place = max(z.shape[-1] - k, 0)
    kth = np.partition(z, place, axis=-1)[..., place, None]
    return np.where(z >= kth, z, -np.inf).astype(z.dtype)


def apply_top_p(
    logits: ArrayLike, p: float
) -> Float[np.ndarray, "*batch vocab"]:
    """Keep the smallest set of likely tokens that has probability p.

    From the likeliest down, a token stays while the ones before it sum to
    less than p: the token that crosses p is kept. Among equal logits at
    the cut, lower ids stay.

    Args:
        logits: ``[..., vocab]``, finite or ``-inf``.
        p: In (0, 1]; 1 keeps all.

    Raises:
        ArgumentError: Bad logits or p.

    Cost: O(vocab) a row, and a sort of the tokens that can still stay.
    Source: Holtzman et al. 2019, arXiv 1904.09751, section 3.1.
    Differs: Hugging Face sums upward from the least likely token in the
    dtype of the logits, and its sort leaves ties open; here the sum is
    float64.

    >>> apply_top_p(np.log([0.5, 0.3, 0.2]), 0.6)  # 0.5 < 0.6 <= 0.8
    array([-0.69314718, -1.2039728 ,        -inf])
    """
    check_real("top_p", p, 0, 1, open_low=True)
    z, _ = checked_logits(logits)
    if p == 1:  # a rounded sum may reach 1 before the last tokens
        return z.copy()
    probs = softmax(z.astype(np.float64))
    # Tokens below (1 - p) / vocab sum to less than 1 - p: all are beyond
    # the cut. Half of that leaves room for rounding.
    hopeless = probs < 0.5 * (1 - p) / z.shape[-1]
    order = np.argsort(np.where(hopeless, np.inf, -z), kind="stable")
    ranked = np.take_along_axis(probs, order, axis=-1)
    before = np.zeros_like(ranked)
    np.cumsum(ranked[..., :-1], axis=-1, out=before[..., 1:])
    keep = np.empty(z.shape, dtype=bool)
    np.put_along_axis(keep, order, before < p, axis=-1)
    return np.where(keep, z, -np.inf).astype(z.dtype)


def apply_min_p(
    logits: ArrayLike, p: float
) -> Float[np.ndarray, "*batch vocab"]:
    """Drop tokens less likely than p times the likeliest.

    ``prob >= p * max(prob)`` is ``logit >= max(logit) + ln p``: no softmax
    is needed.

    Args:
        logits: ``[..., vocab]``, finite or ``-inf``.
        p: In [0, 1); 0 keeps all.

    Raises:
        ArgumentError: Bad logits or p.

    Cost: one pass, O(vocab) a row.
    Source: Nguyen et al. 2024, arXiv 2407.01082.

    >>> apply_min_p(np.log([0.5, 0.3, 0.2]), 0.5)  # 0.25 is the floor
    array([-0.69314718, -1.2039728 ,        -inf])
    """
    check_real("min_p", p, 0, 1)
    check(p < 1, "min_p", p, "a number in [0, 1)")
    z, peak = checked_logits(logits)
    if p == 0:
        return z.copy()
    return np.where(z >= peak + math.log(p), z, -np.inf).astype(z.dtype)


def checked_logits(
    logits: ArrayLike,
) -> tuple[Float[np.ndarray, "*batch vocab"], Float[np.ndarray, "*batch 1"]]:
    """Return logits as floats with each row's largest, or refuse them.

    The largest of a row is NaN if any entry is, and infinite if one is
    ``+inf`` or all are ``-inf``: one test finds all three.

    Args:
        logits: ``[..., vocab]``; integers become float64, halves float32.

    Returns:
        The logits, and the maxima with the last axis kept.

    Raises:
        ArgumentError: The logits define no distribution.
    """
    z = np.asarray(logits)
    if z.ndim == 0 or z.shape[-1] == 0:
        raise ArgumentError("logits.shape", z.shape, "[..., vocab >= 1]")
    if z.dtype.kind not in "fiu":
        raise ArgumentError("logits.dtype", z.dtype, "real numbers")
    if z.dtype.kind != "f":
        z = z.astype(np.float64)
    elif z.dtype == np.float16:
        z = z.astype(np.float32)
    peak = z.max(axis=-1, keepdims=True)
    if not np.isfinite(peak).all():
        _explain(z, peak)
    return z, peak


def _explain(z: np.ndarray, peak: np.ndarray) -> None:
    """Raise an error that says what is wrong with the logits."""
    expected = "finite or -inf, at least one finite in each row"
    for what, wrong in (("NaN", np.isnan(z)), ("+inf", np.isposinf(z))):
        if wrong.any():
            first = tuple(int(i) for i in np.argwhere(wrong)[0])
            got = f"{what} in {wrong.sum()} of {z.size}, first at {first}"
            raise ArgumentError("logits", got, expected)
    rows = int(np.isneginf(peak).sum())
    raise ArgumentError("logits", f"{rows} row(s) of only -inf", expected)
