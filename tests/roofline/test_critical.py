"""The batch at which decode stops waiting for memory, by trying them all."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.core import CutawayError
from cutaway.roofline import (
    CONFIGS,
    HARDWARE,
    Hardware,
    batch_counts,
    compute_bound_context,
    critical_batch,
    hardware,
    max_batch_size,
    predict_time,
)

LARGE = CONFIGS["llama-3.1-8b"]
H100 = hardware("h100-sxm")


def is_compute_bound(config, machine, batch, context, weight=2, kv=2):
    """Whether all arithmetic takes longer than all traffic."""
    ops = batch_counts(
        config,
        [(1, context)] * batch,
        weight_bytes_per_param=weight,
        kv_bytes_per_element=kv,
    )
    least = predict_time(ops, machine, "bfloat16", activations=False)
    return least.compute_s > least.memory_s


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(
        ["smollm2-135m", "llama-2-7b", "mixtral-8x7b", "deepseek-v2-lite"]
    ),
    st.integers(1, 30),
    st.integers(0, 40),
    st.sampled_from([0.5, 1, 2]),
)
def test_the_critical_batch_is_the_first_of_all(model, ridge, context, weight):
    config = CONFIGS[model]
    machine = Hardware(
        name="slow",
        peak_flops={"bfloat16": 1000.0 * ridge},
        bandwidth_bytes_per_s=1000.0,
        memory_bytes=1,
        source="test",
    )
    tried = [
        batch
        for batch in range(1, 80)
        if is_compute_bound(config, machine, batch, context, weight)
    ]
    found = critical_batch(
        config, machine, context, weight_bytes_per_param=weight
    )
    if tried:
        assert found == tried[0]
        assert tried == list(range(tried[0], 80))
    else:
        assert found is None or found >= 80


@pytest.mark.parametrize("name", sorted(HARDWARE))
def test_without_a_cache_it_is_the_ridge_point_nearly(name):
    machine = HARDWARE[name]
    for model in ("llama-3.1-8b", "llama-2-13b", "llama-3.1-405b"):
        batch = critical_batch(CONFIGS[model], machine, 0)
        assert batch == pytest.approx(machine.ridge("bfloat16"), rel=0.03)


def test_a_longer_context_needs_more_sequences_and_then_no_number_does():
    batches = [critical_batch(LARGE, H100, n) for n in (0, 128, 256, 384)]
    assert batches == sorted(batches)
    last = compute_bound_context(LARGE, H100)
    assert critical_batch(LARGE, H100, last) is not None
    assert critical_batch(LARGE, H100, last + 1) is None
    assert not is_compute_bound(LARGE, H100, 10**6, last + 1)


def test_the_last_context_in_closed_form():
    """2 M + a (n + 1) = ridge (k (n + 2) + row), with the key written too."""
    ridge = H100.ridge("bfloat16")
    m, a, k, row = 7_504_658_432, 524_288, 131_072, 8192
    n = (2 * m + a - ridge * (2 * k + row)) / (ridge * k - a)
    assert compute_bound_context(LARGE, H100) == int(n)


def test_without_shared_heads_the_last_context_comes_sooner():
    mha = CONFIGS["llama-2-7b"]
    shared = replace(mha, num_kv_heads=8)
    assert compute_bound_context(mha, H100) < compute_bound_context(
        shared, H100
    )


def test_smaller_weights_lower_it_and_a_smaller_cache_lengthens_the_context():
    full = critical_batch(LARGE, H100, 128)
    small = critical_batch(LARGE, H100, 128, weight_bytes_per_param=0.5)
    assert small == pytest.approx(full / 4, rel=0.03)
    assert compute_bound_context(
        LARGE, H100, kv_bytes_per_element=1
    ) > 1.9 * compute_bound_context(LARGE, H100)


def test_the_batch_may_need_more_memory_than_there_is():
    near_the_end = compute_bound_context(LARGE, H100)
    batch = critical_batch(LARGE, H100, near_the_end)
    assert batch > max_batch_size(LARGE, H100, near_the_end + 1)


def test_a_window_keeps_long_contexts_compute_bound_or_not_alike():
    windowed = replace(LARGE, window=128)
    assert compute_bound_context(windowed, H100) == windowed.max_seq_len
    far, near = (critical_batch(windowed, H100, n) for n in (100_000, 128))
    assert far == near


def test_a_machine_that_computes_too_fast_is_never_kept_busy():
    machine = Hardware(
        name="fast",
        peak_flops={"bfloat16": 1e18},
        bandwidth_bytes_per_s=1.0,
        memory_bytes=1,
        source="test",
    )
    assert critical_batch(LARGE, machine, 0) is None
    assert compute_bound_context(LARGE, machine) is None


@pytest.mark.parametrize(
    ("arguments", "options", "name"),
    [
        ((-1,), {}, "context_len"),
        ((1.5,), {}, "context_len"),
        ((1,), {"dtype": "int3"}, "dtype"),
        ((1,), {"weight_bytes_per_param": 0}, "weight_bytes_per_param"),
        ((1,), {"kv_bytes_per_element": -1}, "kv_bytes_per_element"),
    ],
)
def test_bad_arguments_are_named(arguments, options, name):
    with pytest.raises(CutawayError, match=name):
        critical_batch(LARGE, H100, *arguments, **options)
    if options:
        with pytest.raises(CutawayError, match=name):
            compute_bound_context(LARGE, H100, **options)
