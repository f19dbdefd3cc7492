"""A cache and, beside it, lists of what it must hold."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from cutaway.core import KVCache, ModelConfig
from cutaway.kvcache import CacheFactory, CacheFullError

Bound = Callable[[np.ndarray, str], Any]


def exact(rows: np.ndarray, which: str) -> float:
    """The bound of a cache that gives back what it was given."""
    return 0.0


@dataclass(frozen=True)
class CacheCase:
    """How the suite makes one kind of cache, and what that kind may do.

    Attributes:
        name: Shown as the test's id.
        make: The class, or a factory with settings of its own.
        impl: Whose arrays it takes.
        dtype: Their dtype.
        drops: It makes room by dropping tokens, and never is full.
        keeps: With ``drops``: newest tokens that are always still there.
        merges: It drops nothing, but rounds old tokens in groups that
            cannot be cut any more.
        bound: Largest error of each number, given all rows
            ``[tokens, heads, width]`` that a layer was given and ``"k"``
            or ``"v"``; what it returns is broadcast against the rows.
    """

    name: str
    make: CacheFactory
    impl: str
    dtype: str
    drops: bool = False
    keeps: int = 0
    merges: bool = False
    bound: Bound = exact

    @property
    def forgets(self) -> bool:
        """Whether a long text leaves numbers that one cannot go back to.

        Such a cache takes no more than a pass that is ahead in some
        layers; one that failed is rolled back at once.
        """
        return self.drops or self.merges

    @property
    def other_dtype(self) -> str:
        return "float64" if self.dtype == "float32" else "float32"

    @property
    def other_impl(self) -> str:
        return "numpy" if self.impl == "torch" else "torch"

    def new(self, config: ModelConfig, capacity: Any) -> KVCache:
        return self.make(config, capacity, impl=self.impl, dtype=self.dtype)

    def array(self, rows: np.ndarray, **changes: str) -> Any:
        kind = {"impl": self.impl, "dtype": self.dtype, **changes}
        rows = rows.astype(kind["dtype"])
        return rows if kind["impl"] == "numpy" else torch.from_numpy(rows)

    def ones(self, shape: tuple[int, ...], **changes: str) -> Any:
        return self.array(np.ones(shape), **changes)


def in_every_form(
    name: str, make: CacheFactory, **flags: Any
) -> list[CacheCase]:
    """One case for each backend and dtype."""
    return [
        CacheCase(f"{name}-{impl}-{dtype}", make, impl, dtype, **flags)
        for impl in ("numpy", "torch")
        for dtype in ("float32", "float64")
    ]


def small_config(**changes: Any) -> ModelConfig:
    sizes = {
        "num_layers": 3,
        "hidden_size": 12,
        "num_heads": 4,
        "num_kv_heads": 2,
        "head_dim": 6,
        "ffn_size": 8,
        "vocab_size": 9,
        "rope_theta": 1e4,
        "norm_eps": 1e-5,
        "max_seq_len": 64,
    }
    return ModelConfig(**{**sizes, **changes})


class Twin:
    """A cache and, beside it, lists of what it must hold."""

    def __init__(self, case: CacheCase, config: ModelConfig, capacity: int):
        self.case, self.config, self.capacity = case, config, capacity
        self.cache = case.new(config, capacity)
        self.k = [[] for _ in range(config.num_layers)]
        self.v = [[] for _ in range(config.num_layers)]
        self._drawn = 0

    def draw(self, tokens: int) -> tuple[Any, Any]:
        """Numbers that no token, head or dimension shares with another."""
        shape = (tokens, self.config.num_kv_heads, self.config.head_dim)
        start, size = self._drawn, int(np.prod(shape))
        self._drawn += 2 * size
        k = np.arange(start, start + size).reshape(shape)
        return self.case.array(k), self.case.array(k + size)

    def append(self, layer: int, tokens: int) -> None:
        k, v = self.draw(tokens)
        stored = len(self.k[layer]) + tokens
        if stored > self.capacity and not self.case.drops:
            with pytest.raises(CacheFullError):
                self.cache.append(layer, k, v)
            return
        self.cache.append(layer, k, v)
        self.k[layer].extend(np.asarray(k))
        self.v[layer].extend(np.asarray(v))
        if tokens:
            # right after the append all of its tokens are seen
            self._check_layer(layer, newest=tokens)

    def append_all(self, tokens: int) -> None:
        for layer in range(self.config.num_layers):
            self.append(layer, tokens)

    def truncate(self, num_tokens: int) -> None:
        self.cache.truncate(num_tokens)
        for rows in (*self.k, *self.v):
            del rows[num_tokens:]

    @property
    def num_tokens(self) -> int:
        return min(len(rows) for rows in self.k)

    def rows(self, layer: int) -> tuple[np.ndarray, np.ndarray]:
        """What the cache shows of a layer, as NumPy arrays."""
        keys, values = self.cache.view(layer)
        return np.asarray(keys), np.asarray(values)

    def check(self) -> None:
        """The content and the counts are those of the lists."""
        assert self.cache.num_tokens == self.num_tokens
        for layer in range(self.config.num_layers):
            self._check_layer(layer, newest=self.case.keeps)

    def _check_layer(self, layer: int, newest: int) -> None:
        """The layer shows all tokens, or a part with the newest of them."""
        shape = (-1, self.config.num_kv_heads, self.config.head_dim)
        given = {
            "k": np.reshape(self.k[layer], shape),
            "v": np.reshape(self.v[layer], shape),
        }
        shown = dict(zip("kv", self.rows(layer), strict=True))
        total, count = len(given["k"]), len(shown["k"])
        places = np.arange(total)
        if self.case.drops:
            assert min(total, newest) <= count <= total, f"layer {layer}"
            places = _places(shown["k"], given["k"])
            assert (np.diff(places) > 0).all(), f"order of layer {layer}"
            assert set(range(total)[-newest:] if newest else ()) <= set(places)
        for which, rows in given.items():
            assert shown[which].shape == (len(places), *shape[1:])
            assert shown[which].dtype == self.case.dtype
            room = np.broadcast_to(self.case.bound(rows, which), rows.shape)
            error = np.abs(shown[which] - rows[places])
            assert (error <= room[places]).all(), f"{which} of layer {layer}"


def _places(shown: np.ndarray, given: np.ndarray) -> np.ndarray:
    """Which of the given rows each shown row is: the nearest."""
    if not len(shown):
        return np.zeros(0, int)
    apart = np.abs(shown[:, None] - given[None]).sum((2, 3))
    return apart.argmin(1)
