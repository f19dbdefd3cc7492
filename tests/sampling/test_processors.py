"""The cuts, beside transformers' warpers and beside plain enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.core.errors import ArgumentError
from cutaway.sampling import (
    SamplingParams,
    apply_min_p,
    apply_temperature,
    apply_top_k,
    apply_top_p,
    probabilities,
    softmax,
)
from oracles.sampler import exact_probabilities

INF = float("inf")
CUTS = [
    (apply_temperature, 0.7),
    (apply_top_k, 3),
    (apply_top_p, 0.6),
    (apply_min_p, 0.2),
]


def hf_warp(name: str, value: float, logits: np.ndarray) -> np.ndarray:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from transformers.generation import logits_process

    warper = getattr(logits_process, name)(value)
    return warper(None, torch.from_numpy(logits)).numpy()


@pytest.mark.parametrize("vocab", [1, 2, 7, 59, 1000])
@pytest.mark.parametrize(
    ("ours", "theirs", "values"),
    [
        (apply_temperature, "TemperatureLogitsWarper", (0.1, 0.7, 1.0, 3.0)),
        (apply_top_k, "TopKLogitsWarper", (1, 2, 5, 59, 2000)),
        (apply_top_p, "TopPLogitsWarper", (0.01, 0.5, 0.9, 0.999, 1.0)),
        (apply_min_p, "MinPLogitsWarper", (0.0, 0.01, 0.3, 0.99)),
    ],
)
def test_cut_equals_transformers(vocab, ours, theirs, values) -> None:
    rng = np.random.default_rng(vocab)
    logits = rng.normal(scale=4, size=(4, vocab))
    logits[3, rng.random(vocab) < 0.3] = -INF
    logits[3, 0] = 1.0
    for value in values:
        expected = hf_warp(theirs, value, logits)
        np.testing.assert_allclose(ours(logits, value), expected, rtol=1e-12)


def test_chain_equals_transformers_in_its_order() -> None:
    logits = np.random.default_rng(5).normal(scale=5, size=(6, 200))
    expected = logits
    for name, value in [
        ("TemperatureLogitsWarper", 1.7),
        ("TopKLogitsWarper", 60),
        ("TopPLogitsWarper", 0.9),
        ("MinPLogitsWarper", 0.05),
    ]:
        expected = hf_warp(name, value, expected)
    params = SamplingParams(temperature=1.7, top_k=60, top_p=0.9, min_p=0.05)
    got = probabilities(logits, params)
    np.testing.assert_allclose(got, softmax(expected), rtol=1e-12)
    assert 1 < (got[0] > 0).sum() < 60


def test_temperature_before_top_p_keeps_other_tokens_than_after() -> None:
    logits = np.log([0.6, 0.25, 0.15])
    first = apply_top_p(apply_temperature(logits, 3.0), 0.6)
    last = apply_temperature(apply_top_p(logits, 0.6), 3.0)
    assert (first > -INF).sum() == 2
    assert (last > -INF).sum() == 1
    params = SamplingParams(temperature=3.0, top_p=0.6)
    np.testing.assert_array_equal(
        probabilities(logits, params) > 0, first > -INF
    )


# Logits on a grid, and cuts that no sum or ratio of theirs can meet exactly:
# ties are exact, and rounding cannot move a token across a threshold.
@settings(max_examples=200, deadline=None)
@given(
    logits=st.lists(
        st.one_of(st.integers(-240, 240).map(lambda i: i / 8), st.just(-INF)),
        min_size=1,
        max_size=9,
    ).filter(lambda row: max(row) > -INF),
    temperature=st.sampled_from([0, 0.05, 0.5, 1, 2, 50]),
    top_k=st.sampled_from([None, 1, 2, 5, 99]),
    top_p=st.sampled_from([0.01, 0.37, 0.9, 1]),
    min_p=st.sampled_from([0.0, 0.013, 0.37]),
)
def test_probabilities_equal_enumeration(
    logits, temperature, top_k, top_p, min_p
) -> None:
    params = SamplingParams(
        temperature=temperature, top_k=top_k, top_p=top_p, min_p=min_p
    )
    got = probabilities(logits, params)
    exact = exact_probabilities(logits, temperature, top_k, top_p, min_p)
    np.testing.assert_allclose(got, exact, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(got > 0, np.array(exact) > 0)
    assert got.sum() == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("cut", "value"), CUTS)
def test_cut_handles_each_row_alone_in_any_batch_shape(cut, value) -> None:
    logits = np.random.default_rng(3).normal(size=(2, 3, 11)) * 3
    whole = cut(logits, value)
    for i in range(2):
        for j in range(3):
            np.testing.assert_array_equal(whole[i, j], cut(logits[i, j], value))


@pytest.mark.parametrize(("cut", "value"), CUTS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cut_keeps_dtype_and_leaves_its_input_alone(cut, value, dtype) -> None:
    logits = np.arange(8, dtype=dtype)
    before = logits.copy()
    out = cut(logits, value)
    assert out.dtype == dtype
    assert not np.shares_memory(out, logits)
    np.testing.assert_array_equal(logits, before)


@pytest.mark.parametrize(
    ("cut", "neutral"),
    [(apply_temperature, 1), (apply_top_p, 1), (apply_min_p, 0)],
)
def test_neutral_value_keeps_all_and_returns_a_copy(cut, neutral) -> None:
    logits = np.random.default_rng(0).normal(size=5000) * 20
    out = cut(logits, neutral)
    np.testing.assert_array_equal(out, logits)
    assert not np.shares_memory(out, logits)


def test_top_k_keeps_ties_with_the_kth() -> None:
    out = apply_top_k(np.array([2.0, 5.0, 2.0, 1.0, 2.0]), 2)
    np.testing.assert_array_equal(out, [2, 5, 2, -INF, 2])


def test_top_k_beyond_the_finite_tokens_adds_none() -> None:
    out = apply_top_k(np.array([-INF, 1.0, -INF]), 2)
    np.testing.assert_array_equal(out, [-INF, 1, -INF])


def test_top_p_includes_the_token_that_crosses() -> None:
    logits = np.log([0.5, 0.25, 0.125, 0.125])
    for p, kept in [(0.1, 1), (0.499, 1), (0.51, 2), (0.76, 3), (0.99, 4)]:
        assert (apply_top_p(logits, p) > -INF).sum() == kept


def test_top_p_keeps_two_where_a_textbook_kept_one() -> None:
    # rasbt/reasoning-from-scratch issue 164: running sum <= p dropped 0.41.
    probs = np.array([0.5, 0.41, 0.09])
    assert (np.cumsum(probs) <= 0.9).sum() == 1
    kept = apply_top_p(np.log(probs), 0.9) > -INF
    np.testing.assert_array_equal(kept, [True, True, False])


@pytest.mark.parametrize("p", [0.01, 0.3, 0.9, 0.99, 1 - 1e-12])
@pytest.mark.parametrize("scale", [0.0, 0.5, 3.0, 30.0])
def test_top_p_sorts_no_token_away_that_belongs_to_the_set(p, scale) -> None:
    logits = np.random.default_rng(8).normal(size=(3, 5000)) * scale
    for row, cut in zip(logits, apply_top_p(logits, p), strict=True):
        ranked = np.sort(softmax(row))[::-1]
        fewest = int((np.cumsum(ranked) < p - 1e-14).sum()) + 1
        kept = cut > -INF
        assert abs(int(kept.sum()) - fewest) <= 1
        assert row[kept].min() >= row[~kept].max(initial=-INF)
        assert softmax(row)[kept].sum() >= p - 1e-12


def test_top_p_met_exactly_needs_no_further_token() -> None:
    kept = apply_top_p(np.zeros(4), 0.5) > -INF  # 0.25 each: exact in binary
    np.testing.assert_array_equal(kept, [True, True, False, False])


def test_min_p_keeps_the_token_on_the_floor() -> None:
    logits = np.array([math.log(0.25), 0.0, math.log(0.2)])
    np.testing.assert_array_equal(
        apply_min_p(logits, 0.25) > -INF, [True, True, False]
    )


@pytest.mark.parametrize(("cut", "value"), CUTS)
def test_one_token_always_stays(cut, value) -> None:
    for row in ([0.0], [-INF, -INF, 7.0], [1e30, -1e30, 0.0], [-1e308, -INF]):
        assert np.isfinite(cut(np.array(row), value)).sum() >= 1


def test_strictest_cuts_together_leave_the_likeliest() -> None:
    params = SamplingParams(temperature=1e-3, top_k=1, top_p=1e-9, min_p=0.999)
    logits = np.random.default_rng(1).normal(size=300)
    expected = np.eye(300)[logits.argmax()]
    np.testing.assert_array_equal(probabilities(logits, params), expected)


@pytest.mark.parametrize("temperature", [1e-320, 1e-300, 1e-30, 1e-7, 1e300])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_temperature_makes_a_nan(temperature, dtype) -> None:
    logits = np.array([3.0, -1e30, 5.0, -INF], dtype)
    got = probabilities(logits, SamplingParams(temperature=temperature))
    if temperature < 1:
        np.testing.assert_array_equal(got, [0, 0, 1, 0])
    else:
        np.testing.assert_allclose(got, [1 / 3, 1 / 3, 1 / 3, 0])


def test_huge_logits_do_not_overflow() -> None:
    np.testing.assert_array_equal(
        softmax([1e308, 1e308, -1e308]), [0.5, 0.5, 0]
    )
    np.testing.assert_array_equal(
        probabilities(np.float32([3e38, -3e38]), SamplingParams()), [1, 0]
    )


def test_overflowing_temperature_raises_instead_of_returning_inf() -> None:
    with pytest.raises(ArgumentError, match="temperature: got 1e-40"):
        apply_temperature(np.float32([1.0, 2.0]), 1e-40)


@pytest.mark.parametrize(
    ("cut", "value"), [*CUTS, (lambda z, _: softmax(z), None)]
)
@pytest.mark.parametrize(
    ("logits", "message"),
    [
        ([0.0, float("nan"), 1.0], r"NaN in 1 of 3, first at \(1,\)"),
        ([[0.0, 1.0], [INF, 0.0]], r"\+inf in 1 of 4, first at \(1, 0\)"),
        ([[-INF, -INF], [0.0, 1.0]], "1 row.s. of only -inf"),
        ([], "vocab >= 1"),
        (3.0, "vocab >= 1"),
        (["a", "b"], "real numbers"),
        ([True, False], "real numbers"),
    ],
)
def test_logits_without_a_distribution_raise(
    cut, value, logits, message
) -> None:
    with pytest.raises(ArgumentError, match=message):
        cut(logits, value)


@pytest.mark.parametrize(
    ("cut", "bad"),
    [
        (apply_temperature, (0, -1, float("nan"))),
        (apply_top_k, (0, -1, 1.5)),
        (apply_top_p, (0, 1.01, -0.5)),
        (apply_min_p, (-0.1, 1, 1.2)),
    ],
)
def test_bad_setting_raises(cut, bad) -> None:
    for value in bad:
        with pytest.raises(ArgumentError):
            cut(np.zeros(3), value)
