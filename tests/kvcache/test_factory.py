"""Caches by name."""

from __future__ import annotations

import pytest

from cutaway.core import ArgumentError, KVCache
from cutaway.kvcache import (
    CACHES,
    ContiguousCache,
    cache_factory,
    make_cache,
)
from kvcache.cache_twin import small_config

NAMES = sorted(CACHES)


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_every_name_makes_an_empty_cache(name, dtype, impl):
    config = small_config(head_dim=8)
    cache = make_cache(name, config, 10, impl=impl, dtype=dtype)
    assert isinstance(cache, KVCache)
    assert cache.num_tokens == 0
    assert cache.nbytes > 0


def test_the_names_cannot_be_changed():
    with pytest.raises(TypeError):
        CACHES["other"] = ContiguousCache


def test_a_factory_of_ones_own_gets_all_that_was_said():
    seen = []

    def make(config, capacity_tokens, /, *, impl, dtype):
        seen.append((config, capacity_tokens, impl, dtype))
        return ContiguousCache(config, capacity_tokens, impl=impl, dtype=dtype)

    config = small_config()
    cache = make_cache(make, config, 7, impl="numpy", dtype="float64")
    assert seen == [(config, 7, "numpy", "float64")]
    assert cache.capacity_tokens == 7
    assert cache_factory(make) is make


@pytest.mark.parametrize("kind", ["contigous", "", None, 3, ContiguousCache])
def test_a_kind_that_is_none_is_refused_by_name(kind):
    if kind is ContiguousCache:
        kind = kind(small_config(), 3)  # a cache, not what makes one
    with pytest.raises(ArgumentError, match=r"got .*'contiguous'") as info:
        cache_factory(kind, name="cache")
    assert info.value.name == "cache"


def test_a_factory_of_something_else_is_refused():
    def make(config, capacity_tokens, /, *, impl, dtype):
        return {}

    with pytest.raises(ArgumentError, match="one of dict") as info:
        make_cache(make, small_config(), 3)
    assert info.value.name == "kind"


@pytest.mark.parametrize(
    ("capacity", "options", "name"),
    [
        (0, {}, "capacity_tokens"),
        (2.0, {}, "capacity_tokens"),
        (4, {"impl": "jax"}, "impl"),
        (4, {"dtype": "float16"}, "dtype"),
    ],
)
@pytest.mark.parametrize("kind", NAMES)
def test_bad_arguments_are_named(kind, capacity, options, name):
    config = small_config(head_dim=8)
    with pytest.raises(ArgumentError) as info:
        make_cache(kind, config, capacity, **options)
    assert info.value.name == name
