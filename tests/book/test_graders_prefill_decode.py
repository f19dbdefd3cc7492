"""The graders of ``flow/prefill_decode``: other ways to be right or wrong."""

from __future__ import annotations

import math
from statistics import fmean

import numpy as np
import pytest

from cutaway.book.exercises import section_exercises
from cutaway.book.grade import verdict
from cutaway.roofline import (
    CONFIGS,
    RequestTimes,
    attention_flops_per_token,
    hardware,
    latencies,
    matmul_params,
)
from cutaway.roofline import critical_batch as package_batch
from cutaway.roofline import gemm_intensity as package_intensity

SHARE, GEMM, BATCH, TPOT = section_exercises("flow/prefill_decode")


def share_in_steps(params, layers, heads, head_dim, keys):
    scores = values = 2.0 * heads * head_dim * keys * layers
    return (scores + values) / (scores + values + params + params)


def gemm_by_arrays(num_rows, width_in, width_out, bytes_per_element):
    shapes = np.array(
        [(num_rows, width_in), (width_in, width_out), (num_rows, width_out)],
        dtype=float,
    )
    moved = bytes_per_element * shapes.prod(axis=1).sum()
    return 2 * np.prod([num_rows, width_in, width_out], dtype=float) / moved


def batch_by_times(flops, weights, cache, peak, bandwidth):
    per_sequence = flops / peak - cache / bandwidth
    if per_sequence <= 0:
        return float("inf")
    return (weights / bandwidth) / per_sequence


def tpot_by_numpy(sent_s, arrivals_s):
    means = [np.diff(times).mean() for times in arrivals_s if len(times) > 1]
    return float(np.mean(means)) if means else 0.0


def tpot_by_the_package(sent_s, arrivals_s):
    requests = [
        RequestTimes(sent_s=sent, arrivals_s=times)
        for sent, times in zip(sent_s, arrivals_s, strict=True)
    ]
    return fmean(latencies(requests, "tpot") or [0.0])


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        (SHARE, share_in_steps),
        (GEMM, gemm_by_arrays),
        (BATCH, batch_by_times),
        (TPOT, tpot_by_numpy),
        (TPOT, tpot_by_the_package),
    ],
)
def test_answers_written_differently_pass(exercise, answer):
    result = verdict(exercise, answer)
    assert result.status == "correct", result.message


def itl_of_all(sent_s, arrivals_s):
    gaps = [g for times in arrivals_s for g in np.diff(times)]
    return float(np.mean(gaps)) if gaps else 0.0


@pytest.mark.parametrize(
    ("exercise", "answer", "says"),
    [
        (SHARE, lambda p, n, h, d, t: 2 * n * h * d * t / p, "the ratio"),
        (SHARE, lambda p, n, h, d, t: n * h * d * t / (p + n * h * d * t),
         "expected"),
        (GEMM, lambda b, d, f, e: 2 * b * d * f // (b * d + d * f), "expected"),
        (GEMM, lambda b, d, f, e: b, "the rows alone"),
        (BATCH, lambda f, w, kv, peak, rate: peak / rate, "ridge point alone"),
        (BATCH, lambda f, w, kv, peak, rate: None, "is a return missing"),
        (TPOT, itl_of_all, "pooled"),
        (TPOT, lambda s, a: [1.0], "expected a float"),
        (TPOT, lambda s, a: fmean((t[-1] - t[0]) / (len(t) - 1) for t in a),
         "ZeroDivisionError"),
    ],
)  # fmt: skip
def test_wrong_answers_are_rejected_with_a_reason(exercise, answer, says):
    result = verdict(exercise, answer)
    assert result.status == "wrong"
    message = " ".join(result.message.split())
    assert says in message
    assert "in flow/prefill_decode" in message


def test_the_references_equal_the_package():
    config, gpu = CONFIGS["llama-3.1-8b"], hardware("h100-sxm")
    for keys in (1, 1000, 28_628):
        attention = attention_flops_per_token(config, keys)
        weights = 2 * matmul_params(config)
        assert SHARE.reference(weights // 2, 32, 32, 128, keys) == (
            attention / (weights + attention)
        )
    assert GEMM.reference(3, 50, 7, 2) == package_intensity(3, 50, 7)
    context = 128
    flops = 2 * matmul_params(config)
    flops += attention_flops_per_token(config, context + 1)
    exact = BATCH.reference(
        flops,
        2 * matmul_params(config),
        131_072 * (context + 2) + 8192,
        gpu.peak("bfloat16"),
        gpu.bandwidth_bytes_per_s,
    )
    assert math.ceil(exact) == pytest.approx(
        package_batch(config, gpu, context), abs=1
    )
