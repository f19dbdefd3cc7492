"""Attention over tokens at chosen positions, and the weights it gives."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from cutaway.attention import AttentionVariant, causal
from cutaway.attention.variants.apply import apply_variant
from cutaway.layers import from_numpy, to_numpy

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float, Int


def at_positions(
    variant: AttentionVariant,
    positions: Int[np.ndarray, "kept kv_heads"],
    next_position: int,
    group_size: int,
    *,
    impl: str,
) -> AttentionVariant:
    """Return a causal variant of keys that stand where they stood.

    Attention counts keys from 0 and takes the queries for the last of
    them. Here key j of a head has a position of its own, and the last
    query stands directly before ``next_position``.

    Args:
        variant: What it does besides, given positions in the text.
        positions: Of the keys of each key/value head.
        next_position: Of the token after the last query.
        group_size: Query heads for each key/value head.
        impl: ``"numpy"`` or ``"torch"``.

    >>> from cutaway.attention import sliding_window
    >>> kept = np.array([[0], [7], [9]])  # the third of 3 stands at 9
    >>> near = at_positions(sliding_window(3), kept, 10, 1, impl="numpy")
    >>> near.mask_mod(2, np.arange(3), 0)
    array([False,  True,  True])
    """
    inner = causal() & variant
    mask, score = inner.mask_mod, inner.score_mod
    moved = next_position - len(positions)
    places = from_numpy(positions.astype(np.int64), impl=impl)

    def place(kv, head):
        return places[kv, head // group_size]

    return replace(
        inner,
        mask_mod=mask
        and (lambda q, kv, head: mask(q + moved, place(kv, head), head)),
        score_mod=score
        and (lambda x, q, kv, head: score(x, q + moved, place(kv, head), head)),
    )


def observed_weights(
    q: Float[Any, "queries heads head_dim"],
    keys: Float[Any, "kept kv_heads head_dim"],
    lse: Float[Any, "queries heads"],
    *,
    variant: AttentionVariant | None,
    impl: str,
) -> Float[np.ndarray, "kv_heads queries kept"]:
    """Return the weights of the last queries, summed in each group.

    Attention itself keeps no weights. With the log-sum-exp of a row they
    are the exponentials of its scores, computed once more.

    Args:
        q: Rotated queries; they are the last of the keys.
        keys: Rotated.
        lse: Log-sum-exp of their scores, from the attention.
        variant: As for the attention; None is the causal mask.
        impl: ``"numpy"`` or ``"torch"``.

    Returns:
        What the query heads of each group gave to each key, together; a
        row sums to the size of the group, or less with sinks.

    Cost: 2 x heads x head_dim FLOPs a query and key.

    >>> one = np.ones((1, 2, 4))
    >>> observed_weights(one, one[:, :1], np.full((1, 2), 2.0),
    ...     variant=None, impl="numpy")
    array([[[2.]]])
    """
    variant = causal() if variant is None else variant
    q, keys, lse = (to_numpy(array, impl=impl) for array in (q, keys, lse))
    queries, heads, head_dim = q.shape
    kept, kv_heads, _ = keys.shape
    scale = head_dim**-0.5 if variant.scale is None else variant.scale
    q_pos = np.arange(kept - queries, kept)[:, None]
    weights = np.zeros((kv_heads, queries, kept), q.dtype)
    for head in range(heads):
        group = head // (heads // kv_heads)
        scores = q[:, head] @ keys[:, group].T * scale
        scores, seen = _applied(variant, scores, q_pos, head, impl)
        with np.errstate(invalid="ignore"):  # a row that sees nothing
            part = np.exp(scores - lse[:, head, None])
        weights[group] += np.where(seen, part, 0)
    return weights


def _applied(
    variant: AttentionVariant,
    scores: Float[np.ndarray, "queries kept"],
    q_pos: Int[np.ndarray, "queries 1"],
    head: int,
    impl: str,
) -> tuple[Any, Any]:
    """Apply a variant made for arrays of a backend to NumPy's."""
    kv_pos = np.arange(scores.shape[1])
    changed, seen = apply_variant(
        variant,
        from_numpy(scores, impl=impl),
        from_numpy(q_pos, impl=impl),
        from_numpy(kv_pos, impl=impl),
        head,
    )
    changed = to_numpy(changed, impl=impl)
    return changed, True if seen is None else to_numpy(seen, impl=impl)
