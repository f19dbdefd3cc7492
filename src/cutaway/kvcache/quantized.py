"""A cache that rounds each token as it comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.core.checks import check_int
from cutaway.core.config import ModelConfig
from cutaway.kvcache.codecs import Codec
from cutaway.kvcache.coded_rows import CodedRows
from cutaway.kvcache.contiguous import CacheFullError
from cutaway.kvcache.ring import check_rows
from cutaway.layers import empty, from_numpy, to_numpy

if TYPE_CHECKING:
    from typing import Any

    import numpy as np
    from jaxtyping import Float


class QuantizedCache:
    """Keys and values in few bits, each token and head by itself.

    What a pass reads back is rounded already, its own tokens included. No
    token shares anything with another, so the content does not depend on
    how the text was cut into passes, and any number can be cut off.

    Invariants, which the shared test suite of all caches checks:

    1. ``view(layer)`` right after ``append(layer, k, v)`` ends with k and
       v, each number within the error bound of the codec.
    2. ``num_tokens`` counts the tokens stored in *all* layers.
    3. ``truncate(n)`` forgets everything from token n on, half-appended
       layers included, and changes nothing before it.
    4. A call that raises leaves the cache as it was.

    Args:
        config: The model whose keys and values it will hold.
        capacity_tokens: Tokens to reserve memory for.
        codec: How the numbers of one head of one token are stored.
        impl: ``"numpy"`` or ``"torch"``: whose arrays it takes and gives.
        dtype: ``"float32"`` or ``"float64"``, of these.

    Raises:
        ArgumentError: An argument is out of range or unknown.

    Cost: ``bytes_per_row(codec, width)`` bytes for a key or value of each
    head; a view unpacks all of a layer, as NumPy arrays for either backend.
    Differs: an engine unpacks inside its attention kernel, and never has
    the numbers of more than a few tokens at a time.

    >>> from cutaway.kvcache.codecs import IntegerCodec
    >>> config = ModelConfig(num_layers=2, hidden_size=8, num_heads=2,
    ...     num_kv_heads=1, head_dim=4, ffn_size=8, vocab_size=5,
    ...     rope_theta=1e4, norm_eps=1e-5, max_seq_len=16)
    >>> cache = QuantizedCache(config, 10, codec=IntegerCodec(bits=4))
    >>> cache.bytes_per_token  # 2 layers, K and V: 2 of codes, 2 of a step
    16
    """

    def __init__(
        self,
        config: ModelConfig,
        capacity_tokens: int,
        *,
        codec: Codec,
        impl: str = "torch",
        dtype: str = "float32",
    ) -> None:
        self.capacity_tokens = check_int(
            "capacity_tokens", capacity_tokens, low=1
        )
        self.codec = codec
        self.impl = impl
        heads, *widths = config.kv_shape
        rows = (config.num_layers, self.capacity_tokens, heads)
        self._k, self._v = (CodedRows(codec, (*rows, n)) for n in widths)
        # Nothing is in these: they say what is to be appended.
        self._none = [empty((0, heads, n), dtype, impl=impl) for n in widths]
        self._dtype = dtype
        self._stored = [0] * config.num_layers

    @property
    def num_tokens(self) -> int:
        """Tokens whose keys and values are stored in every layer."""
        return min(self._stored)

    @property
    def truncation_floor(self) -> int:
        """0: nothing is ever dropped, and no token touches another."""
        return 0

    @property
    def nbytes(self) -> int:
        """Bytes of codes and scales, used or not."""
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
        """Round keys and values, and store them behind those of the layer.

        Args:
            layer: Which layer they belong to.
            k: Keys, already rotated.
            v: Values of the same tokens.

        Raises:
            ArgumentError: No such layer, another shape, dtype or kind of
                array than the cache's, or numbers that the codec refuses.
            CacheFullError: They do not fit.
        """
        layer = check_int("layer", layer, 0, len(self._stored) - 1)
        check_rows(k, v, *self._none, impl=self.impl)
        start = self._stored[layer]
        stop = start + k.shape[0]
        if stop > self.capacity_tokens:
            expected = f"at most its capacity of {self.capacity_tokens}"
            raise CacheFullError("cache", f"{stop} tokens", expected)
        self._k[layer, start:stop] = to_numpy(k, impl=self.impl)
        self._v[layer, start:stop] = to_numpy(v, impl=self.impl)
        self._stored[layer] = stop

    def view(
        self, layer: int
    ) -> tuple[
        Float[Any, "stored kv_heads head_dim"],
        Float[Any, "stored kv_heads head_dim"],
    ]:
        """Return the rounded keys and values of a layer, in new arrays.

        Args:
            layer: Which layer to read.

        Raises:
            ArgumentError: No such layer.
        """
        layer = check_int("layer", layer, 0, len(self._stored) - 1)
        where = (layer, slice(0, self._stored[layer]))
        return self._given(self._k[where]), self._given(self._v[where])

    def truncate(self, num_tokens: int) -> None:
        """Forget all tokens from ``num_tokens`` on; nothing is copied.

        Args:
            num_tokens: How many to keep, at most ``self.num_tokens``.

        Raises:
            ArgumentError: The cache does not hold as many.
        """
        keep = check_int("num_tokens", num_tokens, 0, self.num_tokens)
        self._stored = [keep] * len(self._stored)

    def _given(self, x: np.ndarray) -> Any:
        """Return numbers as an array of the backend and dtype."""
        return from_numpy(x.astype(self._dtype, copy=False), impl=self.impl)
