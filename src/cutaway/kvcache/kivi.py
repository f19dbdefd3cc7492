"""KIVI: keys rounded by channel, values by token, the newest not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check_int
from cutaway.core.config import ModelConfig
from cutaway.kvcache.contiguous import CacheFullError
from cutaway.kvcache.grouped_rows import GroupedRows, GroupScheme
from cutaway.kvcache.ring import Ring
from cutaway.kvcache.rolling import CHUNK_TOKENS, check_pass
from cutaway.layers import from_numpy, to_numpy

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float

RESIDUAL_TOKENS = 128


class KIVICache:
    """Whole groups of tokens rounded; a residual of new ones kept as given.

    A key's channel differs from its neighbours more than from itself a few
    tokens on, so G tokens share step and minimum in each channel. A group
    must be complete for that: newer tokens wait in full precision. A value
    shares step and minimum with G neighbours of its own token.

    A group is rounded when a pass *begins*, if the residual before it holds
    ``residual_tokens`` without it. So a pass reads its own tokens as they
    are, and can be undone.

    Invariants, which the shared test suite of all caches checks:

    1. ``view(layer)`` right after ``append(layer, k, v)`` ends with k and
       v, exactly; numbers before them are exact in the residual, and within
       the error bound of the codec in a rounded group.
    2. ``num_tokens`` counts the tokens stored in *all* layers.
    3. ``truncate(n)`` forgets everything from token n on, half-appended
       layers included; n may be anything from ``truncation_floor`` on,
       which is the end of the last rounded group: what a group was before
       it was rounded, no one knows.
    4. A call that raises leaves the cache as it was.

    Args:
        config: The model whose keys and values it will hold.
        capacity_tokens: Tokens to reserve memory for.
        scheme: Bits, G, and what shares a scale in keys and values.
        residual_tokens: Newest tokens that are never rounded.
        chunk_tokens: Tokens that one pass may bring.
        impl: ``"numpy"`` or ``"torch"``: whose arrays it takes and gives.
        dtype: ``"float32"`` or ``"float64"``, of these.

    Raises:
        ArgumentError: An argument is out of range or unknown.

    Cost: ``bits + 32 / G`` bits for each rounded number, and full
    precision for ``residual_tokens + G - 1 + chunk_tokens`` tokens; a view
    unpacks all of a layer, as NumPy arrays for either backend.
    Source: Liu et al. 2024, arXiv 2402.02750, algorithm 1.
    Differs: the paper's keys wait in a residual of up to R tokens and its
    values in one of exactly R; here both wait in one of R to R + G - 1. Its
    prompt is rounded at once when it has been read.

    >>> config = ModelConfig(num_layers=1, hidden_size=8, num_heads=2,
    ...     num_kv_heads=1, head_dim=4, ffn_size=8, vocab_size=5,
    ...     rope_theta=1e4, norm_eps=1e-5, max_seq_len=99)
    >>> cache = KIVICache(config, 50, GroupScheme(bits=2, group_size=4),
    ...     residual_tokens=3, chunk_tokens=8, impl="numpy")
    >>> row = np.ones((1, 1, 4), np.float32)
    >>> for _ in range(13):
    ...     cache.append(0, row, row)
    >>> cache.num_tokens, cache.rounded_tokens(0)
    (13, 8)
    """

    def __init__(
        self,
        config: ModelConfig,
        capacity_tokens: int,
        scheme: GroupScheme,
        *,
        residual_tokens: int = RESIDUAL_TOKENS,
        chunk_tokens: int = CHUNK_TOKENS,
        impl: str = "torch",
        dtype: str = "float32",
    ) -> None:
        self.capacity_tokens = most = check_int(
            "capacity_tokens", capacity_tokens, low=1
        )
        self.scheme = scheme
        self.group_size = size = scheme.group_size
        self.residual_tokens = check_int("residual_tokens", residual_tokens, 0)
        self.chunk_tokens = check_int("chunk_tokens", chunk_tokens, low=1)
        self.impl = impl
        slots = self.residual_tokens + size - 1 + self.chunk_tokens
        self._recent = [
            Ring(min(slots, most), config.kv_shape, impl=impl, dtype=dtype)
            for _ in range(config.num_layers)
        ]
        heads, *widths = config.kv_shape
        groups = max(0, most - self.residual_tokens) // size
        rows = (config.num_layers, groups, size, heads)
        self._keys, self._values = (
            GroupedRows(scheme.codec, (*rows, width), by=by)
            for width, by in zip(
                widths, (scheme.keys, scheme.values), strict=True
            )
        )
        self._rounded = [0] * config.num_layers  # groups

    @property
    def num_tokens(self) -> int:
        """Tokens whose keys and values are stored in every layer."""
        return min(ring.stored for ring in self._recent)

    @property
    def truncation_floor(self) -> int:
        """The end of the last rounded group."""
        return max(self._rounded) * self.group_size

    @property
    def nbytes(self) -> int:
        """Bytes of codes, scales and residual, used or not."""
        recent = sum(ring.nbytes for ring in self._recent)
        return self._keys.nbytes + self._values.nbytes + recent

    def rounded_tokens(self, layer: int) -> int:
        """Return how many tokens of a layer are rounded, the oldest.

        Args:
            layer: Which layer.

        Raises:
            ArgumentError: No such layer.
        """
        layer = check_int("layer", layer, 0, len(self._rounded) - 1)
        return self._rounded[layer] * self.group_size

    def append(
        self,
        layer: int,
        k: Float[Any, "tokens kv_heads head_dim"],
        v: Float[Any, "tokens kv_heads head_dim"],
    ) -> None:
        """Round what is old enough; keep the new tokens as they are.

        Args:
            layer: Which layer they belong to.
            k: Keys of at most ``chunk_tokens`` tokens, already rotated.
            v: Values of the same tokens.

        Raises:
            ArgumentError: No such layer, another shape, dtype or kind of
                array than the cache's, or older numbers that the codec
                refuses.
            CacheFullError: They do not fit, or are more than one pass may
                bring.
        """
        layer = check_int("layer", layer, 0, len(self._recent) - 1)
        ring = self._recent[layer]
        ring.check(k, v)
        stop = ring.stored + k.shape[0]
        if stop > self.capacity_tokens:
            expected = f"at most its capacity of {self.capacity_tokens}"
            raise CacheFullError("cache", f"{stop} tokens", expected)
        check_pass(stop - self.num_tokens, self.chunk_tokens)
        self._round(layer)
        ring.write(k, v)

    def view(
        self, layer: int
    ) -> tuple[
        Float[Any, "stored kv_heads head_dim"],
        Float[Any, "stored kv_heads head_dim"],
    ]:
        """Return rounded groups and residual of a layer, in new arrays.

        Args:
            layer: Which layer to read.

        Raises:
            ArgumentError: No such layer.
        """
        old = self.rounded_tokens(layer)
        where = (layer, slice(0, self._rounded[layer]))
        groups = self._keys[where], self._values[where]
        recent = self._recent[layer].read(old)
        k, v = (
            self._joined(a, to_numpy(b, impl=self.impl))
            for a, b in zip(groups, recent, strict=True)
        )
        return from_numpy(k, impl=self.impl), from_numpy(v, impl=self.impl)

    def truncate(self, num_tokens: int) -> None:
        """Forget all tokens from ``num_tokens`` on; nothing is copied.

        Args:
            num_tokens: How many to keep: at least ``truncation_floor``.

        Raises:
            ArgumentError: The cache does not hold as many, or a group
                would have to be cut or made whole again.
        """
        floor = self.truncation_floor
        keep = check_int("num_tokens", num_tokens, floor, self.num_tokens)
        for ring in self._recent:
            ring.cut(keep)

    def _round(self, layer: int) -> None:
        """Round the groups that the residual can do without."""
        done, size = self._rounded[layer], self.group_size
        until = max(0, self.num_tokens - self.residual_tokens) // size
        if until <= done:
            return
        recent = self._recent[layer].read(done * size)
        k, v = (
            to_numpy(rows, impl=self.impl)[: (until - done) * size]
            for rows in recent
        )
        k, v = (x.reshape(-1, size, *x.shape[1:]) for x in (k, v))
        self._keys[layer, done:until] = k
        self._values[layer, done:until] = v
        self._rounded[layer] = until

    @staticmethod
    def _joined(groups: np.ndarray, recent: np.ndarray) -> np.ndarray:
        """Return the tokens of the groups, then the recent ones."""
        old = groups.shape[0] * groups.shape[1]
        out = np.empty((old + len(recent), *recent.shape[1:]), recent.dtype)
        out[:old] = groups.reshape(old, *recent.shape[1:])
        out[old:] = recent
        return out


def kivi_cache(
    config: ModelConfig,
    capacity_tokens: int,
    /,
    *,
    bits: int,
    impl: str,
    dtype: str,
) -> KIVICache:
    """Return a cache with the groups and the residual of the paper.

    Args:
        config: The model whose keys and values it will hold.
        capacity_tokens: Tokens to reserve memory for.
        bits: 2 or 4 of each rounded number.
        impl: ``"numpy"`` or ``"torch"``: whose arrays it takes and gives.
        dtype: ``"float32"`` or ``"float64"``, of these.

    Raises:
        ArgumentError: As for ``KIVICache``.

    Source: KIVI, arXiv 2402.02750, settings of the experiments: groups of
    32, 128 tokens as they are.

    >>> from cutaway.roofline import CONFIGS
    >>> cache = kivi_cache(CONFIGS["smollm2-135m"], 9999, bits=2,
    ...     impl="numpy", dtype="float32")
    >>> cache.group_size, cache.residual_tokens
    (32, 128)
    """
    scheme = GroupScheme(bits=bits)
    return KIVICache(config, capacity_tokens, scheme, impl=impl, dtype=dtype)
