"""How surprising a token is, and the cut that goes by it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check_real
from cutaway.sampling.processors import checked_logits, softmax

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import ArrayLike


def entropy(logits: ArrayLike) -> Float[np.ndarray, "*batch"]:
    """Return the entropy of the next token, in nats.

    The mean of ``-ln p`` over the distribution itself. Its exponential is
    the number of equally likely tokens that would be as uncertain.

    Args:
        logits: ``[..., vocab]``, finite or ``-inf``.

    Returns:
        float64 of shape ``[...]``, from 0 (one token is certain) to
        ``ln(vocab)`` (all are equally likely).

    Raises:
        ArgumentError: The logits define no distribution.

    Cost: O(vocab) a row.
    Source: Shannon 1948, section 6.

    >>> float(np.exp(entropy([0.0, 0.0, 0.0, 0.0])).round(12))
    4.0
    """
    z, _ = checked_logits(logits)
    probs, surprise = _surprise(z)
    return (probs * np.where(probs > 0, surprise, 0)).sum(axis=-1)


def apply_typical_p(
    logits: ArrayLike, p: float
) -> Float[np.ndarray, "*batch vocab"]:
    """Keep the tokens whose surprise is nearest to the entropy, up to p.

    The surprise of a token is ``-ln p``; its mean is the entropy. Ordered
    by how far they are from it, tokens stay until they sum to at least p,
    the crossing one and its equals included. The likeliest token may go:
    in a flat distribution it is untypically unsurprising.

    Args:
        logits: ``[..., vocab]``, finite or ``-inf``.
        p: In (0, 1]; 1 keeps all.

    Raises:
        ArgumentError: Bad logits or p.

    Cost: O(vocab log vocab) a row: it sorts.
    Source: Meister et al. 2023, arXiv 2202.00666; Hugging Face
    ``TypicalLogitsWarper``.
    Differs: sums in float64 whatever the dtype of the logits.

    >>> apply_typical_p(np.log([0.5, 0.3, 0.2]), 0.25)  # entropy 1.03
    array([      -inf, -1.2039728,       -inf])
    >>> apply_typical_p(np.log([0.5, 0.3, 0.2]), 0.4)
    array([-0.69314718, -1.2039728 ,        -inf])
    """
    check_real("typical_p", p, 0, 1, open_low=True)
    z, _ = checked_logits(logits)
    if p == 1:
        return z.copy()
    probs, surprise = _surprise(z)
    mean = (probs * np.where(probs > 0, surprise, 0)).sum(-1, keepdims=True)
    far = np.abs(surprise - mean)
    order = np.argsort(far, axis=-1, kind="stable")
    reached = np.cumsum(np.take_along_axis(probs, order, axis=-1), axis=-1)
    crossing = (reached < p).sum(axis=-1, keepdims=True)
    crossing = np.minimum(crossing, z.shape[-1] - 1)
    last = np.take_along_axis(order, crossing, axis=-1)
    kept = far <= np.take_along_axis(far, last, axis=-1)
    return np.where(kept, z, -np.inf).astype(z.dtype)


def _surprise(
    z: Float[np.ndarray, "*batch vocab"],
) -> tuple[
    Float[np.ndarray, "*batch vocab"], Float[np.ndarray, "*batch vocab"]
]:
    """Return the probabilities and ``-ln`` of them, in float64."""
    probs = softmax(z.astype(np.float64))
    with np.errstate(divide="ignore"):
        return probs, -np.log(probs)
