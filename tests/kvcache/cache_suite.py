"""One test suite for every KV cache.

A cache joins by an entry in ``CACHES``: how to make one that holds a given
number of tokens, and how to get NumPy arrays in and out. ``test_caches.py``
runs ``CacheSuite`` over the list.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.core import ArgumentError, KVCache, ModelConfig
from cutaway.kvcache import CacheFullError, ContiguousCache

CAPACITY = 12


@dataclass(frozen=True)
class CacheCase:
    """How the suite makes one kind of cache and talks to it."""

    name: str
    make: Callable[[ModelConfig, int], KVCache]
    to_cache: Callable[[np.ndarray], Any]
    to_numpy: Callable[[Any], np.ndarray]


def contiguous(impl: str, dtype: str) -> CacheCase:
    def make(config: ModelConfig, capacity: int) -> KVCache:
        return ContiguousCache(config, capacity, impl=impl, dtype=dtype)

    def to_cache(array: np.ndarray) -> Any:
        array = array.astype(dtype)
        return array if impl == "numpy" else torch.from_numpy(array)

    return CacheCase(f"contiguous-{impl}-{dtype}", make, to_cache, np.asarray)


CACHES = [
    contiguous("numpy", "float32"),
    contiguous("numpy", "float64"),
    contiguous("torch", "float32"),
    contiguous("torch", "float64"),
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
        self.cache = case.make(config, capacity)
        self.k = [[] for _ in range(config.num_layers)]
        self.v = [[] for _ in range(config.num_layers)]
        self._drawn = 0

    def draw(self, tokens: int) -> tuple[np.ndarray, np.ndarray]:
        """Numbers that no token, head or dimension shares with another."""
        shape = (tokens, self.config.num_kv_heads, self.config.head_dim)
        start, size = self._drawn, int(np.prod(shape))
        self._drawn += 2 * size
        k = np.arange(start, start + size, dtype=np.float32).reshape(shape)
        return k, k + size

    def append(self, layer: int, tokens: int) -> None:
        k, v = self.draw(tokens)
        arrays = self.case.to_cache(k), self.case.to_cache(v)
        if len(self.k[layer]) + tokens > self.capacity:
            with pytest.raises(CacheFullError):
                self.cache.append(layer, *arrays)
        else:
            self.cache.append(layer, *arrays)
            self.k[layer].extend(k)
            self.v[layer].extend(v)
            if tokens:
                self._ends_with(layer, k, v)

    def truncate(self, num_tokens: int) -> None:
        self.cache.truncate(num_tokens)
        for rows in (*self.k, *self.v):
            del rows[num_tokens:]

    @property
    def num_tokens(self) -> int:
        return min(len(rows) for rows in self.k)

    def check(self) -> None:
        """The content and the counts are those of the lists."""
        assert self.cache.num_tokens == self.num_tokens
        for layer in range(self.config.num_layers):
            for got, want in zip(
                self.cache.view(layer), (self.k, self.v), strict=True
            ):
                rows = self.case.to_numpy(got)
                shape = (-1, self.config.num_kv_heads, self.config.head_dim)
                assert np.array_equal(rows, np.reshape(want[layer], shape)), (
                    f"layer {layer}"
                )

    def _ends_with(self, layer: int, k: np.ndarray, v: np.ndarray) -> None:
        got_k, got_v = map(self.case.to_numpy, self.cache.view(layer))
        assert np.array_equal(got_k[-len(k) :], k)
        assert np.array_equal(got_v[-len(v) :], v)


APPEND = st.tuples(st.just("append"), st.integers(0, 5))
HALF = st.tuples(st.just("half"), st.integers(0, 5))
CUT = st.tuples(st.just("truncate"), st.integers(0, CAPACITY))
STEPS = st.lists(st.one_of(APPEND, HALF, CUT), max_size=12)
FAST = settings(deadline=None, derandomize=True, max_examples=40)


class CacheSuite:
    """What every cache promises; the subclass parametrises ``case``."""

    def test_it_has_the_methods_of_the_protocol(self, case):
        assert isinstance(case.make(small_config(), 4), KVCache)

    def test_a_new_cache_is_empty_in_every_layer(self, case):
        Twin(case, small_config(), CAPACITY).check()

    @FAST
    @given(steps=STEPS)
    def test_any_appends_and_truncations_keep_the_content(self, case, steps):
        twin = Twin(case, small_config(), CAPACITY)
        for step, number in steps:
            if step == "truncate":
                twin.truncate(min(number, twin.num_tokens))
            else:
                layers = 3 if step == "append" else 2
                for layer in range(layers):
                    twin.append(layer, number)
            twin.check()

    def test_num_tokens_grows_when_the_last_layer_has_been_written(self, case):
        twin = Twin(case, small_config(), CAPACITY)
        seen = []
        for layer in range(3):
            twin.append(layer, 5)
            seen.append(twin.cache.num_tokens)
        assert seen == [0, 0, 5]

    def test_the_first_token_is_stored_and_layers_are_not_mixed_up(self, case):
        twin = Twin(case, small_config(), CAPACITY)
        for layer in range(3):
            twin.append(layer, 1)
        twin.check()
        first = [
            float(case.to_numpy(twin.cache.view(layer)[0])[0, 0, 0])
            for layer in range(3)
        ]
        assert len(set(first)) == 3

    def test_offsets_after_a_prompt_of_six_are_six_seven_eight(self, case):
        twin = Twin(case, small_config(), CAPACITY)
        offsets = []
        for tokens in (6, 1, 1, 1):
            offsets.append(twin.cache.num_tokens)
            for layer in range(3):
                twin.append(layer, tokens)
        assert offsets == [0, 6, 7, 8]

    def test_a_count_read_earlier_does_not_change_later(self, case):
        twin = Twin(case, small_config(), CAPACITY)
        before = twin.cache.num_tokens
        for layer in range(3):
            twin.append(layer, 4)
        assert before == 0

    def test_truncating_forgets_half_appended_layers(self, case):
        twin = Twin(case, small_config(), CAPACITY)
        for layer in range(3):
            twin.append(layer, 3)
        twin.append(0, 4)
        twin.append(1, 4)
        assert twin.cache.num_tokens == 3
        twin.truncate(3)
        twin.check()
        for layer in range(3):
            twin.append(layer, 2)
        twin.check()

    def test_a_full_cache_refuses_and_stays_as_it_was(self, case):
        twin = Twin(case, small_config(), CAPACITY)
        for layer in range(3):
            twin.append(layer, CAPACITY)
        k, v = (case.to_cache(a) for a in twin.draw(1))
        with pytest.raises(CacheFullError, match=r"13.*12") as info:
            twin.cache.append(0, k, v)
        assert info.value.name == "cache"
        twin.check()
        twin.truncate(CAPACITY - 1)
        for layer in range(3):
            twin.append(layer, 1)
        twin.check()

    @pytest.mark.parametrize("layer", [-1, 3, 1.0, None])
    def test_a_layer_that_does_not_exist_is_refused(self, case, layer):
        twin = Twin(case, small_config(), CAPACITY)
        k, v = (case.to_cache(a) for a in twin.draw(1))
        for call in (
            lambda: twin.cache.append(layer, k, v),
            lambda: twin.cache.view(layer),
        ):
            with pytest.raises(ArgumentError) as info:
                call()
            assert info.value.name == "layer"
        twin.check()

    @pytest.mark.parametrize(
        ("k_shape", "v_shape", "name"),
        [
            ((2, 3, 6), (2, 3, 6), "k.shape"),
            ((2, 2, 5), (2, 2, 6), "k.shape"),
            ((2, 12), (2, 12), "k.shape"),
            ((2, 2, 6), (1, 2, 6), "v.shape"),
            ((2, 2, 6), (2, 2, 4), "v.shape"),
        ],
    )
    def test_other_shapes_are_refused(self, case, k_shape, v_shape, name):
        twin = Twin(case, small_config(), CAPACITY)
        for layer in range(3):
            twin.append(layer, 2)
        k, v = case.to_cache(np.ones(k_shape)), case.to_cache(np.ones(v_shape))
        with pytest.raises(ArgumentError) as info:
            twin.cache.append(0, k, v)
        assert info.value.name == name
        twin.check()

    @pytest.mark.parametrize("number", [-1, 3, 2.0, None])
    def test_truncating_to_more_than_is_stored_is_refused(self, case, number):
        twin = Twin(case, small_config(), CAPACITY)
        for layer in range(3):
            twin.append(layer, 2)
        twin.append(0, 4)
        with pytest.raises(ArgumentError) as info:
            twin.cache.truncate(number)
        assert info.value.name == "num_tokens"
        twin.check()

    def test_what_was_appended_is_a_copy(self, case):
        twin = Twin(case, small_config(), CAPACITY)
        for layer in range(3):
            k, v = (case.to_cache(a) for a in twin.draw(2))
            twin.cache.append(layer, k, v)
            k[:], v[:] = -1, -1
            for got in twin.cache.view(layer):
                assert (case.to_numpy(got) >= 0).all()

    def test_nbytes_does_not_grow_with_use(self, case):
        twin = Twin(case, small_config(), CAPACITY)
        before = twin.cache.nbytes
        for layer in range(3):
            twin.append(layer, 5)
        assert twin.cache.nbytes == before > 0
