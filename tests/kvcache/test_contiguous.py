"""What the contiguous cache promises beyond the shared suite."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cutaway.core import ArgumentError, CutawayError
from cutaway.kvcache import CacheFullError, ContiguousCache
from kvcache.cache_suite import small_config

IMPLS = ["numpy", "torch"]


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize(("dtype", "width"), [("float32", 4), ("float64", 8)])
@pytest.mark.parametrize(
    ("layers", "kv_heads", "head_dim", "capacity"),
    [(30, 3, 64, 100), (1, 1, 2, 1), (2, 4, 6, 7)],
)
def test_bytes_are_two_times_layers_heads_width_tokens(
    impl, dtype, width, layers, kv_heads, head_dim, capacity
):
    config = small_config(
        num_layers=layers,
        num_kv_heads=kv_heads,
        num_heads=12,
        head_dim=head_dim,
    )
    cache = ContiguousCache(config, capacity, impl=impl, dtype=dtype)
    per_token = 2 * layers * kv_heads * head_dim * width
    assert cache.bytes_per_token == per_token
    assert cache.nbytes == per_token * capacity
    assert cache.capacity_tokens == capacity


def test_query_heads_do_not_enter_the_size():
    few = ContiguousCache(small_config(num_heads=2), 5)
    many = ContiguousCache(small_config(num_heads=12), 5)
    assert few.nbytes == many.nbytes


def test_the_default_is_torch_in_float32():
    k, _ = ContiguousCache(small_config(), 3).view(0)
    assert isinstance(k, torch.Tensor)
    assert k.dtype == torch.float32


@pytest.mark.parametrize("impl", IMPLS)
def test_a_view_is_not_a_copy(impl):
    cache = ContiguousCache(small_config(), 4, impl=impl)
    ones = np.ones((2, 2, 6), np.float32)
    if impl == "torch":
        ones = torch.from_numpy(ones)
    cache.append(1, ones, ones)
    k, v = cache.view(1)
    again, _ = cache.view(1)
    k[0, 0, 0] = 7
    assert again[0, 0, 0] == 7
    assert v[0, 0, 0] == 1  # keys and values do not share memory


@pytest.mark.parametrize("impl", IMPLS)
def test_another_dtype_is_refused_not_rounded(impl):
    cache = ContiguousCache(small_config(), 4, impl=impl)
    wide = np.ones((2, 2, 6))
    if impl == "torch":
        wide = torch.from_numpy(wide)
    with pytest.raises(
        ArgumentError, match=r"float64, expected.*float32"
    ) as info:
        cache.append(0, wide, wide)
    assert info.value.name == "k.dtype"
    with pytest.raises(
        ArgumentError, match=r"float64, expected.*float32"
    ) as info:
        cache.append(0, cache.view(0)[0][:0], wide[:0])
    assert info.value.name == "v.dtype"
    assert cache.num_tokens == 0


def test_arrays_of_the_other_backend_are_refused():
    array = np.ones((2, 2, 6), np.float32)
    cache = ContiguousCache(small_config(), 4, impl="torch")
    with pytest.raises(ArgumentError, match=r"k: got ndarray.*torch"):
        cache.append(0, array, array)


@pytest.mark.parametrize(
    ("arguments", "options", "name"),
    [
        ((0,), {}, "capacity_tokens"),
        ((-1,), {}, "capacity_tokens"),
        ((2.0,), {}, "capacity_tokens"),
        ((4,), {"impl": "jax"}, "impl"),
        ((4,), {"dtype": "float16"}, "dtype"),
    ],
)
def test_bad_arguments_are_named(arguments, options, name):
    with pytest.raises(ArgumentError) as info:
        ContiguousCache(small_config(), *arguments, **options)
    assert info.value.name == name


def test_a_full_cache_is_an_error_of_the_package():
    assert issubclass(CacheFullError, CutawayError)
