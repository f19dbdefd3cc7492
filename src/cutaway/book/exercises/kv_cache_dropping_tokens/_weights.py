"""Attention weights to choose by."""

from __future__ import annotations

import numpy as np


def causal_weights(
    rng: np.random.Generator, tokens: int, *, peaks: int = 2
) -> np.ndarray:
    """Return weights ``[tokens, tokens]``: rows sum to 1, later keys get 0.

    Some keys draw more weight than others; no two sums are equal.
    """
    scores = rng.normal(0, 1, (tokens, tokens))
    scores[:, rng.integers(0, tokens, peaks)] += 2
    weights = np.where(np.tri(tokens, dtype=bool), np.exp(scores), 0)
    return weights / weights.sum(axis=1, keepdims=True)


def newest_of_highest(numbers: np.ndarray, count: int) -> list[int]:
    """Return where the ``count`` highest numbers are, in ascending order."""
    if count <= 0:
        return []
    places = np.argsort(numbers, kind="stable")[-count:]
    return sorted(int(place) for place in places)
