"""merge: attention over parts of the keys becomes attention over all."""

from __future__ import annotations

import itertools
import warnings

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.attention import attention
from cutaway.core import ArgumentError, AttentionState, merge
from oracles import loops

FAST = settings(deadline=None, derandomize=True, max_examples=60)


@st.composite
def states(draw, tokens=2, heads=3, head_dim=2):
    """A float64 state; some of its rows have seen no key."""
    seed = draw(st.integers(0, 10_000))
    rng = np.random.default_rng(seed)
    spread = draw(st.sampled_from([1.0, 30.0, 1000.0]))
    lse = rng.standard_normal((tokens, heads)) * spread
    out = rng.standard_normal((tokens, heads, head_dim))
    empty = rng.random((tokens, heads)) < draw(st.sampled_from([0, 0.3, 1]))
    lse[empty], out[empty] = -np.inf, 0
    return AttentionState(out=out, lse=lse)


def assert_same(a, b, atol=1e-12):
    assert not np.isnan(a.out).any()
    assert not np.isnan(a.lse).any()
    np.testing.assert_allclose(a.out, b.out, rtol=0, atol=atol)
    np.testing.assert_allclose(a.lse, b.lse, rtol=1e-14, atol=atol)


@FAST
@given(states(), states())
def test_merge_is_commutative(a, b):
    assert_same(merge(a, b), merge(b, a))


@FAST
@given(states(), states(), states())
def test_merge_is_associative(a, b, c):
    assert_same(merge(merge(a, b), c), merge(a, merge(b, c)))


@FAST
@given(states())
def test_the_empty_state_is_the_identity(a):
    empty = AttentionState.empty(2, 3, 2)
    for merged in (merge(a, empty), merge(empty, a)):
        assert np.array_equal(merged.out, a.out)
        assert np.array_equal(merged.lse, a.lse)


def test_merging_two_empty_states_gives_it_back_without_a_warning():
    empty = AttentionState.empty(2, 1, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        merged = merge(empty, empty)
    assert not merged.out.any()
    assert np.isneginf(merged.lse).all()
    assert merged.out.dtype == merged.lse.dtype == np.float32


def test_two_states_by_hand():
    # one key of score ln 1 and value 4, one of score ln 3 and value 8
    a = AttentionState(out=np.array([[[4.0]]]), lse=np.log([[1.0]]))
    b = AttentionState(out=np.array([[[8.0]]]), lse=np.log([[3.0]]))
    merged = merge(a, b)
    assert merged.out[0, 0, 0] == pytest.approx(7)
    assert merged.lse[0, 0] == pytest.approx(np.log(4))


@FAST
@given(
    cuts=st.lists(st.integers(0, 9), max_size=4),
    seed=st.integers(0, 50),
    impl=st.sampled_from(["numpy", "torch"]),
)
def test_merging_attention_over_parts_equals_attention_over_all(
    cuts, seed, impl
):
    rng = np.random.default_rng(seed)
    q = rng.standard_normal((3, 4, 6))
    k, v = rng.standard_normal((2, 9, 2, 6))
    out, lse = loops.attention(q, k, v, causal=False)
    edges = [0, *sorted(cuts), 9]  # parts may be empty
    whole = AttentionState.empty(3, 4, 6)
    for start, stop in itertools.pairwise(edges):
        arrays = (q, k[start:stop], v[start:stop])
        if impl == "torch":
            arrays = tuple(torch.from_numpy(a) for a in arrays)
        whole = merge(whole, attention(*arrays, causal=False, impl=impl))
    assert_same(whole, AttentionState(out=out, lse=lse))


def test_taking_a_base_two_lse_for_a_natural_one_is_visibly_wrong():
    # FlashInfer's LSE is base 2: merged as it stands, it is off by 0.1
    rng = np.random.default_rng(1)
    q, k, v = (rng.standard_normal((8, 1, 4)) for _ in range(3))
    parts = [
        attention(q, k[cut], v[cut], causal=False, impl="numpy")
        for cut in (slice(0, 3), slice(3, 8))
    ]
    base_two = [AttentionState(out=p.out, lse=p.lse / np.log(2)) for p in parts]
    error = np.abs(merge(*base_two).out - merge(*parts).out).max()
    assert error > 0.02


@pytest.mark.parametrize(
    ("out", "lse", "name"),
    [((3, 1, 4), (2, 1), "b.out.shape"), ((2, 1, 4), (2, 2), "b.lse.shape")],
)
def test_states_of_other_shapes_are_refused(out, lse, name):
    a = AttentionState.empty(2, 1, 4)
    b = AttentionState(out=np.zeros(out), lse=np.zeros(lse))
    with pytest.raises(ArgumentError) as info:
        merge(a, b)
    assert info.value.name == name
