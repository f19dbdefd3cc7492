"""Batches: weights once, arithmetic and caches for every sequence."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.core import CutawayError
from cutaway.roofline import (
    CONFIGS,
    attainable_flops,
    batch_counts,
    forward_counts,
    hardware,
    kv_bytes_per_token,
    operating_point,
    predict_time,
)

SMALL = CONFIGS["smollm2-135m"]
LARGE = CONFIGS["llama-3.1-8b"]
WINDOWED = CONFIGS["mistral-7b-v0.1"]
H100 = hardware("h100-sxm")


def total(ops, field):
    return sum(getattr(op, field) for op in ops)


@pytest.mark.parametrize("config", [SMALL, LARGE, WINDOWED])
@pytest.mark.parametrize("pair", [(1, 0), (1, 99), (7, 30), (37, 0)])
def test_a_batch_of_one_is_one_pass(config, pair):
    assert batch_counts(config, [pair]) == forward_counts(
        config, *pair, logit_rows=1
    )
    assert batch_counts(config, [pair], last_only=False) == forward_counts(
        config, *pair
    )


def test_weights_are_read_once_for_all_but_the_looked_up_rows():
    one = batch_counts(SMALL, [(1, 10)])
    many = batch_counts(SMALL, [(1, 10)] * 33)
    grown = total(many, "weight_bytes") - total(one, "weight_bytes")
    assert grown == 32 * 4 * SMALL.hidden_size
    assert total(many, "flops") == 33 * total(one, "flops")
    assert total(many, "kv_bytes") == 33 * total(one, "kv_bytes")


def test_sequences_of_different_lengths_add_up_each_with_its_own_cache():
    pairs = [(1, 5), (1, 900), (12, 0), (3, 77), (1, 5)]
    together = batch_counts(SMALL, pairs)
    alone = [batch_counts(SMALL, [pair]) for pair in pairs]
    for field in ("flops", "kv_bytes", "activation_bytes"):
        assert total(together, field) == sum(total(ops, field) for ops in alone)
    per_token = kv_bytes_per_token(SMALL, 4)
    moved = sum(q_len + q_len + context for q_len, context in pairs)
    assert total(together, "kv_bytes") == moved * per_token
    assert together == batch_counts(SMALL, reversed(pairs))


def test_a_batch_does_not_look_across_its_sequences():
    """64 decode steps are no prefill of 64 tokens."""
    scores = {
        kind: next(op for op in ops if op.name == "scores").flops
        for kind, ops in (
            ("decode", batch_counts(SMALL, [(1, 0)] * 64)),
            ("prefill", batch_counts(SMALL, [(64, 0)])),
        )
    }
    assert scores["decode"] * 65 == scores["prefill"] * 2


def test_sequences_without_new_tokens_cost_nothing():
    assert batch_counts(SMALL, [(0, 50), (1, 9)]) == batch_counts(
        SMALL, [(1, 9)]
    )
    for ops in (batch_counts(SMALL, []), batch_counts(SMALL, [(0, 3)])):
        for op in ops:
            assert (op.flops, op.total_bytes) == (0, 0)


def test_chunked_prefill_beside_decode_shares_the_weights():
    mixed = batch_counts(LARGE, [(512, 0), *[(1, 2000)] * 32])
    apart = [
        batch_counts(LARGE, pairs) for pairs in ([(512, 0)], [(1, 2000)] * 32)
    ]
    saved = sum(total(ops, "weight_bytes") for ops in apart)
    saved -= total(mixed, "weight_bytes")
    assert saved == pytest.approx(4 * 7_504_658_432, rel=1e-4)


@settings(max_examples=50)
@given(
    st.lists(st.tuples(st.integers(0, 40), st.integers(0, 3000)), max_size=8),
    st.sampled_from(["llama-3.1-8b", "smollm2-135m", "llama-2-13b"]),
    st.sampled_from(["a100-sxm-80gb", "h100-sxm", "mi300x"]),
)
def test_a_point_lies_under_the_roof(pairs, model, machine):
    gpu = hardware(machine)
    point = operating_point(CONFIGS[model], gpu, pairs)
    roof = attainable_flops(point.intensity, gpu, "bfloat16")
    assert point.flops_per_s <= roof * (1 + 1e-12)
    assert point.num_tokens == sum(q_len for q_len, _ in pairs)
    assert point.tokens_per_s * point.time_s == pytest.approx(point.num_tokens)


def test_a_point_is_the_prediction_of_its_batch():
    pairs = [(1, 100), (1, 200), (5, 3)]
    ops = batch_counts(
        LARGE, pairs, weight_bytes_per_param=0.5, kv_bytes_per_element=1
    )
    least = predict_time(ops, H100, "bfloat16", activations=False)
    point = operating_point(
        LARGE,
        H100,
        iter(pairs),
        weight_bytes_per_param=0.5,
        kv_bytes_per_element=1,
    )
    assert point.time_s == least.total_s
    assert point.bound == least.bound
    assert point.flops == total(ops, "flops")
    assert point.moved_bytes == (
        total(ops, "weight_bytes") + total(ops, "kv_bytes")
    )


def test_batching_helps_the_weights_and_not_attention():
    points = [
        operating_point(LARGE, H100, [(1, 8192)] * n) for n in (1, 32, 1024)
    ]
    intensities = [point.intensity for point in points]
    assert intensities == sorted(intensities)
    # 2 P FLOPs a token for 2 bytes of cache a token and layer ...
    assert intensities[-1] < 20 < H100.ridge("bfloat16")
    attention = [
        op
        for op in batch_counts(LARGE, [(1, 8192)] * 32)
        if op.name in ("scores", "values")
    ]
    ratio = total(attention, "flops") / total(attention, "kv_bytes")
    assert ratio == pytest.approx(LARGE.group_size / 2, rel=1e-9)


@pytest.mark.parametrize("model", ["mixtral-8x7b", "deepseek-v2-lite"])
def test_a_batch_meets_more_experts_than_one_sequence(model):
    config = CONFIGS[model]
    one, many = (batch_counts(config, [(1, 9)] * n) for n in (1, 16))
    assert total(many, "flops") == 16 * total(one, "flops")
    assert total(many, "kv_bytes") == 16 * total(one, "kv_bytes")
    all_tokens = forward_counts(config, 16, 0)
    assert total(many, "weight_bytes") == total(all_tokens, "weight_bytes")
    grown = total(many, "weight_bytes") / total(one, "weight_bytes")
    assert 2 < grown < 16


def test_an_empty_pass_stands_at_the_origin():
    point = operating_point(SMALL, H100, [])
    assert (point.intensity, point.flops_per_s, point.tokens_per_s) == (0, 0, 0)


@pytest.mark.parametrize(
    ("pairs", "options", "name"),
    [
        ([(-1, 0)], {}, "q_len"),
        ([(1, -1)], {}, "context_len"),
        ([(0, -1)], {}, "context_len"),
        ([(1, 1), (1.5, 0)], {}, "q_len"),
        ([(True, 0)], {}, "q_len"),
        ([(1, 0)], {"weight_bytes_per_param": 0}, "weight_bytes_per_param"),
        ([(1, 0)], {"kv_bytes_per_element": -1}, "kv_bytes_per_element"),
    ],
)
def test_bad_arguments_are_named(pairs, options, name):
    with pytest.raises(CutawayError, match=name):
        batch_counts(SMALL, pairs, **options)
    with pytest.raises(CutawayError, match=name):
        operating_point(SMALL, H100, pairs, **options)


def test_a_machine_without_the_dtype_is_refused():
    with pytest.raises(CutawayError, match="dtype"):
        operating_point(SMALL, H100, [(1, 0)], dtype="float64")
