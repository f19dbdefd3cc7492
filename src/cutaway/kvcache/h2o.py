"""H2O: keep the tokens that were attended to most, and the newest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check_int
from cutaway.core.config import ModelConfig
from cutaway.kvcache.evicting import EvictingCache
from cutaway.kvcache.rolling import CHUNK_TOKENS

if TYPE_CHECKING:
    from jaxtyping import Float, Int

LEAST_TOKENS = 256
"""Tokens that ``h2o_cache`` keeps of a text that is not long."""


@dataclass(frozen=True)
class H2O:
    """Keeps the newest tokens and the heavy hitters of each head.

    A heavy hitter is a token that has received much attention: its score
    is the sum of the weights that all queries so far have given it.

    Attributes:
        recent_tokens: Newest tokens that stay whatever their scores.

    Raises:
        ArgumentError: ``recent_tokens`` is not an integer >= 0.

    Source: H2O, arXiv 2306.14048, section 4 (greedy by accumulated
    scores, with half of the budget for the newest tokens in its code).
    Differs: query heads that share a key/value head add up their weights;
    the paper's models share none.

    >>> policy = H2O(recent_tokens=1)
    >>> weights = np.array([[[0.9, 0.1, 0.0], [0.5, 0.1, 0.4]]])
    >>> scores = policy.scored(np.zeros((1, 3)), weights)
    >>> scores
    array([[1.4, 0.2, 0.4]])
    >>> policy.priorities(scores, np.arange(3)[None])
    array([[1.4, 0.2, inf]])
    """

    recent_tokens: int
    observed_queries: int | None = None
    prompts_only: bool = False

    def __post_init__(self) -> None:
        check_int("recent_tokens", self.recent_tokens, low=0)

    def scored(
        self,
        scores: Float[np.ndarray, "kv_heads kept"],
        weights: Float[np.ndarray, "kv_heads queries kept"],
    ) -> Float[np.ndarray, "kv_heads kept"]:
        """Add the weights of all queries of the pass."""
        return scores + weights.sum(axis=1)

    def priorities(
        self,
        scores: Float[np.ndarray, "kv_heads kept"],
        positions: Int[np.ndarray, "kv_heads kept"],
    ) -> Float[np.ndarray, "kv_heads kept"]:
        """Return the scores, and infinity for the newest tokens."""
        ranked = scores.copy()
        ranked[:, max(0, ranked.shape[1] - self.recent_tokens) :] = np.inf
        return ranked


def h2o_cache(
    config: ModelConfig,
    capacity_tokens: int,
    /,
    *,
    budget_tokens: int | None = None,
    chunk_tokens: int = CHUNK_TOKENS,
    impl: str,
    dtype: str,
) -> EvictingCache:
    """Return a cache that keeps heavy hitters and as many newest tokens.

    Args:
        config: The model whose keys and values it will hold.
        capacity_tokens: Tokens that will be read.
        budget_tokens: Tokens that each head keeps, half of them the
            newest; None is a fifth of the capacity, at least 256.
        chunk_tokens: Tokens that one pass may bring.
        impl: ``"numpy"`` or ``"torch"``: what its arrays are.
        dtype: ``"float32"`` or ``"float64"``.

    Raises:
        ArgumentError: As for ``EvictingCache``.

    Source: H2O, arXiv 2306.14048 (a fifth, half of it recent).

    >>> from cutaway.roofline import CONFIGS
    >>> config = CONFIGS["smollm2-135m"]
    >>> cache = h2o_cache(config, 5000, impl="numpy", dtype="float32")
    >>> cache.budget_tokens, cache.policy.recent_tokens
    (1000, 500)
    """
    most = check_int("capacity_tokens", capacity_tokens, low=1)
    if budget_tokens is None:
        budget_tokens = max(most // 5, LEAST_TOKENS)
    budget = min(check_int("budget_tokens", budget_tokens, low=1), most)
    return EvictingCache(
        config,
        budget,
        policy=H2O(recent_tokens=budget // 2),
        chunk_tokens=min(check_int("chunk_tokens", chunk_tokens, 1), most),
        impl=impl,
        dtype=dtype,
    )
