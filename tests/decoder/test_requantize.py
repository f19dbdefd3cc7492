"""Weights that passed through a number format, and the plan of types."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cutaway.core import ArgumentError, ModelConfig, MoEConfig
from cutaway.decoder import (
    Decoder,
    Params,
    perplexity,
    planned_bytes,
    quantization_plan,
    requantize,
)
from cutaway.layers import to_numpy
from cutaway.roofline import CONFIGS
from cutaway.weights import BLOCK_TYPES, GGUFFile, dequantize, quantize

SMALL = ModelConfig(
    num_layers=2,
    hidden_size=64,
    num_heads=4,
    num_kv_heads=2,
    head_dim=16,
    ffn_size=256,
    vocab_size=40,
    rope_theta=1e4,
    norm_eps=1e-5,
    max_seq_len=64,
    tie_embeddings=True,
)
UNTIED = ModelConfig(
    **{
        **{f: getattr(SMALL, f) for f in SMALL.__dataclass_fields__},
        "tie_embeddings": False,
    }
)


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_planned_weight_is_what_the_format_makes_of_it(impl, dtype):
    params = Params.random(SMALL, 0, impl=impl, dtype=dtype)
    plan = quantization_plan(SMALL, "Q4_K")
    assert plan["layers[1].w_down"] == "Q4_K"
    assert plan["layers[1].wq"] == "Q5_0"
    rough = requantize(params, plan)
    for name, type_name in plan.items():
        before = to_numpy(params[name], impl=impl)
        want = before
        if type_name != "F32":
            raw = quantize(before, type_name)
            want = dequantize(raw, type_name, before.shape, dtype)
            assert not np.array_equal(before, want)
        got = to_numpy(rough[name], impl=impl)
        np.testing.assert_array_equal(got, want, strict=True)
    assert rough.unembed is rough.embed
    Decoder(SMALL, rough, impl=impl)


def test_weights_that_the_plan_leaves_out_are_shared_and_none_is_changed():
    params = Params.random(UNTIED, 0, impl="numpy")
    before = {n: params[n].copy() for n in quantization_plan(UNTIED, "Q8_0")}
    rough = requantize(params, {"layers[1].w_up": "Q4_0", "unembed": "Q8_0"})
    changed = {name for name in before if rough[name] is not params[name]}
    assert changed == {"layers[1].w_up", "unembed"}
    for name, array in before.items():
        np.testing.assert_array_equal(params[name], array)


@pytest.mark.parametrize(
    "name", ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q4_K", "F16"]
)
def test_the_output_matrix_gets_more_bits_and_norms_stay_whole(name):
    plan = quantization_plan(CONFIGS["llama-3.1-8b"], name)
    output = "F16" if name == "F16" else "Q6_K"
    assert plan["unembed"] == output
    assert plan["embed"] == name  # not tied: a lookup
    assert {plan["layers[3].attn_norm"], plan["final_norm"]} == {"F32"}
    tied = quantization_plan(CONFIGS["smollm2-135m"], name)
    assert tied["embed"] == ("F16" if name == "F16" else "Q8_0")
    assert "unembed" not in tied


def test_q8_0_is_kept_for_the_output_matrix():
    assert (
        quantization_plan(CONFIGS["llama-3.1-8b"], "Q8_0")["unembed"] == "Q8_0"
    )


def test_the_plan_of_q4_1_gives_the_bits_of_the_real_file():
    config = CONFIGS["smollm2-135m"]
    nbytes = planned_bytes(config, quantization_plan(config, "Q4_1"))
    assert nbytes == 96_576_768
    assert round(8 * nbytes / 134_515_008, 4) == 5.7437


@pytest.mark.model
def test_the_plan_is_what_the_real_file_does(model_path):
    from cutaway.weights import decoder_names

    names = decoder_names(30)
    with GGUFFile(model_path) as file:
        stored = {names[i.name]: i.dtype for i in file.tensors.values()}
    assert stored == dict(quantization_plan(CONFIGS["smollm2-135m"], "Q4_1"))


def test_planned_bytes_of_floats_are_four_a_weight():
    plan = quantization_plan(SMALL, "F32")
    elements = sum(
        Params.random(SMALL, 0, impl="numpy")[name].size for name in plan
    )
    assert planned_bytes(SMALL, plan) == 4 * elements


def test_fewer_bits_move_the_logits_further():
    params = Params.random(SMALL, 0, impl="numpy")
    ids = [3, 1, 4, 15, 9, 2, 6]
    errors = []
    for name in ("Q8_0", "Q5_1", "Q4_0"):
        plan = {
            weight: name
            for weight, kind in quantization_plan(SMALL, name).items()
            if kind != "F32"
        }
        both = [
            Decoder(SMALL, weights, impl="numpy")
            for weights in (params, requantize(params, plan))
        ]
        logits = [d.forward(ids, d.new_cache(len(ids))) for d in both]
        errors.append(np.abs(logits[0] - logits[1]).max())
    assert errors[0] < 0.5 * errors[1] < 0.5 * errors[2]


@pytest.mark.parametrize(
    ("call", "at_fault"),
    [
        (lambda p: quantization_plan(SMALL, "Q4"), "type_name"),
        (lambda p: quantization_plan(SMALL, "Q2_K"), "type_name"),
        (lambda p: requantize(p, {"wq": "Q4_0"}), "name"),
        (lambda p: requantize(p, {"layers[2].wq": "Q4_0"}), "name"),
        (lambda p: requantize(p, {"layers[0].embed": "Q4_0"}), "name"),
        (lambda p: requantize(p, {"layers": "Q4_0"}), "name"),
        (lambda p: requantize(p, {"unembed": "Q8_0"}), "plan['unembed']"),
        (lambda p: requantize(p, {"embed": "Q4"}), "plan['embed']"),
        (lambda p: requantize(p, {"embed": "Q4_K"}), "plan['embed']"),
        (lambda p: planned_bytes(SMALL, {"embed": "F32"}), "plan"),
        (
            lambda p: planned_bytes(
                SMALL, {**quantization_plan(SMALL, "F32"), "embed": "F31"}
            ),
            "embed",
        ),
    ],
)
def test_a_bad_plan_is_refused_by_name(call, at_fault):
    params = Params.random(SMALL, 0, impl="numpy")
    with pytest.raises(ArgumentError) as caught:
        call(params)
    assert caught.value.name == at_fault


def test_a_row_that_no_block_divides_is_refused():
    fields = {f: getattr(SMALL, f) for f in SMALL.__dataclass_fields__}
    odd = ModelConfig(**{**fields, "ffn_size": 40})
    with pytest.raises(ArgumentError, match="row_size"):
        quantization_plan(odd, "Q4_0")


@pytest.mark.model
def test_passing_the_real_weights_through_their_own_type_changes_nothing(
    real_decoder,
):
    config, params = real_decoder.config, real_decoder.params
    plan = {f"layers[7].{name}": "Q4_1" for name in ("wq", "w_up", "w_down")}
    again = requantize(params, plan)
    for name in plan:
        impl = real_decoder.impl
        a, b = (to_numpy(p[name], impl=impl) for p in (params, again))
        np.testing.assert_allclose(a, b, rtol=1e-3, atol=1e-4)
    text = [504, 3575, 282, 4649, 314, 7042, 30]
    both = [
        perplexity(Decoder(config, p, impl=real_decoder.impl), text)
        for p in (params, again)
    ]
    assert both[0] == pytest.approx(both[1], rel=1e-3)


def test_bits_of_a_mix_are_the_weighted_mean():
    config = CONFIGS["smollm2-135m"]
    plan = quantization_plan(config, "Q4_K")
    bits = 8 * planned_bytes(config, plan) / 134_515_008
    low, high = (BLOCK_TYPES[n].bits_per_weight for n in ("Q4_K", "Q8_0"))
    assert low < bits < high


@pytest.mark.parametrize("tied", [True, False])
@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_experts_pass_and_what_is_small_does_not(impl, tied):
    config = replace(
        SMALL,
        tie_embeddings=tied,
        moe=MoEConfig(num_experts=3, experts_per_token=2, expert_ffn_size=32),
        biases=frozenset({"qkv", "ffn", "router"}),
    )
    params = Params.random(config, 0, impl=impl)
    plan = quantization_plan(config, "Q8_0")
    whole = {name.rpartition(".")[2] for name in plan if plan[name] == "F32"}
    assert whole == {
        *("attn_norm", "ffn_norm", "final_norm", "router", "router_bias"),
        *("bq", "bk", "bv", "b_gate", "b_up", "b_down"),
    }
    assert plan["layers[1].w_down"] == "Q8_0"
    rough = requantize(params, plan)
    assert set(rough.names()) == set(params.names())
    for name in params.names():
        same = np.array_equal(np.asarray(rough[name]), np.asarray(params[name]))
        assert same == (plan[name] == "F32"), name
    Decoder(config, rough, impl=impl)
