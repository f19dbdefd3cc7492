"""What attention returns, and how two partial results become one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check_shape

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float


@dataclass(frozen=True)
class AttentionState:
    """The result of attention over some keys, mergeable with another.

    Beside the output it keeps the log-sum-exp of each row's scores. With
    it, the results over two disjoint sets of keys combine into the result
    over their union, in any order and grouping.

    Attributes:
        out: Attention output, ``[tokens, heads, value_dim]``; usually
            value_dim is head_dim.
        lse: Natural log of the sum of the exponentials of the scaled
            scores, ``[tokens, heads]``; ``-inf`` where no key was visible
            (and ``out`` is then zero).

    Source: Milakov & Gimelshein 2018 (online softmax); FlashInfer,
    arXiv 2501.01005, section 2.2 (attention states).
    Differs: FlashInfer's LSE is base 2; this one is natural.
    """

    out: Float[Any, "tokens heads head_dim"]
    lse: Float[Any, "tokens heads"]

    @classmethod
    def empty(cls, tokens: int, heads: int, head_dim: int) -> AttentionState:
        """Return the identity of ``merge``: zeros and ``-inf``."""
        return cls(
            out=np.zeros((tokens, heads, head_dim), np.float32),
            lse=np.full((tokens, heads), -np.inf, np.float32),
        )


def merge(a: AttentionState, b: AttentionState) -> AttentionState:
    """Combine attention over two disjoint sets of keys.

    Associative and commutative up to rounding, with the empty state as
    identity: merging two empty states gives the empty state, not NaN.

    Args:
        a: State over some keys; NumPy arrays, or CPU tensors.
        b: State over other keys, of the same shape.

    Returns:
        The state over the union, as NumPy arrays.

    Raises:
        ArgumentError: The shapes differ.

    Cost: O(tokens x heads x head_dim), independent of the number of keys.
    Source: FlashInfer, arXiv 2501.01005, section 2.2.

    >>> empty = AttentionState.empty(1, 1, 2)
    >>> merge(empty, empty).lse
    array([[-inf]], dtype=float32)
    """
    out_a, lse_a = np.asarray(a.out), np.asarray(a.lse)
    out_b, lse_b = np.asarray(b.out), np.asarray(b.lse)
    check_shape("b.out", out_b, out_a.shape)
    check_shape("a.lse", lse_a, out_a.shape[:2])
    check_shape("b.lse", lse_b, out_a.shape[:2])
    lse = np.logaddexp(lse_a, lse_b)
    # Where both are empty, lse is -inf and -inf - -inf would be NaN.
    shift = np.where(np.isneginf(lse), 0, lse).astype(lse.dtype)
    weight_a = np.exp(lse_a - shift)[..., None]
    weight_b = np.exp(lse_b - shift)[..., None]
    return AttentionState(out=weight_a * out_a + weight_b * out_b, lse=lse)
