"""FLOPs and bytes of a pass: closed forms, enumeration, torch's counter."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.core import CutawayError, ModelConfig
from cutaway.roofline import (
    CONFIGS,
    attention_flops_per_token,
    causal_pairs,
    equal_context,
    forward_counts,
    kv_bytes_per_token,
    matmul_params,
    num_params,
)
from oracles.op_counts import torch_flops, visible_pairs

SMALL = CONFIGS["smollm2-135m"]
LARGE = CONFIGS["llama-3.1-8b"]
TINY_HF = {
    "num_hidden_layers": 3,
    "hidden_size": 42,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 10,
    "intermediate_size": 53,
    "vocab_size": 97,
    "max_position_embeddings": 64,
    "rms_norm_eps": 1e-5,
}
TINY = ModelConfig.from_hf({**TINY_HF, "model_type": "llama"})


def by_name(ops):
    return {op.name: op for op in ops}


def total(ops, field):
    return sum(getattr(op, field) for op in ops)


@pytest.mark.parametrize(
    ("config", "params", "per_key", "equal"),
    [
        (SMALL, 134_479_872, 69_120, 3_891),
        (LARGE, 7_504_658_432, 524_288, 28_628),
    ],
)
def test_decode_flops_equal_the_closed_form(config, params, per_key, equal):
    for context in (0, 1, 36, 4096):
        ops = forward_counts(config, 1, context)
        keys = context + 1
        assert total(ops, "flops") == 2 * params + per_key * keys
        assert attention_flops_per_token(config, keys) == per_key * keys
    assert round(equal_context(config)) == equal


def test_weights_cost_269_megaflop_a_token():
    ops = by_name(forward_counts(SMALL, 1, 0))
    weights = total(ops.values(), "flops") - (
        ops["scores"].flops + ops["values"].flops
    )
    assert weights == 268_959_744


@pytest.mark.parametrize(
    ("q_len", "context"), [(1, 0), (1, 9), (2, 0), (5, 0), (5, 7), (17, 3)]
)
def test_flops_equal_torchs_counter_but_for_the_causal_half(q_len, context):
    counted = torch_flops(TINY_HF, q_len, context)
    ops = by_name(forward_counts(TINY, q_len, context))
    for name in ("wq", "wk", "wv", "wo", "w_gate", "w_up", "w_down"):
        assert ops[name].flops == counted[name], name
    assert ops["unembed"].flops == counted["unembed"]
    attention = ops["scores"].flops + ops["values"].flops
    rectangle = q_len * (context + q_len)
    pairs = visible_pairs(q_len, context)
    assert attention * rectangle == counted["attention"] * pairs
    assert (
        total(ops.values(), "flops") - attention
        == counted["total"] - counted["attention"]
    )


@given(
    st.integers(0, 12),
    st.integers(0, 12),
    st.one_of(st.none(), st.integers(1, 30)),
)
def test_causal_pairs_equal_enumeration(q_len, context, window):
    assert causal_pairs(q_len, context, window) == visible_pairs(
        q_len, context, window
    )


def test_prefill_in_two_chunks_costs_the_flops_of_one():
    whole = forward_counts(SMALL, 37, 0)
    for split in (1, 18, 36):
        first = forward_counts(SMALL, split, 0)
        second = forward_counts(SMALL, 37 - split, split)
        assert total(first, "flops") + total(second, "flops") == total(
            whole, "flops"
        )


def test_decode_reads_every_weight_once_and_one_embedding_row():
    ops = forward_counts(SMALL, 1, 100, weight_bytes_per_param=4)
    row = SMALL.hidden_size
    assert total(ops, "weight_bytes") == 4 * (num_params(SMALL) + row)
    untied = forward_counts(LARGE, 1, 100, weight_bytes_per_param=2)
    lookup = LARGE.vocab_size * LARGE.hidden_size
    expected = num_params(LARGE) - lookup + LARGE.hidden_size
    assert total(untied, "weight_bytes") == 2 * expected


def test_weight_bytes_do_not_grow_with_the_tokens_but_for_the_lookup():
    one, many = (forward_counts(SMALL, n, 0) for n in (1, 64))
    grown = total(many, "weight_bytes") - total(one, "weight_bytes")
    assert grown == 63 * SMALL.hidden_size * 4


@pytest.mark.parametrize("kv_size", [1, 2, 4])
def test_cache_traffic_is_one_write_and_one_read_of_all_keys(kv_size):
    per_token = kv_bytes_per_token(SMALL, kv_size)
    for q_len, context in ((1, 0), (1, 99), (7, 30)):
        ops = forward_counts(
            SMALL, q_len, context, kv_bytes_per_element=kv_size
        )
        written = q_len * per_token
        read = (context + q_len) * per_token
        assert total(ops, "kv_bytes") == written + read


def test_sharing_heads_saves_bytes_and_no_flops():
    mha = ModelConfig.from_hf(
        {**TINY_HF, "num_key_value_heads": 6, "model_type": "llama"}
    )
    shared, full = (by_name(forward_counts(c, 1, 50)) for c in (TINY, mha))
    for name in ("scores", "values"):
        assert shared[name].flops == full[name].flops
        assert shared[name].kv_bytes * 3 == full[name].kv_bytes


def test_a_window_bounds_the_keys_that_are_read_and_multiplied():
    config = CONFIGS["mistral-7b-v0.1"]
    near = by_name(forward_counts(config, 1, 4095))["scores"]
    far = by_name(forward_counts(config, 1, 100_000))["scores"]
    assert far.flops == near.flops
    assert far.kv_bytes == near.kv_bytes
    chunk = by_name(forward_counts(config, 3, 100_000))["scores"]
    assert chunk.flops == 3 * near.flops
    assert chunk.kv_bytes * 4096 == near.kv_bytes * 4098


def test_only_the_rows_asked_for_reach_the_output_matrix():
    every = by_name(forward_counts(SMALL, 37, 0))["unembed"]
    last = by_name(forward_counts(SMALL, 37, 0, logit_rows=1))["unembed"]
    none = by_name(forward_counts(SMALL, 37, 0, logit_rows=0))["unembed"]
    assert every.flops == 37 * last.flops
    assert every.weight_bytes == last.weight_bytes
    assert (none.flops, none.total_bytes) == (0, 0)


def test_an_empty_pass_does_and_moves_nothing():
    for op in forward_counts(SMALL, 0, 5):
        assert (op.flops, op.total_bytes, op.intensity) == (0, 0, 0)


def test_intensity_of_a_projection_is_that_of_its_matrix_product():
    rows, width_in, width_out = 64, SMALL.hidden_size, SMALL.ffn_size
    op = by_name(forward_counts(SMALL, rows, 0))["w_up"]
    moved = 4 * (rows * width_in + width_in * width_out + rows * width_out)
    assert op.intensity == pytest.approx(
        2 * rows * width_in * width_out / moved, rel=1e-12
    )


def test_operations_that_run_in_layers_say_so():
    ops = by_name(forward_counts(SMALL, 1, 0))
    ends = {"embed", "final_norm", "unembed"}
    assert {n for n, op in ops.items() if op.layer_count == 1} == ends
    assert {op.layer_count for n, op in ops.items() if n not in ends} == {30}
    assert 2 * matmul_params(SMALL) == sum(
        op.flops for n, op in ops.items() if n not in ("scores", "values")
    )


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ((-1, 0), "q_len"),
        ((1.0, 0), "q_len"),
        ((True, 0), "q_len"),
        ((1, -1), "context_len"),
    ],
)
def test_bad_lengths_are_named(arguments, name):
    with pytest.raises(CutawayError, match=name):
        forward_counts(SMALL, *arguments)
    with pytest.raises(CutawayError, match=name):
        causal_pairs(*arguments)


@pytest.mark.parametrize(
    "options",
    [
        {"logit_rows": 3},
        {"logit_rows": -1},
        {"weight_bytes_per_param": 0},
        {"kv_bytes_per_element": float("nan")},
        {"activation_bytes_per_element": -2},
    ],
)
def test_bad_options_are_named(options):
    with pytest.raises(CutawayError, match=next(iter(options))):
        forward_counts(SMALL, 2, 0, **options)
