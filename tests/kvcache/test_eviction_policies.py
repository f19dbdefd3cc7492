"""Policies on weights that one can add up in the head."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.core import ArgumentError
from cutaway.kvcache import H2O, KeptTokens, Recent, SnapKV, kept_rows
from cutaway.kvcache.h2o import h2o_cache
from cutaway.kvcache.snapkv import snapkv_cache
from kvcache.cache_twin import small_config

WEIGHTS = np.array(
    [
        [[0.7, 0.1, 0.2, 0, 0], [0.1, 0.1, 0.1, 0.7, 0], [0.5, 0, 0, 0, 0.5]],
        [[0.1, 0.8, 0.1, 0, 0], [0.1, 0.8, 0.1, 0.0, 0], [0, 0.9, 0, 0, 0.1]],
    ]
)
POSITIONS = np.array([[0, 3, 4, 7, 8], [1, 2, 3, 7, 8]])


def test_h2o_adds_the_weights_of_all_queries_to_what_was():
    scores = H2O(1).scored(np.full((2, 5), 10.0), WEIGHTS)
    expected = [[11.3, 10.2, 10.3, 10.7, 10.5], [10.2, 12.5, 10.2, 10, 10.1]]
    np.testing.assert_allclose(scores, expected)


@pytest.mark.parametrize(
    ("recent", "kept"),
    [
        (0, [[0, 3], [0, 1]]),
        (1, [[0, 4], [1, 4]]),
        (2, [[3, 4], [3, 4]]),
        (9, [[3, 4], [3, 4]]),
    ],
)
def test_h2o_keeps_the_heaviest_beside_the_newest(recent, kept):
    policy = H2O(recent)
    scores = policy.scored(np.array([[0.0] * 5, [0.1, 0, 0, 0, 0]]), WEIGHTS)
    ranked = policy.priorities(scores, POSITIONS)
    assert kept_rows(ranked, 2).tolist() == kept


def test_snapkv_votes_by_its_window_and_the_window_stays():
    policy = SnapKV(window_tokens=2, pool_tokens=1)
    assert policy.observed_queries == 2
    scores = policy.scored(np.full((2, 5), 9.0), WEIGHTS[:, -2:])
    expected = [
        [0.6, 0.1, 0.1, np.inf, np.inf],
        [0.1, 1.7, 0.1, np.inf, np.inf],
    ]
    np.testing.assert_allclose(scores, expected)


def test_snapkv_gives_a_token_the_best_vote_of_its_neighbours():
    votes = np.array([[[0.9, 0, 0, 0, 0.4, 0, 0.1, 0, 0]] * 2])
    best = SnapKV(2, 3).scored(np.zeros((1, 9)), votes)
    inf = np.inf
    expected = [[1.8, 1.8, 0, 0.8, 0.8, 0.8, 0.2, inf, inf]]
    np.testing.assert_allclose(best, expected)
    # the window's own weights are no votes, not even through a neighbour
    votes[:, :, 7] = 5
    np.testing.assert_allclose(
        SnapKV(2, 3).scored(np.zeros((1, 9)), votes), expected
    )


def test_a_token_read_alone_changes_no_vote_and_stays():
    before = np.array([[0.5, 0.2, 0.0]])
    after = SnapKV(4).scored(before, np.array([[[0, 0.9, 0.1]]]))
    assert after.tolist() == [[0.5, 0.2, np.inf]]


def test_a_prompt_within_the_window_keeps_its_newest():
    scores = SnapKV(4).scored(np.zeros((1, 3)), np.full((1, 3, 3), 0.3))
    assert kept_rows(scores, 2).tolist() == [[1, 2]]


def test_recent_looks_at_places_alone():
    policy = Recent(sink_tokens=2)
    assert policy.observed_queries == 0
    ranked = policy.priorities(np.zeros((2, 5)), POSITIONS)
    assert kept_rows(ranked, 3).tolist() == [[0, 3, 4], [0, 3, 4]]
    assert kept_rows(ranked, 9).tolist() == [list(range(5))] * 2


@pytest.mark.parametrize(
    "policy", [Recent(1), H2O(1), SnapKV(2, 3)], ids=lambda p: type(p).__name__
)
def test_a_policy_leaves_its_arguments_alone(policy):
    scores, weights = np.ones((2, 5)), WEIGHTS.copy()
    after = policy.scored(scores, weights)
    kept = after.copy()
    policy.priorities(after, POSITIONS)
    assert (scores == 1).all()
    assert np.array_equal(weights, WEIGHTS)
    assert np.array_equal(after, kept)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: Recent(-1), "sink_tokens"),
        (lambda: H2O(1.0), "recent_tokens"),
        (lambda: H2O(-1), "recent_tokens"),
        (lambda: SnapKV(0), "window_tokens"),
        (lambda: SnapKV(4, 4), "pool_tokens"),
        (lambda: SnapKV(4, 0), "pool_tokens"),
        (lambda: kept_rows(np.zeros((1, 3)), 0), "budget_tokens"),
    ],
)
def test_bad_sizes_are_refused_by_name(make, name):
    with pytest.raises(ArgumentError) as info:
        make()
    assert info.value.name == name


@pytest.mark.parametrize("make", [h2o_cache, snapkv_cache])
@pytest.mark.parametrize("name", ["budget_tokens", "chunk_tokens"])
def test_bad_settings_of_a_factory_are_refused_by_name(make, name):
    with pytest.raises(ArgumentError) as info:
        make(small_config(), 9, impl="numpy", dtype="float32", **{name: 0})
    assert info.value.name == name


def test_rows_chosen_for_another_number_of_heads_are_refused():
    kept = KeptTokens(4, small_config().kv_shape, impl="numpy", dtype="float64")
    kept.write(*2 * [np.ones((3, 2, 6))])
    with pytest.raises(ArgumentError):
        kept.choose(np.array([[0]]))
    with pytest.raises(ArgumentError) as info:
        kept.write(*2 * [np.ones((2, 2, 6))])
    assert info.value.name == "k.shape[0]"
    assert (kept.rows, kept.read, kept.floor) == (3, 3, 0)
