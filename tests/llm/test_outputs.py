"""Metrics of a request, as latencies and as moments in time."""

from __future__ import annotations

import pytest

from cutaway.outputs import RequestMetrics
from cutaway.roofline import summarize_latency


def test_the_times_of_a_request_give_its_latencies_back():
    metrics = RequestMetrics(0.5, [0.25, 0.125, 1.0], 37, 4)
    assert metrics.times.ttft_s == 0.5
    assert metrics.times.itl_s == [0.25, 0.125, 1.0]
    assert metrics.times.e2e_s == metrics.total_s
    assert metrics.times.tpot_s == pytest.approx(metrics.mean_itl_s)


def test_an_answer_of_one_token_has_no_time_per_output_token():
    metrics = RequestMetrics(0.5, [], 37, 1)
    assert metrics.mean_itl_s is None
    assert metrics.times.tpot_s is None


def test_metrics_of_several_requests_can_be_summarised():
    metrics = [RequestMetrics(t, [0.1] * 3, 5, 4) for t in (1.0, 2.0, 6.0)]
    summary = summarize_latency([one.times for one in metrics])
    assert summary["ttft"].p50_s == 2.0
    assert summary["itl"].count == 9
