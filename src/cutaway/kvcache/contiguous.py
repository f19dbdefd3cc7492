"""The simplest cache: one block of memory, reserved up front."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.core.checks import check, check_int
from cutaway.core.config import ModelConfig
from cutaway.core.errors import CutawayError
from cutaway.layers import check_array, empty

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float


class CacheFullError(CutawayError):
    """The tokens do not fit into what the cache reserved."""


class ContiguousCache:
    """Keys and values in two arrays with room for a fixed number of tokens.

    The arrays are ``[num_layers, capacity, num_heads, width]`` with the
    sizes of ``config.kv_shape``; the first tokens of each layer are in
    use. Reading is free (a view), and the price is that memory is reserved
    for tokens that may never come.

    Invariants, which the shared test suite of all caches checks:

    1. ``view(layer)`` right after ``append(layer, k, v)`` ends with k and v.
    2. ``num_tokens`` counts the tokens stored in *all* layers.
    3. ``truncate(n)`` forgets everything from token n on, half-appended
       layers included, and changes nothing before it.
    4. A call that raises leaves the cache as it was.

    Args:
        config: The model whose keys and values it will hold.
        capacity_tokens: Tokens to reserve memory for.
        impl: ``"numpy"`` or ``"torch"``: what its arrays are.
        dtype: ``"float32"`` or ``"float64"``.

    Raises:
        ArgumentError: An argument is out of range or unknown.

    Cost: ``capacity_tokens * bytes_per_token`` bytes from the start.
    Source: Pope et al. 2022, arXiv 2211.05102, section 3.3.

    >>> config = ModelConfig(num_layers=2, hidden_size=8, num_heads=2,
    ...     num_kv_heads=1, head_dim=4, ffn_size=8, vocab_size=5,
    ...     rope_theta=1e4, norm_eps=1e-5, max_seq_len=16)
    >>> cache = ContiguousCache(config, 10, impl="numpy")
    >>> cache.num_tokens, cache.bytes_per_token, cache.nbytes
    (0, 64, 640)
    """

    def __init__(
        self,
        config: ModelConfig,
        capacity_tokens: int,
        *,
        impl: str = "torch",
        dtype: str = "float32",
    ) -> None:
        self.capacity_tokens = check_int(
            "capacity_tokens", capacity_tokens, low=1
        )
        self.impl = impl
        heads, key_dim, value_dim = config.kv_shape
        rows = (config.num_layers, self.capacity_tokens, heads)
        self._k = empty((*rows, key_dim), dtype, impl=impl)
        self._v = empty((*rows, value_dim), dtype, impl=impl)
        self._stored = [0] * config.num_layers

    @property
    def num_tokens(self) -> int:
        """Tokens whose keys and values are stored in every layer."""
        return min(self._stored)

    @property
    def truncation_floor(self) -> int:
        """0: nothing is ever dropped."""
        return 0

    @property
    def nbytes(self) -> int:
        """Bytes of both arrays, used or not."""
        return self._k.nbytes + self._v.nbytes

    @property
    def bytes_per_token(self) -> int:
        """Bytes that one token takes: K and V, in every layer."""
        return self.nbytes // self.capacity_tokens

    def append(
        self,
        layer: int,
        k: Float[Any, "tokens kv_heads head_dim"],
        v: Float[Any, "tokens kv_heads head_dim"],
    ) -> None:
        """Copy keys and values behind those the layer already holds.

        Args:
            layer: Which layer they belong to.
            k: Keys, already rotated.
            v: Values of the same tokens.

        Raises:
            ArgumentError: No such layer, or another shape, dtype or kind
                of array than the cache's.
            CacheFullError: They do not fit.
        """
        layer = check_int("layer", layer, 0, len(self._stored) - 1)
        self._check("k", k, "tokens", self._k)
        self._check("v", v, k.shape[0], self._v)
        start = self._stored[layer]
        stop = start + k.shape[0]
        if stop > self.capacity_tokens:
            raise CacheFullError(
                "cache",
                f"{stop} tokens",
                f"at most its capacity of {self.capacity_tokens}",
            )
        self._k[layer, start:stop] = k
        self._v[layer, start:stop] = v
        self._stored[layer] = stop

    def view(
        self, layer: int
    ) -> tuple[
        Float[Any, "stored kv_heads head_dim"],
        Float[Any, "stored kv_heads head_dim"],
    ]:
        """Return the keys and values a layer holds, without a copy.

        The arrays look into the cache: after ``truncate`` and a further
        ``append`` they show the new tokens.

        Args:
            layer: Which layer to read.

        Raises:
            ArgumentError: No such layer.
        """
        layer = check_int("layer", layer, 0, len(self._stored) - 1)
        stored = self._stored[layer]
        return self._k[layer, :stored], self._v[layer, :stored]

    def truncate(self, num_tokens: int) -> None:
        """Forget all tokens from ``num_tokens`` on; nothing is copied.

        Args:
            num_tokens: How many to keep, at most ``self.num_tokens``.

        Raises:
            ArgumentError: The cache does not hold as many.
        """
        keep = check_int("num_tokens", num_tokens, 0, self.num_tokens)
        self._stored = [keep] * len(self._stored)

    def _check(
        self, name: str, array: Any, tokens: int | str, store: Any
    ) -> None:
        """Raise unless the store can hold the array."""
        shape = (tokens, *store.shape[2:])
        check_array(name, array, shape, impl=self.impl)
        check(
            array.dtype == store.dtype,
            f"{name}.dtype",
            array.dtype,
            f"{store.dtype}, the dtype of the cache",
        )
