"""A cache that keeps, in layers with a window, no more than it needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.core.checks import check_int
from cutaway.core.config import ModelConfig
from cutaway.kvcache.contiguous import CacheFullError
from cutaway.kvcache.ring import Ring

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float

CHUNK_TOKENS = 512
"""Tokens that a rolling or streaming cache takes in one pass by default."""


class RollingCache:
    """One ring of slots per layer; only layers without a window keep all.

    A token of a layer with a window sees ``window`` keys, its own
    included. A pass of c tokens needs ``window - 1`` keys before its first
    and c for itself, all at once: written into ``window`` slots, the last
    tokens of the pass would push out what its first still have to see. So
    such a layer has ``window - 1 + chunk_tokens`` slots. The same slots
    let the last pass be undone: what it pushed out, no one needs.

    Invariants, which the shared test suite of all caches checks:

    1. ``view(layer)`` right after ``append(layer, k, v)`` ends with k and
       v, and begins with all that the first of them sees.
    2. ``num_tokens`` counts the tokens read in *all* layers.
    3. ``truncate(n)`` forgets everything from token n on, half-appended
       layers included; n may be anything from ``truncation_floor`` on.
    4. A call that raises leaves the cache as it was.

    Args:
        config: The model whose keys and values it will hold; it says which
            layers have a window.
        capacity_tokens: Tokens to reserve memory for, in layers without a
            window. If there are none, and it is more than a ring needs,
            a text may have any length.
        chunk_tokens: Tokens that one pass may bring.
        impl: ``"numpy"`` or ``"torch"``: what its arrays are.
        dtype: ``"float32"`` or ``"float64"``.

    Raises:
        ArgumentError: An argument is out of range or unknown.

    Cost: per layer ``min(capacity, window - 1 + chunk)`` tokens; reading
    copies once the ring has closed, at most that many.
    Source: Mistral 7B, arXiv 2310.06825, section 2.
    Differs: the paper's buffer has ``window`` slots, and its chunk is read
    beside the buffer, before it is written into it.

    >>> config = ModelConfig(num_layers=2, hidden_size=8, num_heads=2,
    ...     num_kv_heads=1, head_dim=4, ffn_size=8, vocab_size=5,
    ...     rope_theta=1e4, norm_eps=1e-5, max_seq_len=999, window=3,
    ...     window_pattern=("local", "global"))
    >>> cache = RollingCache(config, 100, chunk_tokens=2, impl="numpy")
    >>> cache.slots
    (4, 100)
    """

    def __init__(
        self,
        config: ModelConfig,
        capacity_tokens: int,
        *,
        chunk_tokens: int = CHUNK_TOKENS,
        impl: str = "torch",
        dtype: str = "float32",
    ) -> None:
        self.capacity_tokens = check_int(
            "capacity_tokens", capacity_tokens, low=1
        )
        self.chunk_tokens = check_int("chunk_tokens", chunk_tokens, low=1)
        layers = range(config.num_layers)
        self._windows = [config.layer_window(layer) for layer in layers]
        needs = [
            None if window is None else window - 1 + self.chunk_tokens
            for window in self._windows
        ]
        most = self.capacity_tokens
        self._endless = all(need is not None and need <= most for need in needs)
        self._rings = [
            Ring(
                min(need or most, most), config.kv_shape, impl=impl, dtype=dtype
            )
            for need in needs
        ]
        self._begun = [0] * config.num_layers  # where the last pass began

    @property
    def slots(self) -> tuple[int, ...]:
        """Tokens that each layer has room for."""
        return tuple(ring.slots for ring in self._rings)

    @property
    def num_tokens(self) -> int:
        """Tokens read in every layer: the position of the next one."""
        return min(ring.stored for ring in self._rings)

    @property
    def truncation_floor(self) -> int:
        """Fewest tokens whose next one would still see its whole window."""
        return max(
            ring.first + window - 1
            if window is not None and ring.first > 0
            else 0
            for ring, window in zip(self._rings, self._windows, strict=True)
        )

    @property
    def nbytes(self) -> int:
        """Bytes of all slots, used or not."""
        return sum(ring.nbytes for ring in self._rings)

    def append(
        self,
        layer: int,
        k: Float[Any, "tokens kv_heads head_dim"],
        v: Float[Any, "tokens kv_heads head_dim"],
    ) -> None:
        """Copy keys and values over those that no later token can see.

        Args:
            layer: Which layer they belong to.
            k: Keys of at most ``chunk_tokens`` tokens, already rotated.
            v: Values of the same tokens.

        Raises:
            ArgumentError: No such layer, or another shape, dtype or kind
                of array than the cache's.
            CacheFullError: More tokens than one pass may bring, or than
                a layer that keeps all has room for.
        """
        layer = check_int("layer", layer, 0, len(self._rings) - 1)
        ring = self._rings[layer]
        ring.check(k, v)
        start = ring.stored
        stop = start + k.shape[0]
        if stop > self.capacity_tokens and not self._endless:
            expected = f"at most its capacity of {self.capacity_tokens}"
            raise CacheFullError("cache", f"{stop} tokens", expected)
        check_pass(stop - self.num_tokens, self.chunk_tokens)
        ring.write(k, v)
        self._begun[layer] = start

    def view(
        self, layer: int
    ) -> tuple[
        Float[Any, "stored kv_heads head_dim"],
        Float[Any, "stored kv_heads head_dim"],
    ]:
        """Return what the tokens of the last pass see, in order.

        In a layer with a window these are the tokens of the pass and the
        ``window - 1`` before them; in others, all.

        Args:
            layer: Which layer to read.

        Raises:
            ArgumentError: No such layer.
        """
        layer = check_int("layer", layer, 0, len(self._rings) - 1)
        window = self._windows[layer]
        seen_from = 0
        if window is not None:
            seen_from = max(0, self._begun[layer] - window + 1)
        return self._rings[layer].read(seen_from)

    def truncate(self, num_tokens: int) -> None:
        """Forget all tokens from ``num_tokens`` on; nothing is copied.

        Args:
            num_tokens: How many to keep: at least ``truncation_floor``.

        Raises:
            ArgumentError: The cache does not hold as many, or has dropped
                some that the next token would see.
        """
        floor = self.truncation_floor
        keep = check_int("num_tokens", num_tokens, floor, self.num_tokens)
        for layer, ring in enumerate(self._rings):
            ring.cut(keep)
            self._begun[layer] = keep


def check_pass(tokens: int, chunk_tokens: int) -> None:
    """Raise if a layer gets further ahead of the others than a pass may.

    Args:
        tokens: Tokens of the layer that some other layer has not yet.
        chunk_tokens: Tokens that one pass may bring.

    Raises:
        CacheFullError: They are too many.
    """
    if tokens > chunk_tokens:
        got = f"{tokens} tokens in one pass"
        expected = f"at most chunk_tokens = {chunk_tokens}"
        raise CacheFullError("cache", got, expected)
