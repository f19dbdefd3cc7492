"""A cache of fixed size for texts without end: first and newest tokens."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.attention import AttentionVariant
from cutaway.core.checks import check, check_int
from cutaway.core.config import ModelConfig
from cutaway.kvcache.ring import Ring
from cutaway.kvcache.rolling import CHUNK_TOKENS, check_pass
from cutaway.kvcache.streaming_attention import Kept, streaming_attention
from cutaway.layers import check_array, empty

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from jaxtyping import Float

    Rope = Callable[[Any, int], Any]

SINK_TOKENS = 4
"""First tokens that a streaming cache keeps by default."""

STREAMING_TOKENS = 1024
"""Tokens that ``streaming_cache`` keeps, unless it needs fewer."""


class StreamingCache:
    """The first few tokens of a text and the newest; all between is gone.

    A token sees the ``sink_tokens`` first tokens and the newest, itself
    included: ``capacity_tokens`` in all. Positions are those *in the
    cache*: once it is full, every new token stands at the last one and
    the first tokens stand directly before the newest ones. So keys are
    stored before they are rotated, and rotated whenever they are read.

    A pass of many tokens gives what one by one would: attention to the
    newest and attention to the first tokens, where a query may stand at
    another position, are two states, merged.

    Invariants, which the shared test suite of all caches checks:

    1. ``view(layer)`` right after ``append(layer, k, v)`` ends with k and
       v; before them it has the first tokens.
    2. ``num_tokens`` counts the tokens read in *all* layers.
    3. ``truncate(n)`` forgets everything from token n on, half-appended
       layers included; n may be anything from ``truncation_floor`` on.
    4. A call that raises leaves all that the next token will see.

    Args:
        config: The model whose keys and values it will hold.
        capacity_tokens: Tokens that a token sees, itself included.
        sink_tokens: How many of them are the first of the text; fewer
            than ``capacity_tokens``.
        chunk_tokens: Tokens that one pass may bring.
        impl: ``"numpy"`` or ``"torch"``: what its arrays are.
        dtype: ``"float32"`` or ``"float64"``.

    Raises:
        ArgumentError: An argument is out of range or unknown, or the model
            has latent attention, whose cached keys are already rotated.

    Cost: room for ``capacity_tokens - 1 + chunk_tokens`` tokens; every
    pass rotates the keys it reads once more.
    Source: StreamingLLM, arXiv 2309.17453, section 3.2.
    Differs: the paper's code evicts after a pass, so its query sees one
    key more than the cache holds.

    >>> config = ModelConfig(num_layers=1, hidden_size=8, num_heads=2,
    ...     num_kv_heads=1, head_dim=4, ffn_size=8, vocab_size=5,
    ...     rope_theta=1e4, norm_eps=1e-5, max_seq_len=16)
    >>> cache = StreamingCache(config, 1024, chunk_tokens=1, impl="numpy")
    >>> cache.sink_tokens, cache.window, cache.nbytes // 2 // 4 // 4
    (4, 1020, 1024)
    """

    def __init__(
        self,
        config: ModelConfig,
        capacity_tokens: int,
        *,
        sink_tokens: int = SINK_TOKENS,
        chunk_tokens: int = CHUNK_TOKENS,
        impl: str = "torch",
        dtype: str = "float32",
    ) -> None:
        check(config.mla is None, "config.mla", "latent attention", "None")
        self.capacity_tokens = check_int(
            "capacity_tokens", capacity_tokens, low=1
        )
        most = self.capacity_tokens - 1
        self.sink_tokens = check_int("sink_tokens", sink_tokens, 0, most)
        self.window = self.capacity_tokens - self.sink_tokens
        self.chunk_tokens = check_int("chunk_tokens", chunk_tokens, low=1)
        self.impl, self._dtype = impl, dtype
        newest = self.window - 1 + self.chunk_tokens
        layers = range(config.num_layers)
        # ring i of a layer holds its first tokens, or those behind them
        self._sinks, self._rings = (
            [
                Ring(slots, config.kv_shape, impl=impl, dtype=dtype)
                for _ in layers
            ]
            for slots in (self.sink_tokens, newest)
        )
        self._begun = [0] * config.num_layers  # where the last pass began
        self._q_shape = ("tokens", config.num_heads, config.head_dim)

    @property
    def num_tokens(self) -> int:
        """Tokens read in every layer, dropped ones included."""
        return min(map(self._stored, range(len(self._rings))))

    @property
    def next_position(self) -> int:
        """Position that the next token takes: the last one, once full."""
        return min(self.num_tokens, self.capacity_tokens - 1)

    @property
    def truncation_floor(self) -> int:
        """Fewest tokens whose next one would still see its whole window."""
        dropped = max(ring.first for ring in self._rings)
        return dropped + self.capacity_tokens - 1 if dropped else 0

    @property
    def nbytes(self) -> int:
        """Bytes of all slots, used or not."""
        return sum(ring.nbytes for ring in (*self._sinks, *self._rings))

    def append(
        self,
        layer: int,
        k: Float[Any, "tokens kv_heads head_dim"],
        v: Float[Any, "tokens kv_heads head_dim"],
    ) -> None:
        """Copy keys and values over those that no later token can see.

        Args:
            layer: Which layer they belong to.
            k: Keys of at most ``chunk_tokens`` tokens, *not* rotated.
            v: Values of the same tokens.

        Raises:
            ArgumentError: No such layer, or another shape, dtype or kind
                of array than the cache's.
            CacheFullError: More tokens than one pass may bring.
        """
        layer = check_int("layer", layer, 0, len(self._rings) - 1)
        ring = self._rings[layer]
        ring.check(k, v)
        start = self._stored(layer)
        tokens = k.shape[0]
        check_pass(start + tokens - self.num_tokens, self.chunk_tokens)
        first = min(tokens, max(0, self.sink_tokens - start))
        self._sinks[layer].write(k[:first], v[:first])
        ring.write(k[first:], v[first:])
        self._begun[layer] = start

    def view(
        self, layer: int
    ) -> tuple[
        Float[Any, "stored kv_heads head_dim"],
        Float[Any, "stored kv_heads head_dim"],
    ]:
        """Return what the tokens of the last pass see, in order; a copy.

        Args:
            layer: Which layer to read.

        Raises:
            ArgumentError: No such layer.
        """
        layer = check_int("layer", layer, 0, len(self._rings) - 1)
        kept = self._kept(layer)
        return (
            self._join(kept.first_keys, kept.newest_keys),
            self._join(kept.first_values, kept.newest_values),
        )

    def truncate(self, num_tokens: int) -> None:
        """Forget all tokens from ``num_tokens`` on; nothing is copied.

        Args:
            num_tokens: How many to keep: at least ``truncation_floor``.

        Raises:
            ArgumentError: The cache has not read as many, or has dropped
                some that the next token would see.
        """
        floor = self.truncation_floor
        keep = check_int("num_tokens", num_tokens, floor, self.num_tokens)
        for layer in range(len(self._rings)):
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
        """Store the next tokens; attend to the first and the newest ones.

        Args:
            layer: Which layer they belong to.
            q: Queries, not rotated.
            k: Keys of the same tokens, not rotated.
            v: Their values.
            rope: ``(x, start) -> x`` turned as at positions start on.
            variant: What the model does beside the causal mask, or None.
                It gets positions in the cache.

        Returns:
            What each query takes from the values it sees.

        Raises:
            ArgumentError, CacheFullError: As ``append``; or q does not fit.

        Cost: 4 x heads x head_dim x kept tokens FLOPs a query, and the
        rotation of the kept keys.
        """
        check_array("q", q, self._q_shape, impl=self.impl)
        check(len(q) == len(k), "k.shape[0]", len(k), f"{len(q)}, as q has")
        start = self._stored(layer)
        self.append(layer, k, v)
        try:
            return streaming_attention(
                q,
                self._kept(layer),
                start,
                capacity_tokens=self.capacity_tokens,
                rope=rope,
                variant=variant,
                impl=self.impl,
            )
        except BaseException:
            self._cut(layer, start)
            raise

    def _stored(self, layer: int) -> int:
        """Return how many tokens a layer has read."""
        return self._sinks[layer].stored + self._rings[layer].stored

    def _cut(self, layer: int, num_tokens: int) -> None:
        """Forget the tokens of a layer from ``num_tokens`` on."""
        self._sinks[layer].cut(min(num_tokens, self._sinks[layer].stored))
        self._rings[layer].cut(max(0, num_tokens - self.sink_tokens))
        self._begun[layer] = num_tokens

    def _kept(self, layer: int) -> Kept:
        """Return what the last pass of a layer sees."""
        behind = self._begun[layer] - self.sink_tokens
        seen_from = max(0, behind - self.window + 1)
        first = self._sinks[layer].read(0)
        return Kept(*first, *self._rings[layer].read(seen_from))

    def _join(self, first: Any, newest: Any) -> Any:
        """Return the rows of both, in a new array."""
        shape = (len(first) + len(newest), *first.shape[1:])
        rows = empty(shape, self._dtype, impl=self.impl)
        rows[: len(first)], rows[len(first) :] = first, newest
        return rows


def streaming_cache(
    config: ModelConfig,
    capacity_tokens: int,
    /,
    *,
    impl: str,
    dtype: str,
) -> StreamingCache:
    """Return a streaming cache of the paper's size: 4 and 1,020 tokens.

    A ``CacheFactory``. Of a text with fewer tokens it drops none.

    Raises:
        ArgumentError: As for ``StreamingCache``.

    >>> from cutaway.roofline import CONFIGS
    >>> config = CONFIGS["smollm2-135m"]
    >>> cache = streaming_cache(config, 9999, impl="numpy", dtype="float32")
    >>> cache.sink_tokens, cache.window
    (4, 1020)
    """
    most = check_int("capacity_tokens", capacity_tokens, low=1)
    kept = min(most, STREAMING_TOKENS)
    return StreamingCache(
        config,
        kept,
        sink_tokens=min(SINK_TOKENS, kept - 1),
        chunk_tokens=min(CHUNK_TOKENS, most),
        impl=impl,
        dtype=dtype,
    )
