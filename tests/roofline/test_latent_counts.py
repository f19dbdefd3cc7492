"""Both forms of latent attention, counted: against torch, and rules."""

from __future__ import annotations

import dataclasses
import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cutaway.core import ArgumentError, MLAConfig, ModelConfig
from cutaway.roofline import (
    CONFIGS,
    absorbed_pays,
    absorption_limit,
    forward_counts,
    latent_attention_counts,
    mla_decode_intensity,
)
from oracles.op_counts import visible_pairs
from oracles.peer_flops import config_json

V3 = CONFIGS["deepseek-v3"]
MLA = V3.mla


def counts(config, q_len, context_len, *, absorbed, size=2):
    ops = latent_attention_counts(
        config, q_len, context_len, absorbed=absorbed, bytes_per_element=size
    )
    return {op.name: op for op in ops}


def flops(config, q_len, context_len, *, absorbed):
    ops = counts(config, q_len, context_len, absorbed=absorbed)
    return sum(op.flops for op in ops.values())


def brute(q_len, context_len, *, absorbed, heads=128):
    """FLOPs of the parts in which the forms differ, query by query."""
    up = 2 * heads * 512 * (128 + 128)
    pairs = sum(context_len + i + 1 for i in range(q_len))
    if absorbed:
        return q_len * up + 2 * heads * pairs * (512 + 64 + 512)
    kv_len = context_len + q_len
    return kv_len * up + 2 * heads * pairs * (128 + 64 + 128)


@pytest.mark.parametrize("family", ["deepseek_v2", "deepseek_v3"])
@pytest.mark.parametrize(("q_len", "context_len"), [(1, 6), (4, 5), (5, 0)])
def test_expanded_flops_equal_those_that_torch_counts(
    family, q_len, context_len
):
    # transformers caches the rows and makes all keys again in each call
    from torch.utils.flop_counter import FlopCounterMode
    from transformers import CONFIG_MAPPING, AutoModelForCausalLM, DynamicCache

    values = config_json(family)
    kind = values.pop("model_type")
    if kind == "deepseek_v3":
        values["num_mtp_layers"] = 0
    hf = CONFIG_MAPPING[kind](**values)
    hf._experts_implementation = "eager"
    model = AutoModelForCausalLM.from_config(
        hf, attn_implementation="eager"
    ).eval()
    tokens = torch.arange(context_len + q_len)[None]
    cache = DynamicCache(config=hf)
    with torch.no_grad():
        if context_len:
            model(tokens[:, :context_len], cache=cache, use_cache=True)
        with FlopCounterMode(display=False) as counter:
            model(tokens[:, context_len:], cache=cache, use_cache=True)
    found = {"pairs": 0, "matrices": 0}
    for path, ops in counter.get_flop_counts().items():
        if path.endswith(".self_attn"):
            named = {str(op): n for op, n in ops.items()}
            found["pairs"] += named.pop("aten.bmm")
            found["matrices"] += sum(named.values())
    config = ModelConfig.from_hf(config_json(family))
    ours = counts(config, q_len, context_len, absorbed=False)
    pairs = ours["scores"].flops + ours["values"].flops
    matrices = sum(op.flops for op in ours.values()) - pairs
    assert matrices == found["matrices"]
    seen = visible_pairs(q_len, context_len)
    rectangle = q_len * (context_len + q_len)
    assert pairs * rectangle == found["pairs"] * seen


@pytest.mark.parametrize("absorbed", [True, False])
@pytest.mark.parametrize(("q_len", "context_len"), [(1, 0), (1, 9), (6, 4)])
def test_flops_equal_a_count_of_the_pairs(q_len, context_len, absorbed):
    ours = counts(V3, q_len, context_len, absorbed=absorbed)
    names = ("wk_b", "scores", "values", "wv_b")
    found = sum(ours[name].flops for name in names)
    assert found == 61 * brute(q_len, context_len, absorbed=absorbed)


def test_a_prompt_is_cheaper_expanded_and_a_token_absorbed():
    for n in (2, 100, 4096):
        assert flops(V3, n, 0, absorbed=False) < flops(V3, n, 0, absorbed=True)
    for n in (1, 100, 4096):
        assert flops(V3, 1, n, absorbed=True) < flops(V3, 1, n, absorbed=False)


def test_decode_expanded_costs_120_times_the_flops_a_key():
    more = [
        brute(1, 10**6 + 1, absorbed=form) - brute(1, 10**6, absorbed=form)
        for form in (False, True)
    ]
    assert more[0] / more[1] == pytest.approx((131_072 + 320) / 1088)
    assert round(more[0] / more[1], 1) == 120.8


def test_the_limit_is_where_both_forms_cost_the_same():
    assert absorption_limit(MLA) == 512 * 256 / 768
    for context in (1, 50, 170, 171, 3000, 10**6):
        pays = [n for n in range(2, 400) if absorbed_pays(MLA, n, context)]
        best = [
            n
            for n in range(2, 400)
            if brute(n, context, absorbed=True)
            < brute(n, context, absorbed=False)
        ]
        assert pays == best
    assert max(pays) == 170
    assert not absorbed_pays(MLA, 2, 0)
    assert absorbed_pays(MLA, 1, 0)


def test_a_small_rank_always_pays():
    small = dataclasses.replace(MLA, kv_lora_rank=128)
    assert math.isinf(absorption_limit(small))
    assert absorbed_pays(small, 4096, 0)


@given(st.integers(0, 700), st.integers(0, 5000))
def test_a_forward_pass_is_counted_in_the_cheaper_form(q_len, context_len):
    config = CONFIGS["deepseek-v2-lite"]
    sizes = (
        "weight_bytes_per_param",
        "kv_bytes_per_element",
        "activation_bytes_per_element",
    )
    ops = forward_counts(config, q_len, context_len, **dict.fromkeys(sizes, 2))
    found = {op.name: op for op in ops}
    absorbed = absorbed_pays(config.mla, q_len, context_len)
    wanted = counts(config, q_len, context_len, absorbed=absorbed)
    assert all(found[name] == op for name, op in wanted.items())
    if q_len > 1:
        costs = [
            flops(config, q_len, context_len, absorbed=form)
            for form in (absorbed, not absorbed)
        ]
        assert costs[0] <= costs[1]


def test_both_forms_read_the_cache_once_and_write_the_new_rows():
    for absorbed in (True, False):
        for q_len, context_len in ((1, 0), (1, 4095), (512, 1024)):
            ops = counts(V3, q_len, context_len, absorbed=absorbed)
            moved = sum(op.kv_bytes for op in ops.values())
            assert moved == 70_272 * (context_len + 2 * q_len)


def test_expanded_decode_moves_the_keys_and_values_it_makes():
    # written once by wk_b and wv_b, read once by scores and values
    near, far = (counts(V3, 1, n, absorbed=False) for n in (1000, 1001))
    more = {
        name: (far[name].activation_bytes - near[name].activation_bytes)
        / (2 * 61)
        for name in ("wk_b", "wv_b", "scores", "values")
    }
    assert more["wk_b"] == 128 * 128
    assert more["wv_b"] == 512 + 128 * 128
    assert more["scores"] == 128 * 192 + 128  # and the score of the pair
    assert more["values"] == 128 * 128 + 128


def test_absorbed_decode_has_the_intensity_of_the_closed_form():
    near, far = (counts(V3, 1, n, absorbed=True) for n in (1000, 1001))
    more = {
        field: sum(
            getattr(far[name], field) - getattr(near[name], field)
            for name in far
        )
        for field in ("flops", "kv_bytes")
    }
    found = more["flops"] / more["kv_bytes"]
    assert found == pytest.approx(mla_decode_intensity(128))


def test_per_head_products_read_and_write_every_head():
    ops = counts(V3, 3, 0, absorbed=True, size=1)
    assert ops["wk_b"].activation_bytes == 61 * 3 * 128 * (128 + 512)
    assert ops["wv_b"].activation_bytes == 61 * 3 * 128 * (512 + 128)


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"config": CONFIGS["gpt2"]}, "config.mla"),
        ({"q_len": -1}, "q_len"),
        ({"context_len": 1.5}, "context_len"),
        ({"absorbed": "yes"}, "absorbed"),
        ({"bytes_per_element": 0}, "bytes_per_element"),
    ],
)
def test_what_cannot_be_counted_is_named(change, name):
    arguments = {"config": V3, "q_len": 1, "context_len": 1, "absorbed": True}
    with pytest.raises(ArgumentError) as info:
        latent_attention_counts(**arguments | change)
    assert info.value.name == name


def test_no_tokens_are_no_work():
    for absorbed in (True, False):
        ops = counts(V3, 0, 100, absorbed=absorbed)
        assert sum(op.flops + op.total_bytes for op in ops.values()) == 0
    assert isinstance(MLA, MLAConfig)
