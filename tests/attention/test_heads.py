"""Merging and repeating the heads of a key or value matrix."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.attention import attention, merge_heads, repeat_heads
from cutaway.attention.heads import group_heads
from cutaway.core import ArgumentError

HIDDEN, HEAD_DIM = 5, 4


def matrix(heads: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return rng.standard_normal((heads * HEAD_DIM, HIDDEN))


def rows(weight: np.ndarray, head: int) -> np.ndarray:
    return weight[head * HEAD_DIM : (head + 1) * HEAD_DIM]


@pytest.mark.parametrize(("heads", "groups"), [(6, 2), (6, 6), (9, 3), (5, 1)])
def test_the_mean_is_taken_over_neighbours(heads, groups):
    weight = matrix(heads)
    got = merge_heads(weight, heads, groups)
    size = heads // groups
    for group in range(groups):
        total = sum(rows(weight, group * size + one) for one in range(size))
        np.testing.assert_allclose(rows(got, group), total / size, atol=1e-15)


def test_first_keeps_the_first_head_of_each_group_untouched():
    weight = matrix(6)
    got = merge_heads(weight, 6, 3, how="first")
    for group in range(3):
        assert np.array_equal(rows(got, group), rows(weight, 2 * group))


def test_random_rows_have_the_size_of_the_old_ones_and_follow_the_seed():
    weight = 3 * matrix(8)
    first, again, other = (
        merge_heads(weight, 8, 2, how="random", rng=np.random.default_rng(s))
        for s in (1, 1, 2)
    )
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert first.std() == pytest.approx(weight.std(), rel=0.3)


def test_merging_what_was_repeated_gives_it_back():
    weight = matrix(3).astype(np.float32)
    wide = repeat_heads(weight, 3, 9)
    assert wide.dtype == np.float32
    np.testing.assert_allclose(merge_heads(wide, 9, 3), weight, rtol=1e-6)
    assert np.array_equal(merge_heads(wide, 9, 3, how="first"), weight)


def test_a_mean_of_keys_gives_the_mean_of_the_scores():
    rng = np.random.default_rng(2)
    x, q = rng.standard_normal((7, HIDDEN)), rng.standard_normal(HEAD_DIM)
    weight = matrix(3)
    each = [x @ rows(weight, head).T @ q for head in range(3)]
    merged = x @ merge_heads(weight, 3, 1).T @ q
    np.testing.assert_allclose(merged, np.mean(each, axis=0), atol=1e-14)


def test_repeated_heads_compute_what_the_shared_ones_did():
    rng = np.random.default_rng(3)
    x, q = rng.standard_normal((6, HIDDEN)), rng.standard_normal((2, 6, 4))
    outs = []
    for heads in (2, 6):
        k, v = (
            (x @ repeat_heads(matrix(2, seed), 2, heads).T).reshape(6, heads, 4)
            for seed in (0, 1)
        )
        outs.append(attention(q, k, v, impl="numpy").out)
    np.testing.assert_allclose(*outs, atol=1e-14)


def test_the_weight_is_left_as_it_was():
    weight = matrix(4)
    before = weight.copy()
    merge_heads(weight, 4, 4)[:] = 0
    repeat_heads(weight, 4, 4)[:] = 0
    assert np.array_equal(weight, before)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"num_groups": 4}, "num_groups"),
        ({"num_groups": 0}, "num_groups"),
        ({"num_groups": 12}, "num_groups"),
        ({"num_heads": True}, "num_heads"),
        ({"num_heads": 5, "num_groups": 5}, "weight.shape[0]"),
        ({"how": "median"}, "how"),
        ({"how": "random"}, "rng"),
        ({"weight": [1.0]}, "weight"),
        ({"weight": np.zeros((0, 5))}, "weight.shape[0]"),
    ],
)
def test_bad_input_is_named(change, name):
    given = {"weight": matrix(6), "num_heads": 6, "num_groups": 2, **change}
    with pytest.raises(ArgumentError) as info:
        merge_heads(**given)
    assert info.value.name == name


@pytest.mark.parametrize(("groups", "heads"), [(3, 8), (3, 2), (0, 2)])
def test_heads_that_cannot_be_repeated_are_refused(groups, heads):
    with pytest.raises(ArgumentError):
        repeat_heads(matrix(3), groups, heads)


def test_groups_are_neighbours_not_dealt_out():
    assert [list(group) for group in group_heads(4, 2)] == [[0, 1], [2, 3]]
