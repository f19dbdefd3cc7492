"""Dense attention: against loops and torch's own, masks, tiles, states."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch

from cutaway.attention import attention
from cutaway.core import ArgumentError
from oracles import loops
from oracles.budget import assert_within_budget

HEADS = [(9, 3), (4, 4), (5, 1), (1, 1)]  # GQA, MHA, MQA, one
LENGTHS = [(0, 0), (0, 3), (1, 1), (1, 7), (2, 5), (5, 5), (4, 11)]
HEAD_DIMS = [2, 6, 64]


def draw(q_len, kv_len, heads, kv_heads, head_dim, seed=0):
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal((q_len, heads, head_dim)),
        rng.standard_normal((kv_len, kv_heads, head_dim)),
        rng.standard_normal((kv_len, kv_heads, head_dim)),
    )


def torch_attention(*arrays, **options):
    state = attention(*map(torch.from_numpy, arrays), impl="torch", **options)
    return state.out.numpy(), state.lse.numpy()


def numpy_attention(*arrays, **options):
    state = attention(*arrays, impl="numpy", **options)
    return state.out, state.lse


@pytest.mark.parametrize("head_dim", HEAD_DIMS)
@pytest.mark.parametrize(("heads", "kv_heads"), HEADS)
@pytest.mark.parametrize(("q_len", "kv_len"), LENGTHS)
def test_both_equal_the_loops(q_len, kv_len, heads, kv_heads, head_dim):
    exact = draw(q_len, kv_len, heads, kv_heads, head_dim)
    for causal in (True, False):
        want = loops.attention(*exact, causal=causal)
        for run in (numpy_attention, torch_attention):
            got = run(*exact, causal=causal)
            for have, wanted in zip(got, want, strict=True):
                assert have.shape == wanted.shape
                np.testing.assert_allclose(have, wanted, rtol=0, atol=1e-12)
    low = [a.astype(np.float32) for a in exact]
    want = loops.attention(*low)
    got, plain = torch_attention(*low), numpy_attention(*low)
    for triple in zip(got, plain, want, strict=True):
        assert_within_budget(*triple)


@pytest.mark.parametrize("run", [numpy_attention, torch_attention])
def test_causal_is_bottom_right_when_lengths_differ(run):
    # q 2, kv 5 wants rows 11110, 11111; torch's is_causal is top-left
    q, k, _ = draw(2, 5, 1, 1, 8)
    v = np.eye(5, 8)[:, None]  # the output shows each key's weight
    out, _ = run(q, k, v)
    seen = (out[:, 0, :5] > 0).astype(int).tolist()
    assert seen == [[1, 1, 1, 1, 0], [1, 1, 1, 1, 1]]


def test_the_top_left_mask_of_torch_would_differ():
    q, k, v = (torch.from_numpy(a) for a in draw(2, 5, 1, 1, 8))
    top_left = torch.nn.functional.scaled_dot_product_attention(
        *(a.transpose(0, 1) for a in (q, k, v)), is_causal=True
    ).transpose(0, 1)
    ours = attention(q, k, v, impl="torch").out
    assert (ours - top_left).abs().max() > 0.1


@pytest.mark.parametrize(("heads", "kv_heads"), HEADS)
@pytest.mark.parametrize(("q_len", "kv_len"), [(1, 9), (6, 6), (3, 10)])
def test_both_equal_torch_sdpa(q_len, kv_len, heads, kv_heads):
    arrays = draw(q_len, kv_len, heads, kv_heads, 6, seed=5)
    q, k, v = (torch.from_numpy(a).transpose(0, 1) for a in arrays)
    mask = torch.ones(q_len, kv_len, dtype=torch.bool).tril(kv_len - q_len)
    for causal in (True, False):
        want = torch.nn.functional.scaled_dot_product_attention(
            q, k, v, attn_mask=mask if causal else None, enable_gqa=True
        ).transpose(0, 1)
        for run in (numpy_attention, torch_attention):
            out, _ = run(*arrays, causal=causal)
            np.testing.assert_allclose(out, want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("run", [numpy_attention, torch_attention])
def test_lse_equals_torch_logsumexp_of_the_masked_scores(run):
    arrays = draw(3, 8, 6, 2, 4)
    q, k, _ = (torch.from_numpy(a) for a in arrays)
    scores = torch.einsum("ihd,jhd->ihj", q, k.repeat_interleave(3, 1)) / 2
    mask = torch.ones(3, 8, dtype=torch.bool).tril(5)
    scores = scores.masked_fill(~mask[:, None], -torch.inf)
    _, lse = run(*arrays)
    np.testing.assert_allclose(lse, scores.logsumexp(-1), rtol=0, atol=1e-12)


def test_heads_of_a_group_read_the_same_key_value_head():
    q, k, v = draw(1, 4, 6, 2, 4)
    q[:] = q[:, :1]  # all heads ask the same question
    for run in (numpy_attention, torch_attention):
        out, _ = run(q, k, v)
        for head in (1, 2):
            np.testing.assert_allclose(out[0, head], out[0, 0], atol=1e-14)
            np.testing.assert_allclose(out[0, 3 + head], out[0, 3], atol=1e-14)
        assert np.abs(out[0, 0] - out[0, 3]).max() > 0.01


@pytest.mark.parametrize("q_len", [127, 128, 129, 300])
@pytest.mark.parametrize("extra", [0, 37])
def test_tiles_of_queries_change_nothing(q_len, extra):
    arrays = draw(q_len, q_len + extra, 3, 1, 4, seed=2)
    for causal in (True, False):
        want = numpy_attention(*arrays, causal=causal)
        got = torch_attention(*arrays, causal=causal)
        for have, wanted in zip(got, want, strict=True):
            np.testing.assert_allclose(have, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("run", [numpy_attention, torch_attention])
def test_without_keys_the_output_is_zero_and_lse_minus_infinity(run):
    q, k, v = draw(3, 0, 4, 2, 6)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out, lse = run(q, k, v, causal=False)
    assert out.shape == (3, 4, 6)
    assert not out.any()
    assert np.isneginf(lse).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("run", [numpy_attention, torch_attention])
def test_huge_scores_neither_overflow_nor_become_nan(run, dtype):
    q, k, v = (a.astype(dtype) for a in draw(3, 5, 4, 2, 6))
    q, k = q * 1e4, k * 1e4  # scores near 1e8; exp overflows beyond 709
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        out, lse = run(q, k, v)
    assert np.isfinite(out).all()
    assert np.isfinite(lse).all()
    # the softmax is a choice of the largest score
    scores = np.einsum("hd,jhd->hj", q[-1], k.repeat(2, 1))
    for head, best in enumerate(scores.argmax(1)):
        np.testing.assert_allclose(out[-1, head], v[best, head // 2])


@pytest.mark.parametrize("run", [numpy_attention, torch_attention])
def test_adding_a_constant_to_all_scores_moves_lse_alone(run):
    q, k, v = draw(2, 4, 2, 2, 4)
    q[..., 0], k[..., 0] = 1, 0
    out, lse = run(q, k, v, scale=1.0)
    k[..., 0] = 30
    moved_out, moved_lse = run(q, k, v, scale=1.0)
    np.testing.assert_allclose(moved_out, out, atol=1e-12)
    np.testing.assert_allclose(moved_lse, lse + 30, atol=1e-12)


@pytest.mark.parametrize("run", [numpy_attention, torch_attention])
def test_scale_defaults_to_one_over_the_root_of_head_dim(run):
    arrays = draw(2, 4, 2, 2, 16)
    for have, wanted in zip(
        run(*arrays), run(*arrays, scale=0.25), strict=True
    ):
        np.testing.assert_allclose(have, wanted, atol=1e-15)
    flat, _ = run(*arrays, causal=False, scale=0.0)
    np.testing.assert_allclose(flat[0], arrays[2].mean(axis=0), atol=1e-12)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("run", [numpy_attention, torch_attention])
def test_the_state_keeps_the_dtype_whatever_scale_is(run, dtype):
    arrays = [a.astype(dtype) for a in draw(2, 4, 2, 2, 4)]
    for part in run(*arrays, scale=np.float64(0.5)):
        assert part.dtype == dtype


@pytest.mark.parametrize("run", [numpy_attention, torch_attention])
def test_inputs_are_not_changed_and_may_be_strided_views(run):
    storage = draw(12, 12, 4, 4, 6)
    views = [a[1:7, ::2] for a in storage]
    before = [a.copy() for a in storage]
    got = run(*views)
    want = loops.attention(*views)
    np.testing.assert_allclose(got[0], want[0], atol=1e-12)
    for have, wanted in zip(storage, before, strict=True):
        assert np.array_equal(have, wanted)


def test_later_keys_never_reach_earlier_queries():
    q, k, v = draw(6, 6, 2, 1, 4)
    before = [numpy_attention(q, k, v)[0], torch_attention(q, k, v)[0]]
    k[4:], v[4:] = 99, -99
    after = [numpy_attention(q, k, v)[0], torch_attention(q, k, v)[0]]
    for old, new in zip(before, after, strict=True):
        assert np.array_equal(old[:4], new[:4])
        assert np.abs(old[4:] - new[4:]).max() > 1


@pytest.mark.parametrize(
    ("shapes", "options", "name"),
    [
        (((2, 4, 6), (3, 3, 6), (3, 3, 6)), {}, "q.shape[1]"),
        (((2, 4, 6), (3, 0, 6), (3, 0, 6)), {}, "q.shape[1]"),
        (((2, 4, 6), (3, 2, 5), (3, 2, 5)), {}, "k.shape"),
        (((2, 4, 6), (3, 2, 6), (4, 2, 6)), {}, "v.shape"),
        (((4, 6), (3, 2, 6), (3, 2, 6)), {}, "q.shape"),
        (((4, 4, 6), (3, 2, 6), (3, 2, 6)), {}, "k.shape[0]"),
        (((1, 2, 0), (3, 2, 0), (3, 2, 0)), {}, "head_dim"),
        (((2, 4, 6), (3, 2, 6), (3, 2, 6)), {"scale": -1.0}, "scale"),
        (((2, 4, 6), (3, 2, 6), (3, 2, 6)), {"scale": np.nan}, "scale"),
        (((2, 4, 6), (3, 2, 6), (3, 2, 6)), {"impl": "jax"}, "impl"),
        (((2, 4, 6), (3, 2, 6), (3, 2, 6)), {"impl": "torch"}, "q"),
    ],
)
def test_what_does_not_fit_is_named(shapes, options, name):
    arrays = [np.zeros(shape) for shape in shapes]
    with pytest.raises(ArgumentError) as info:
        attention(*arrays, **{"impl": "numpy", **options})
    assert info.value.name == name


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_integer_queries_are_refused(impl):
    arrays = [np.ones((2, 1, 4), np.int64)] * 3
    if impl == "torch":
        arrays = [torch.from_numpy(array) for array in arrays]
    with pytest.raises(ArgumentError, match="got int64, expected floats"):
        attention(*arrays, impl=impl)
