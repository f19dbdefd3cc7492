"""Groups of heads: what they read, and what sharing does not save."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from cutaway.attention import attention
from cutaway.roofline import CONFIGS, forward_counts


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize(("heads", "kv_heads"), [(9, 3), (6, 2), (4, 1)])
def test_grouped_heads_equal_repeated_keys_not_tiled_ones(
    impl, heads, kv_heads
):
    rng = np.random.default_rng(0)
    shapes = ((3, heads, 4), (5, kv_heads, 4), (5, kv_heads, 4))
    q, k, v = (rng.standard_normal(shape) for shape in shapes)
    group_size = heads // kv_heads

    def run(*arrays):
        if impl == "torch":
            arrays = [torch.from_numpy(a) for a in arrays]
        return np.asarray(attention(*arrays, impl=impl).out)

    got = run(q, k, v)
    repeated = run(q, k.repeat(group_size, 1), v.repeat(group_size, 1))
    np.testing.assert_allclose(got, repeated, rtol=0, atol=1e-12)
    if kv_heads > 1:  # dealt out in turn, head h reading h % kv_heads
        size = (1, group_size, 1)
        tiled = run(q, np.tile(k, size), np.tile(v, size))
        assert np.abs(got - tiled).max() > 0.1


@pytest.mark.parametrize("q_len", [1, 512])
def test_sharing_key_value_heads_saves_bytes_and_no_flops(q_len):
    # "GQA makes attention cheaper to compute": it does not
    many = replace(CONFIGS["llama-2-70b"], num_kv_heads=64)
    few = CONFIGS["llama-2-70b"]
    assert few.num_kv_heads == 8
    by_name = [
        {op.name: op for op in forward_counts(model, q_len, 4096)}
        for model in (many, few)
    ]
    for name in ("scores", "values"):
        mha, gqa = (ops[name] for ops in by_name)
        assert mha.flops == gqa.flops > 0
        assert mha.kv_bytes == 8 * gqa.kv_bytes > 0
