"""A cache with a budget: a policy says which tokens each head keeps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.attention import AttentionVariant, attention
from cutaway.core.checks import check, check_int
from cutaway.core.config import ModelConfig
from cutaway.kvcache.eviction_policy import EvictionPolicy, kept_rows
from cutaway.kvcache.kept import KeptTokens
from cutaway.kvcache.observed_weights import at_positions, observed_weights
from cutaway.kvcache.rolling import CHUNK_TOKENS, check_pass
from cutaway.layers import check_array

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from jaxtyping import Float, Int

    Rope = Callable[[Any, int], Any]


class EvictingCache:
    """Keeps a budget of tokens in every layer and key/value head.

    Each head chooses for itself. Keys stay rotated as at the position
    where their token stood in the text: gaps between kept tokens remain
    gaps, and the text can be no longer than the model's ``max_seq_len``.

    Tokens are dropped when the *next* pass begins. Until then a pass is
    there whole, and can be undone. So a query sees at most
    ``budget_tokens`` tokens, and those of its own pass up to itself.

    Invariants, which the shared test suite of all caches checks:

    1. ``view(layer)`` right after ``append(layer, k, v)`` ends with k and
       v; before them it has what each head has kept, row by row.
    2. ``num_tokens`` counts the tokens read in *all* layers.
    3. ``truncate(n)`` forgets everything from token n on, half-appended
       layers included; n may be anything from ``truncation_floor`` on. To
       undo exactly the last pass gives back the scores from before it.
    4. A call that raises leaves all that the next token will see.

    Args:
        config: The model whose keys and values it will hold.
        budget_tokens: Tokens that each head keeps from pass to pass.
        policy: Which ones.
        chunk_tokens: Tokens that one pass may bring.
        impl: ``"numpy"`` or ``"torch"``: what its arrays are.
        dtype: ``"float32"`` or ``"float64"``.

    Raises:
        ArgumentError: An argument is out of range or unknown, or the model
            has latent attention, which has no heads to choose for.

    Cost: room for ``budget_tokens + chunk_tokens`` rows, and 12 bytes a
    row and head for positions and scores; a pass that drops tokens copies
    those that stay, and weights are computed a second time for a policy
    that looks at them.
    Source: H2O, arXiv 2306.14048, algorithm 1 (evict by a policy).
    Differs: the paper evicts after each token; here between passes.

    >>> from cutaway.kvcache.eviction_policy import Recent
    >>> config = ModelConfig(num_layers=1, hidden_size=8, num_heads=2,
    ...     num_kv_heads=1, head_dim=4, ffn_size=8, vocab_size=5,
    ...     rope_theta=1e4, norm_eps=1e-5, max_seq_len=16)
    >>> cache = EvictingCache(
    ...     config, 3, policy=Recent(), chunk_tokens=2, impl="numpy")
    >>> row = np.ones((1, 1, 4), np.float32)
    >>> for _ in range(7):
    ...     cache.append(0, row, row)
    >>> cache.num_tokens, cache.positions(0).T.tolist()
    (7, [[3, 4, 5, 6]])
    """

    def __init__(
        self,
        config: ModelConfig,
        budget_tokens: int,
        *,
        policy: EvictionPolicy,
        chunk_tokens: int = CHUNK_TOKENS,
        impl: str = "torch",
        dtype: str = "float32",
    ) -> None:
        check(config.mla is None, "config.mla", "latent attention", "None")
        self.budget_tokens = check_int("budget_tokens", budget_tokens, low=1)
        self.chunk_tokens = check_int("chunk_tokens", chunk_tokens, low=1)
        self.policy = policy
        self.impl = impl
        slots = self.budget_tokens + self.chunk_tokens
        self._layers = [
            KeptTokens(slots, config.kv_shape, impl=impl, dtype=dtype)
            for _ in range(config.num_layers)
        ]
        # Whether tokens are dropped before the next pass, and were to be
        # before the last one.
        self._due = [(False, False)] * config.num_layers
        self._q_shape = ("tokens", config.num_heads, config.head_dim)
        self._group_size = config.group_size

    @property
    def num_tokens(self) -> int:
        """Tokens read in every layer, dropped ones included."""
        return min(layer.read for layer in self._layers)

    @property
    def truncation_floor(self) -> int:
        """Tokens read when some were last dropped; 0 if none were."""
        return max(layer.floor for layer in self._layers)

    @property
    def nbytes(self) -> int:
        """Bytes of all rows, used or not, with positions and scores."""
        return sum(layer.nbytes for layer in self._layers)

    def positions(self, layer: int) -> Int[np.ndarray, "stored kv_heads"]:
        """Return the position in the text of what each head holds; a copy.

        Args:
            layer: Which layer to read.

        Raises:
            ArgumentError: No such layer.
        """
        return self._layer(layer).positions.copy()

    def append(
        self,
        layer: int,
        k: Float[Any, "tokens kv_heads head_dim"],
        v: Float[Any, "tokens kv_heads head_dim"],
    ) -> None:
        """Drop what is over the budget; copy keys and values behind the rest.

        The policy sees no weights: the new tokens have score 0.

        Args:
            layer: Which layer they belong to.
            k: Keys of at most ``chunk_tokens`` tokens, already rotated.
            v: Values of the same tokens.

        Raises:
            ArgumentError: No such layer, or another shape, dtype or kind
                of array than the cache's.
            CacheFullError: More tokens than one pass may bring.
        """
        kept = self._layer(layer)
        kept.check(k, v)
        tokens, ahead = k.shape[0], kept.read - self.num_tokens
        check_pass(ahead + tokens, self.chunk_tokens)
        due, _ = self._due[layer]
        fits = kept.rows + tokens <= kept.slots
        if (due or not fits) and ahead == 0:  # the pass begins
            self._evict(kept)
            due = False
        kept.write(k, v)
        drops = tokens > 1 or not self.policy.prompts_only
        self._due[layer] = (due or drops, due)

    def view(
        self, layer: int
    ) -> tuple[
        Float[Any, "stored kv_heads head_dim"],
        Float[Any, "stored kv_heads head_dim"],
    ]:
        """Return what the heads hold, in order of position, without a copy.

        A row may be another token in each head; see ``positions``.

        Args:
            layer: Which layer to read.

        Raises:
            ArgumentError: No such layer.
        """
        kept = self._layer(layer)
        return kept.keys, kept.values

    def truncate(self, num_tokens: int) -> None:
        """Forget all tokens from ``num_tokens`` on; nothing is copied.

        What the queries of forgotten tokens have added to the scores is
        taken back if these are the whole last pass, and no other.

        Args:
            num_tokens: How many to keep: at least ``truncation_floor``.

        Raises:
            ArgumentError: The cache has not read as many, or has dropped
                some since.
        """
        floor = self.truncation_floor
        keep = check_int("num_tokens", num_tokens, floor, self.num_tokens)
        for layer in range(len(self._layers)):
            self._cut(layer, keep)

    def attend(
        self,
        layer: int,
        q: Float[Any, "tokens heads head_dim"],
        k: Float[Any, "tokens kv_heads head_dim"],
        v: Float[Any, "tokens kv_heads head_dim"],
        *,
        rope: Rope,
        variant: AttentionVariant | None,
    ) -> Float[Any, "tokens heads head_dim"]:
        """Store the next tokens, attend, and let the policy look on.

        Args:
            layer: Which layer they belong to.
            q: Queries, not rotated.
            k: Keys of the same tokens, not rotated.
            v: Their values.
            rope: ``(x, start) -> x`` turned as at positions start on.
            variant: What the model does beside the causal mask, or None.
                It gets positions in the text.

        Returns:
            What each query takes from the values it sees.

        Raises:
            ArgumentError, CacheFullError: As ``append``; or q does not fit.

        Cost: 4 x heads x head_dim x kept tokens FLOPs a query, and half of
        it again for the weights that the policy observes.
        """
        check_array("q", q, self._q_shape, impl=self.impl)
        check(len(q) == len(k), "k.shape[0]", len(k), f"{len(q)}, as q has")
        kept = self._layer(layer)
        start = kept.read
        q = rope(q, start)
        self.append(layer, rope(k, start), v)
        try:
            return self._observe(kept, q, variant)
        except BaseException:
            self._cut(layer, start)
            raise

    def _observe(
        self, kept: KeptTokens, q: Any, variant: AttentionVariant | None
    ) -> Any:
        """Attend to the rows of a layer; note what the policy makes of it."""
        if variant is not None:
            variant = at_positions(
                variant,
                kept.positions,
                kept.read,
                self._group_size,
                impl=self.impl,
            )
        state = attention(
            q, kept.keys, kept.values, variant=variant, impl=self.impl
        )
        wanted = self.policy.observed_queries
        seen = len(q) if wanted is None else min(wanted, len(q))
        if seen > 0:
            last = slice(len(q) - seen, None)
            weights = observed_weights(
                q[last],
                kept.keys,
                state.lse[last],
                variant=variant,
                impl=self.impl,
            )
            kept.note(self.policy.scored(kept.scores, weights))
        return state.out

    def _layer(self, layer: int) -> KeptTokens:
        """Return what one layer holds."""
        return self._layers[check_int("layer", layer, 0, len(self._layers) - 1)]

    def _evict(self, kept: KeptTokens) -> None:
        """Drop what the policy values least, down to the budget."""
        if kept.rows > self.budget_tokens:
            ranked = self.policy.priorities(kept.scores, kept.positions.T)
            kept.choose(kept_rows(ranked, self.budget_tokens))

    def _cut(self, layer: int, num_tokens: int) -> None:
        """Forget the tokens of a layer from ``num_tokens`` on, if any."""
        kept = self._layers[layer]
        if kept.read == num_tokens:
            return
        if num_tokens <= kept.begun:
            _, before = self._due[layer]
            self._due[layer] = (before, before)
        kept.cut(num_tokens)
