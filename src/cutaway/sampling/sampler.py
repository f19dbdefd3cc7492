"""From logits to the next token id."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.errors import ArgumentError
from cutaway.sampling.processors import (
    apply_min_p,
    apply_temperature,
    apply_top_k,
    apply_top_p,
    checked_logits,
    softmax,
)

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike

    from cutaway.sampling.params import SamplingParams


def new_generator(params: SamplingParams) -> np.random.Generator:
    """Return the random generator of one request.

    Each request owns one, so its tokens do not depend on which others run
    beside it, nor in what order.

    Args:
        params: ``seed`` is used; None takes entropy from the system.

    >>> from cutaway.sampling import SamplingParams
    >>> params = SamplingParams(seed=7)
    >>> new_generator(params).random() == new_generator(params).random()
    True
    """
    return np.random.default_rng(params.seed)


def probabilities(
    logits: ArrayLike, params: SamplingParams
) -> Float[np.ndarray, "*batch vocab"]:
    """Return the distribution that ``sample`` draws from.

    Temperature, top-k, top-p and min-p in this order, then a softmax. The
    largest logit is subtracted first, so that no temperature is too small.

    Args:
        logits: ``[..., vocab]``, finite or ``-inf``.
        params: What to apply.

    Returns:
        float64 of the same shape; each row sums to 1. Greedy decoding is
        the row with a single 1.

    Raises:
        ArgumentError: The logits define no distribution.

    Cost: O(vocab) a row, O(vocab log vocab) with top-p.
    Source: order of Hugging Face ``generate``; vLLM puts min-p first.

    >>> from cutaway.sampling import SamplingParams
    >>> probabilities([0.0, 0.0, -9.0], SamplingParams(top_k=2))
    array([0.5, 0.5, 0. ])
    """
    z, peak = checked_logits(logits)
    if params.is_greedy:
        winner = z.argmax(axis=-1)[..., None]
        return (np.arange(z.shape[-1]) == winner).astype(np.float64)
    with np.errstate(over="ignore"):
        z = z.astype(np.float64) - peak
    z = apply_temperature(z, params.temperature)
    if params.top_k is not None:
        z = apply_top_k(z, params.top_k)
    z = apply_top_p(z, params.top_p)
    z = apply_min_p(z, params.min_p)
    return softmax(z)


def sample(
    logits: ArrayLike,
    params: SamplingParams,
    generator: np.random.Generator,
) -> int:
    """Choose one token.

    Greedy takes the largest logit, the lowest id among equals. Otherwise
    one uniform number is looked up in the running sum of the
    probabilities (the inverse of the distribution function).

    Args:
        logits: ``[vocab]``, finite or ``-inf``.
        params: Temperature and cuts.
        generator: The request's generator; advanced by exactly one number,
            or by none when greedy.

    Returns:
        A token id whose probability is not 0.

    Raises:
        ArgumentError: The logits define no distribution; the generator has
            then not moved.

    Cost: as ``probabilities``.
    Differs: engines on a GPU take ``argmax(prob / Exp(1))``, which has the
    same distribution and needs no running sum.

    >>> from cutaway.sampling import SamplingParams
    >>> sample([1.0, 7.0, 7.0], SamplingParams(temperature=0), new_generator(
    ...     SamplingParams(seed=0)))
    1
    """
    z, _ = checked_logits(logits)
    if z.ndim != 1:
        raise ArgumentError("logits.shape", z.shape, "[vocab]")
    if params.is_greedy:
        return int(z.argmax())
    cumulative = np.cumsum(probabilities(z, params))
    cumulative /= cumulative[-1]  # the last is 1, and random() is below 1
    return int(np.searchsorted(cumulative, generator.random(), side="right"))
