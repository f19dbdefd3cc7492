"""SnapKV: the end of a prompt votes on which of its tokens stay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from cutaway.core.checks import check, check_int
from cutaway.core.config import ModelConfig
from cutaway.kvcache.evicting import EvictingCache
from cutaway.kvcache.rolling import CHUNK_TOKENS

if TYPE_CHECKING:
    from jaxtyping import Float, Int

WINDOW_TOKENS = 32
"""Tokens at the end of a prompt that vote, by default."""

POOL_TOKENS = 5
"""Neighbours that share the highest vote among them, by default."""

BUDGET_TOKENS = 1024
"""Tokens that ``snapkv_cache`` keeps of a prompt, unless it has fewer."""


@dataclass(frozen=True)
class SnapKV:
    """Keeps the end of a prompt and what its queries attend to.

    The last tokens of a prompt are the observation window. Each head adds
    up the weights that their queries gave to every earlier token. A token
    then gets the highest sum among its neighbours, so that what stays are
    stretches of text and no single tokens. The window itself stays, and so
    does all that is read one by one behind it.

    Attributes:
        window_tokens: Tokens of the observation window.
        pool_tokens: Neighbours that share a vote, an odd number: the token
            and as many on each side; 1 does without.

    Raises:
        ArgumentError: A size is not a positive integer, or the second is
            even.

    Source: SnapKV, arXiv 2404.14469, section 4 (vote, pooling, window).
    Differs: a pass of two tokens or more counts as a prompt, so a prompt
    read in several passes is voted on after each of them; query heads
    that share a key/value head vote together, where the paper's code
    stores keys for every query head.

    >>> policy = SnapKV(window_tokens=2, pool_tokens=3)
    >>> weights = np.array([[[0.0, 0, 0, 0, 0.6, 0, 0.4, 0]] * 2])
    >>> policy.scored(np.zeros((1, 8)), weights)
    array([[0. , 0. , 0. , 1.2, 1.2, 1.2, inf, inf]])
    """

    window_tokens: int = WINDOW_TOKENS
    pool_tokens: int = POOL_TOKENS
    prompts_only: bool = True

    def __post_init__(self) -> None:
        check_int("window_tokens", self.window_tokens, low=1)
        pool = check_int("pool_tokens", self.pool_tokens, low=1)
        check(pool % 2 == 1, "pool_tokens", pool, "an odd number")

    @property
    def observed_queries(self) -> int:
        """The observation window."""
        return self.window_tokens

    def scored(
        self,
        scores: Float[np.ndarray, "kv_heads kept"],
        weights: Float[np.ndarray, "kv_heads queries kept"],
    ) -> Float[np.ndarray, "kv_heads kept"]:
        """Return the votes of a prompt; a token read alone just stays."""
        queries = weights.shape[1]
        after = scores.copy()
        earlier = scores.shape[1] - queries
        if queries > 1 and earlier > 0:
            votes = weights[:, :, :earlier].sum(axis=1)
            after[:, :earlier] = _pooled(votes, self.pool_tokens)
        after[:, earlier:] = np.inf
        return after

    def priorities(
        self,
        scores: Float[np.ndarray, "kv_heads kept"],
        positions: Int[np.ndarray, "kv_heads kept"],
    ) -> Float[np.ndarray, "kv_heads kept"]:
        """Return the votes."""
        return scores


def _pooled(
    votes: Float[np.ndarray, "kv_heads kept"], pool_tokens: int
) -> Float[np.ndarray, "kv_heads kept"]:
    """Return the highest vote among each token and its neighbours."""
    side = pool_tokens // 2
    padded = np.pad(votes, ((0, 0), (side, side)), constant_values=-np.inf)
    return sliding_window_view(padded, pool_tokens, axis=1).max(axis=-1)


def snapkv_cache(
    config: ModelConfig,
    capacity_tokens: int,
    /,
    *,
    budget_tokens: int = BUDGET_TOKENS,
    chunk_tokens: int = CHUNK_TOKENS,
    impl: str,
    dtype: str,
) -> EvictingCache:
    """Return a cache that keeps what the end of a prompt attends to.

    Args:
        config: The model whose keys and values it will hold.
        capacity_tokens: Tokens that will be read.
        budget_tokens: Tokens of a prompt that each head keeps; up to half
            of them are the observation window.
        chunk_tokens: Tokens that one pass may bring, and that an answer
            may have before it is cut as well.
        impl: ``"numpy"`` or ``"torch"``: what its arrays are.
        dtype: ``"float32"`` or ``"float64"``.

    Raises:
        ArgumentError: As for ``EvictingCache``.

    Source: SnapKV, arXiv 2404.14469.

    >>> from cutaway.roofline import CONFIGS
    >>> config = CONFIGS["smollm2-135m"]
    >>> cache = snapkv_cache(config, 5000, impl="numpy", dtype="float32")
    >>> cache.budget_tokens, cache.policy.window_tokens
    (1024, 32)
    """
    most = check_int("capacity_tokens", capacity_tokens, low=1)
    budget = min(check_int("budget_tokens", budget_tokens, low=1), most)
    return EvictingCache(
        config,
        budget,
        policy=SnapKV(window_tokens=min(WINDOW_TOKENS, max(1, budget // 2))),
        chunk_tokens=min(check_int("chunk_tokens", chunk_tokens, 1), most),
        impl=impl,
        dtype=dtype,
    )
