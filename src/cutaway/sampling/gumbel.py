"""Two ways to draw a token by an argmax, without a running sum."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.errors import ArgumentError
from cutaway.sampling.processors import checked_logits

if TYPE_CHECKING:
    from jaxtyping import Float, Int
    from numpy.typing import ArrayLike


def gumbel_max(
    logits: ArrayLike, generator: np.random.Generator
) -> Int[np.ndarray, "*batch"]:
    """Draw from softmax(logits): add Gumbel noise, take the largest.

    With ``u`` uniform in (0, 1), ``g = -ln(-ln u)`` is Gumbel noise, and
    ``argmax(z + g)`` is token i with probability ``softmax(z)[i]``. There
    is no sum over the vocabulary: parts of it can be drawn apart, and the
    largest of their winners is the token.

    Args:
        logits: ``[..., vocab]``, finite or ``-inf``, after all cuts.
        generator: Advanced by one number a logit.

    Returns:
        int64 token ids, ``[...]``; none at ``-inf``.

    Raises:
        ArgumentError: The logits define no distribution; the generator
            has then not moved.

    Cost: O(vocab) random numbers and logarithms a row.
    Source: Maddison et al. 2014, arXiv 1411.0030, section 2.

    >>> generator = np.random.default_rng(0)
    >>> draws = gumbel_max(np.log(np.full((3000, 2), [0.8, 0.2])), generator)
    >>> bool(0.77 < (draws == 0).mean() < 0.83)
    True
    """
    z, _ = checked_logits(logits)
    noise = -np.log(_exponential(generator, z.shape))  # -ln u is Exp(1)
    return np.asarray((z + noise).argmax(axis=-1))


def exponential_race(
    probs: ArrayLike, generator: np.random.Generator
) -> Int[np.ndarray, "*batch"]:
    """Draw from probabilities: the token that arrives first.

    Token i arrives at time ``e_i / p_i`` with ``e_i ~ Exp(1)``, that is at
    rate ``p_i``. The first to arrive, ``argmax(p / e)``, is token i with
    probability ``p_i``. It is Gumbel-max without the logarithms.

    Args:
        probs: ``[..., vocab]``, at least 0, each row with a positive sum;
            it need not be 1.
        generator: Advanced by one number a probability.

    Returns:
        int64 token ids, ``[...]``; none of probability 0.

    Raises:
        ArgumentError: The probabilities are none; the generator has then
            not moved.

    Cost: O(vocab) random numbers a row.
    Source: vLLM, ``random_sample`` in ``vllm/v1/sample``.

    >>> generator = np.random.default_rng(0)
    >>> draws = exponential_race(np.full((3000, 2), [0.8, 0.2]), generator)
    >>> bool(0.77 < (draws == 0).mean() < 0.83)
    True
    """
    p = np.asarray(probs)
    if p.ndim == 0 or p.shape[-1] == 0 or p.dtype.kind not in "fiu":
        got = f"{p.dtype} of shape {p.shape}"
        raise ArgumentError("probs", got, "real numbers, [..., vocab >= 1]")
    if not (np.isfinite(p).all() and (p >= 0).all()):
        raise ArgumentError("probs", "a NaN, inf or negative number", ">= 0")
    if not (p.max(axis=-1) > 0).all():
        raise ArgumentError("probs", "a row of zeros", "a positive sum")
    arrived = p / _exponential(generator, p.shape)
    return np.asarray(arrived.argmax(axis=-1))


def _exponential(
    generator: np.random.Generator, shape: tuple[int, ...]
) -> Float[np.ndarray, "..."]:
    """Draw from Exp(1); a zero, once in 2**53, becomes tiny."""
    drawn = generator.standard_exponential(shape)
    return np.maximum(drawn, np.finfo(np.float64).tiny)
