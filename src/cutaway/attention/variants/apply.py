"""What the implementations call: a variant applied to scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from cutaway.attention.variants.variant import AttentionVariant
from cutaway.core.errors import ArgumentError


def apply_variant(
    variant: AttentionVariant, scores: Any, q_pos: Any, kv_pos: Any, head: Any
) -> tuple[Any, Any]:
    """Return the changed scores, and which of them are visible.

    Args:
        variant: What to apply.
        scores: Scaled scores, of any shape; they stay as they are.
        q_pos: Positions of the queries; broadcasts against the scores.
        kv_pos: Positions of the keys; likewise.
        head: Query heads, or one; likewise.

    Returns:
        Scores of the same shape (perhaps of a wider dtype), and a boolean
        array that broadcasts against them, or None if nothing is hidden.

    Raises:
        ArgumentError: A function of the variant returned an array of
            another shape, or a mask that is not boolean.

    >>> from cutaway.attention.variants import causal, softcap
    >>> positions = np.arange(2)
    >>> apply_variant(causal() & softcap(1.0), np.full((2, 2), 9.0),
    ...     positions[:, None], positions, 0)[1].tolist()
    [[True, False], [True, True]]
    """
    if variant.score_mod is not None:
        changed = variant.score_mod(scores, q_pos, kv_pos, head)
        _check_fits("score_mod", changed, scores, exactly=True)
        scores = changed
    if variant.mask_mod is None:
        return scores, None
    visible = variant.mask_mod(q_pos, kv_pos, head)
    _check_fits("mask_mod", visible, scores, exactly=False)
    if str(visible.dtype).removeprefix("torch.") != "bool":
        raise ArgumentError("mask_mod(...).dtype", visible.dtype, "bool")
    return scores, visible


def _check_fits(name: str, got: Any, scores: Any, *, exactly: bool) -> None:
    """Raise unless an array has the shape of the scores, or expands to it."""
    want = tuple(scores.shape)
    if not hasattr(got, "shape"):
        kind = type(got).__qualname__
        raise ArgumentError(f"{name}(...)", kind, "an array like its input")
    shape = tuple(got.shape)
    try:
        fits = np.broadcast_shapes(shape, want) == want
    except ValueError:
        fits = False
    if not fits or (exactly and shape != want):
        verb = "equals" if exactly else "expands to"
        raise ArgumentError(f"{name}(...).shape", shape, f"what {verb} {want}")
