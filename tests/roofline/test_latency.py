"""Latency metrics: definitions on hand-made times, and what they are not."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.core import CutawayError
from cutaway.roofline import (
    RequestTimes,
    latencies,
    normalized_latency_s,
    percentile,
    summarize_latency,
)

GAPS = st.lists(st.floats(0, 10), min_size=0, max_size=20)


def steady(ttft_s, gap_s, num_tokens):
    return RequestTimes.from_gaps(ttft_s, [gap_s] * (num_tokens - 1))


def test_the_metrics_of_one_request_by_hand():
    times = RequestTimes(sent_s=10, arrivals_s=[12, 13, 13.5, 16])
    assert times.ttft_s == 2
    assert times.e2e_s == 6
    assert times.itl_s == [1, 0.5, 2.5]
    assert times.tpot_s == pytest.approx(4 / 3)
    assert times.normalized_s == 1.5


def test_tpot_leaves_the_first_token_out_and_is_not_e2e_over_tokens():
    """4 s to the first of 5 tokens, then one each 0.5 s."""
    times = steady(4.0, 0.5, 5)
    assert times.tpot_s == 0.5
    assert times.e2e_s / times.num_tokens == 1.2
    assert times.normalized_s == 1.2


@given(st.floats(0, 100), GAPS.filter(len))
def test_tpot_is_the_rule_of_the_serving_benchmarks(ttft, gaps):
    times = RequestTimes.from_gaps(ttft, gaps)
    tokens = len(gaps) + 1
    expected = (times.e2e_s - times.ttft_s) / (tokens - 1)
    assert times.tpot_s == pytest.approx(expected, abs=1e-9)
    assert times.tpot_s == pytest.approx(math.fsum(gaps) / len(gaps), abs=1e-9)


def test_one_token_has_no_tpot_and_no_gap():
    times = RequestTimes(sent_s=0, arrivals_s=[0.7])
    assert times.tpot_s is None
    assert times.itl_s == []
    assert times.normalized_s == 0.7
    assert latencies([times], "tpot") == []
    summary = summarize_latency([times])
    assert summary["tpot"] is None
    assert summary["itl"] is None
    assert summary["ttft"].count == 1


def test_chunks_of_several_tokens_have_gaps_but_tpot_counts_tokens():
    times = RequestTimes(sent_s=0, arrivals_s=[1, 2, 3], num_tokens=9)
    assert times.itl_s == [1, 1]
    assert times.tpot_s == 2 / 8
    assert times.normalized_s == 3 / 9


def test_an_answer_that_comes_at_once_takes_no_time_per_further_token():
    times = RequestTimes(sent_s=0, arrivals_s=[2], num_tokens=5)
    assert times.tpot_s == 0
    assert times.itl_s == []


def test_percentiles_of_itl_are_not_those_of_tpot():
    """Two quick answers, and one that stalls once and is then quick.

    Per request the stall is averaged away; in the pool of gaps it stays.
    """
    stalls = RequestTimes.from_gaps(1.0, [0.1] * 8 + [9.2])
    requests = [steady(1, 0.1, 31), steady(1, 0.2, 31), stalls]
    tpot, itl = latencies(requests, "tpot"), latencies(requests, "itl")
    assert (len(tpot), len(itl)) == (3, 69)
    assert max(tpot) == pytest.approx(10 / 9)
    assert max(itl) == pytest.approx(9.2)
    assert percentile(tpot, 50) == pytest.approx(0.2)
    assert percentile(itl, 50) == pytest.approx(0.1)
    assert percentile(tpot, 99) < 1.2 < percentile(itl, 99)
    # Not even the means agree: long answers weigh more in the pool.
    assert sum(tpot) / 3 == pytest.approx((0.1 + 0.2 + 10 / 9) / 3)
    assert sum(itl) / 69 == pytest.approx((30 * 0.1 + 30 * 0.2 + 10) / 69)


def test_normalized_latency_is_a_mean_of_ratios():
    short, long = RequestTimes.from_gaps(4, []), steady(1, 1, 9)
    assert normalized_latency_s([short, long]) == (4 / 1 + 9 / 9) / 2
    assert normalized_latency_s([short, long]) != (4 + 9) / (1 + 9)


@given(
    st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=40),
    st.floats(0, 100),
)
def test_percentiles_are_numpys(values, percent):
    assert percentile(values, percent) == pytest.approx(
        float(np.percentile(values, percent)), rel=1e-9, abs=1e-6
    )


def test_percentiles_of_one_value_and_at_the_ends():
    assert percentile([3.0], 99) == 3.0
    assert percentile([5.0, 1.0, 2.0], 0) == 1.0
    assert percentile([5.0, 1.0, 2.0], 100) == 5.0


def test_a_summary_pools_all_requests():
    requests = [steady(t, t / 10, 4) for t in (1, 2, 3)]
    summary = summarize_latency(requests)
    assert set(summary) == {"ttft", "tpot", "itl", "e2e"}
    assert summary["ttft"].mean_s == summary["ttft"].p50_s == 2
    assert summary["itl"].count == 9
    assert summary["tpot"].count == 3
    assert summary["tpot"].p50_s == pytest.approx(0.2)
    assert summary["e2e"].p99_s == pytest.approx(
        np.percentile([1.3, 2.6, 3.9], 99)
    )


@given(st.floats(0, 100), GAPS)
def test_gaps_and_times_are_two_views_of_one_request(ttft, gaps):
    times = RequestTimes.from_gaps(ttft, gaps)
    assert times.ttft_s == ttft
    assert times.num_tokens == len(gaps) + 1
    assert times.itl_s == pytest.approx(gaps, abs=1e-9)
    assert times.e2e_s == pytest.approx(ttft + math.fsum(gaps), abs=1e-9)


def test_the_callers_list_is_not_kept():
    arrivals = [1.0, 2.0]
    times = RequestTimes(sent_s=0, arrivals_s=arrivals)
    arrivals.append(0.0)
    assert times.arrivals_s == (1.0, 2.0)


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"arrivals_s": []}, "arrivals_s"),
        ({"arrivals_s": [1, 0.5]}, r"arrivals_s\[1\]"),
        ({"arrivals_s": [-1]}, r"arrivals_s\[0\]"),
        ({"arrivals_s": [float("nan")]}, r"arrivals_s\[0\]"),
        ({"arrivals_s": ["1"]}, r"arrivals_s\[0\]"),
        ({"arrivals_s": [1, 2], "num_tokens": 1}, "num_tokens"),
        ({"arrivals_s": [1], "num_tokens": 1.5}, "num_tokens"),
        ({"arrivals_s": [1], "sent_s": float("inf")}, "sent_s"),
        ({"arrivals_s": [1], "sent_s": None}, "sent_s"),
    ],
)
def test_impossible_times_are_refused(arguments, name):
    with pytest.raises(CutawayError, match=name):
        RequestTimes(**{"sent_s": 0, **arguments})


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: RequestTimes.from_gaps(-1, []), "ttft_s"),
        (lambda: RequestTimes.from_gaps(1, [1, -1]), r"itl_s\[1\]"),
        (lambda: latencies([], "tps"), "metric"),
        (lambda: percentile([], 50), "values"),
        (lambda: percentile([1.0, float("nan")], 50), r"values\[1\]"),
        (lambda: percentile([1.0], 101), "percent"),
        (lambda: percentile([1.0], -0.1), "percent"),
        (lambda: summarize_latency([]), "requests"),
        (lambda: normalized_latency_s([]), "requests"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(CutawayError, match=name):
        call()
