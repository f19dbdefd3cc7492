"""What the contiguous cache promises beyond the shared suite."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cutaway.core import CutawayError
from cutaway.kvcache import CacheFullError, ContiguousCache
from kvcache.cache_twin import small_config

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


def test_a_full_cache_is_an_error_of_the_package():
    assert issubclass(CacheFullError, CutawayError)
