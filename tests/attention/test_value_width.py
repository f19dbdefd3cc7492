"""Attention whose values have another width than its keys."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cutaway.attention import (
    alibi,
    alibi_slopes,
    attention,
    causal,
    sink_logits,
    sliding_window,
    softcap,
)
from cutaway.core import ArgumentError
from oracles import loops, variant_loops
from oracles.budget import assert_within_budget

IMPLS = ("numpy", "torch")
WIDTHS = [(6, 1), (6, 4), (3, 7), (59, 64), (1, 0)]  # of keys, of values
HEADS = [(9, 3), (4, 4), (5, 1)]
LENGTHS = [(0, 0), (0, 3), (1, 1), (1, 7), (4, 11), (5, 5)]
SINKS = [0.5, -2.0, 3.0, 0.0, 1.5, -0.5]
VARIANTS = {
    "window": (sliding_window(3), {"window": 3}),
    "softcap and sinks": (
        causal() & softcap(0.7) & sink_logits(SINKS),
        {"cap": 0.7, "sink": SINKS},
    ),
    "alibi": (causal() & alibi(6), {"slopes": alibi_slopes(6)}),
}


def draw(q_len, kv_len, heads, kv_heads, widths, seed=0):
    rng = np.random.default_rng(seed)
    key_dim, value_dim = widths
    return (
        rng.standard_normal((q_len, heads, key_dim)),
        rng.standard_normal((kv_len, kv_heads, key_dim)),
        rng.standard_normal((kv_len, kv_heads, value_dim)),
    )


def run(impl, arrays, **options):
    if impl == "torch":
        arrays = [torch.from_numpy(a) for a in arrays]
    state = attention(*arrays, impl=impl, **options)
    return np.asarray(state.out), np.asarray(state.lse)


def assert_same(got, want):
    for have, wanted in zip(got, want, strict=True):
        assert have.shape == wanted.shape
        np.testing.assert_allclose(have, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("widths", WIDTHS)
@pytest.mark.parametrize(("heads", "kv_heads"), HEADS)
@pytest.mark.parametrize(("q_len", "kv_len"), LENGTHS)
def test_both_equal_the_loops(q_len, kv_len, heads, kv_heads, widths):
    arrays = draw(q_len, kv_len, heads, kv_heads, widths)
    for hidden in (True, False):
        want = loops.attention(*arrays, causal=hidden)
        for impl in IMPLS:
            assert_same(run(impl, arrays, causal=hidden), want)


@pytest.mark.parametrize("widths", WIDTHS)
@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize(("q_len", "kv_len"), [*LENGTHS, (5, 2), (3, 0)])
def test_variants_equal_the_loops(name, q_len, kv_len, widths):
    variant, rule = VARIANTS[name]
    arrays = draw(q_len, kv_len, 6, 2, widths)
    want = variant_loops.attention(*arrays, **rule)
    for impl in IMPLS:
        assert_same(run(impl, arrays, variant=variant), want)


@pytest.mark.parametrize("widths", WIDTHS[:-1])  # SDPA wants a width
@pytest.mark.parametrize(("heads", "kv_heads"), HEADS)
@pytest.mark.parametrize(("q_len", "kv_len"), [(1, 9), (6, 6), (3, 10)])
def test_both_equal_torch_sdpa(q_len, kv_len, heads, kv_heads, widths):
    arrays = draw(q_len, kv_len, heads, kv_heads, widths, seed=5)
    q, k, v = (torch.from_numpy(a).transpose(0, 1) for a in arrays)
    mask = torch.ones(q_len, kv_len, dtype=torch.bool).tril(kv_len - q_len)
    want = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, enable_gqa=True
    ).transpose(0, 1)
    for impl in IMPLS:
        out, _ = run(impl, arrays)
        np.testing.assert_allclose(out, want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("q_len", [127, 128, 129, 300])
@pytest.mark.parametrize("variant", [None, sliding_window(40)])
def test_tiles_of_queries_change_nothing(q_len, variant):
    arrays = draw(q_len, q_len + 37, 3, 1, (4, 9), seed=2)
    want = run("numpy", arrays, variant=variant)
    assert_same(run("torch", arrays, variant=variant), want)


@pytest.mark.parametrize("impl", IMPLS)
def test_values_may_be_the_first_columns_of_the_keys(impl):
    # what latent attention caches: one row a token, values inside it
    rng = np.random.default_rng(3)
    q, rows = rng.standard_normal((2, 4, 9)), rng.standard_normal((7, 1, 9))
    before = rows.copy()
    if impl == "torch":
        q, rows = torch.from_numpy(q), torch.from_numpy(rows)
    got = attention(q, rows, rows[..., :6], impl=impl).out
    want, _ = loops.attention(np.asarray(q), before, before[..., :6])
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)
    assert np.array_equal(rows, before)


@pytest.mark.parametrize("variant", [None, *(v for v, _ in VARIANTS.values())])
def test_float32_stays_float32_within_the_error_budget(variant):
    arrays = [a.astype(np.float32) for a in draw(4, 11, 6, 2, (6, 10))]
    exact = [a.astype(np.float64) for a in arrays]
    want = run("numpy", exact, variant=variant)
    plain = run("numpy", arrays, variant=variant)
    got = run("torch", arrays, variant=variant)
    for have, reference, wanted in zip(got, plain, want, strict=True):
        assert have.dtype == reference.dtype == np.float32
        assert_within_budget(have, reference, wanted)


@pytest.mark.parametrize("shape", [(4, 2, 6), (3, 1, 6), (3, 6)])
def test_values_must_be_as_many_as_keys_whatever_their_width(shape):
    q, k, v = np.zeros((2, 4, 6)), np.zeros((3, 2, 6)), np.zeros(shape)
    with pytest.raises(ArgumentError) as info:
        attention(q, k, v, impl="numpy")
    assert info.value.name == "v.shape"
