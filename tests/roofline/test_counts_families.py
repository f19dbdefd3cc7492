"""The work of models unlike Llama: against torch's counter, and rules."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.core import CutawayError, ModelConfig, MoEConfig
from cutaway.roofline import (
    CONFIGS,
    active_params,
    attention_flops_per_token,
    equal_context,
    expected_experts,
    forward_counts,
    kv_bytes_per_token,
    matmul_params,
    mla_decode_intensity,
    num_params,
)
from oracles.op_counts import visible_pairs
from oracles.peer_flops import FAMILIES, config_json, peer_flops

LATENT = ("deepseek_v2", "deepseek_v3")
ATTENTION = ("scores", "values")


def by_name(ops):
    return {op.name: op for op in ops}


def total(ops, field):
    return sum(getattr(op, field) for op in ops)


def split_flops(ops):
    """Return the FLOPs of attention, and all others."""
    attention = sum(op.flops for op in ops if op.name in ATTENTION)
    return attention, total(ops, "flops") - attention


@pytest.mark.parametrize("q_len", [1, 5])
@pytest.mark.parametrize("family", FAMILIES)
def test_flops_equal_those_that_torch_counts(family, q_len):
    config = ModelConfig.from_hf(config_json(family))
    rectangle, others = peer_flops(family, q_len)
    ours, our_others = split_flops(forward_counts(config, q_len, 0))
    assert our_others == others
    if family in LATENT and q_len == 1:
        return  # one token is counted in the other form, below
    layers = range(config.num_layers)
    pairs = sum(visible_pairs(q_len, 0, config.layer_window(i)) for i in layers)
    assert ours * q_len**2 * config.num_layers == rectangle * pairs


@pytest.mark.parametrize("name", CONFIGS)
def test_a_token_costs_two_flops_a_weight_and_its_attention(name):
    config = CONFIGS[name]
    for context in (0, 1, 700):
        attention, others = split_flops(forward_counts(config, 1, context))
        assert others == 2 * matmul_params(config)
        assert attention == attention_flops_per_token(config, context + 1)


@pytest.mark.parametrize("name", CONFIGS)
def test_a_token_reads_each_active_weight_once(name):
    # but of tables that are looked up, one row
    config = CONFIGS[name]
    ops = forward_counts(config, 1, 9, weight_bytes_per_param=1)
    tables = 0 if config.tie_embeddings else config.vocab_size
    tables += config.learned_positions or 0
    rows = 1 if config.learned_positions is None else 2
    expected = active_params(config) - (tables - rows) * config.hidden_size
    assert total(ops, "weight_bytes") == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("name", CONFIGS)
def test_many_tokens_read_no_weight_twice(name):
    config = CONFIGS[name]
    ops = forward_counts(config, 4096, 0, weight_bytes_per_param=1)
    lookups = by_name(ops)["embed"].weight_bytes
    read = total(ops, "weight_bytes") - lookups
    assert active_params(config) / 2 < read <= num_params(config)


@pytest.mark.parametrize(
    "name", ["llama-3.1-8b", "deepseek-v2-lite", "deepseek-v3", "gpt2-xl"]
)
def test_cache_traffic_is_one_write_and_one_read(name):
    config = CONFIGS[name]
    per_token = kv_bytes_per_token(config, 2)
    for q_len, context in ((1, 0), (1, 99), (7, 30)):
        ops = forward_counts(config, q_len, context, kv_bytes_per_element=2)
        read = (context + q_len) * per_token
        assert total(ops, "kv_bytes") == q_len * per_token + read


def test_local_layers_stop_at_their_window_and_global_ones_do_not():
    config = CONFIGS["gemma-3-12b"]  # 40 local layers, 8 global
    short, long = (
        by_name(forward_counts(config, 1, n - 1))["scores"]
        for n in (1024, 65_536)
    )
    assert short.flops == 2 * 16 * 256 * 48 * 1024
    assert long.flops == 2 * 16 * 256 * (40 * 1024 + 8 * 65_536)
    assert long.kv_bytes / short.kv_bytes == long.flops / short.flops


def test_latent_attention_trades_flops_for_a_small_cache():
    config = CONFIGS["deepseek-v3"]
    assert attention_flops_per_token(config, 1) == (2 * 61 * 128 * (576 + 512))
    ops = forward_counts(config, 1, 10**6, kv_bytes_per_element=2)
    attention = [op for op in ops if op.name in ATTENTION]
    found = total(attention, "flops") / total(attention, "kv_bytes")
    assert found == pytest.approx(mla_decode_intensity(128), rel=1e-5)
    assert round(found, 1) == 241.8


def test_a_prompt_makes_its_keys_and_a_context_does_not():
    config = CONFIGS["deepseek-v3"]
    whole = by_name(forward_counts(config, 8, 0))
    assert whole["scores"].flops == 2 * 61 * 128 * 192 * 36
    assert whole["values"].flops == 2 * 61 * 128 * 128 * 36
    behind = by_name(forward_counts(config, 8, 1))
    assert behind["scores"].flops == 2 * 61 * 128 * 576 * 44
    assert sorted(whole) == sorted(behind)


def test_context_where_attention_costs_as_much_is_short_with_many_heads():
    assert round(equal_context(CONFIGS["llama-3.1-8b"])) == 28_628
    assert equal_context(CONFIGS["deepseek-v3"]) < 5000


def test_experts_are_read_as_they_are_reached():
    config = CONFIGS["mixtral-8x7b"]
    one, two, many = (
        by_name(forward_counts(config, n, 0, weight_bytes_per_param=1))
        for n in (1, 2, 500)
    )
    expert = 32 * 4096 * 14336
    assert one["expert_w_up"].weight_bytes == 2 * expert
    assert two["expert_w_up"].weight_bytes == 3.5 * expert
    assert many["expert_w_up"].weight_bytes == pytest.approx(8 * expert)
    assert many["expert_w_up"].flops == 500 * 2 * 2 * expert
    assert "w_up" not in one


def test_dense_and_shared_parts_stand_beside_the_experts():
    ops = by_name(forward_counts(CONFIGS["deepseek-v3"], 1, 0))
    assert ops["w_up"].layer_count == 3
    assert ops["router"].layer_count == ops["expert_w_up"].layer_count == 58
    assert ops["shared_w_up"].flops * 8 == ops["expert_w_up"].flops


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 60))
def test_reached_experts_lie_between_the_chosen_and_all(total, chosen, tokens):
    chosen = min(chosen, total)
    moe = MoEConfig(
        num_experts=total, experts_per_token=chosen, expert_ffn_size=1
    )
    reached = expected_experts(moe, tokens)
    assert min(tokens, 1) * chosen <= reached + 1e-9
    assert reached <= min(total, tokens * chosen) + 1e-9
    assert expected_experts(moe, tokens + 1) >= reached - 1e-9


def test_eight_tokens_reach_44_of_256_experts():
    moe = MoEConfig(num_experts=256, experts_per_token=6, expert_ffn_size=1)
    assert round(expected_experts(moe, 8), 1) == 44.2
    assert expected_experts(moe, 1) == 6
    assert expected_experts(moe, 0) == 0


def test_two_tokens_reach_the_mean_over_all_their_choices():
    # every pair of choices of 2 among 5, one by one
    from itertools import combinations

    choices = [set(pair) for pair in combinations(range(5), 2)]
    sizes = [len(a | b) for a in choices for b in choices]
    moe = MoEConfig(num_experts=5, experts_per_token=2, expert_ffn_size=1)
    mean = sum(sizes) / len(sizes)
    assert expected_experts(moe, 2) == pytest.approx(mean)


@pytest.mark.parametrize("bad", [-1, 1.5, None, "8", True])
def test_a_bad_number_of_tokens_is_named(bad):
    moe = CONFIGS["mixtral-8x7b"].moe
    with pytest.raises(CutawayError, match="num_tokens"):
        expected_experts(moe, bad)


def test_extra_norms_and_biases_are_operations_or_bytes():
    names = {
        name: set(by_name(forward_counts(CONFIGS[name], 1, 0)))
        for name in ("gemma-2-2b", "qwen3-4b", "gpt2", "llama-3.1-8b")
    }
    base = names["llama-3.1-8b"]
    assert names["gemma-2-2b"] - base == {
        "attn_post_norm",
        "ffn_post_norm",
        "geglu",
    }
    assert names["qwen3-4b"] - base == {"qk_norm"}
    assert base - names["gpt2"] == {"w_gate", "swiglu", "rope"}
    biased = CONFIGS["qwen2.5-7b"]
    plain = dataclasses.replace(biased, biases=frozenset())
    more, less = (
        by_name(forward_counts(c, 1, 0, weight_bytes_per_param=1))["wq"]
        for c in (biased, plain)
    )
    assert more.weight_bytes - less.weight_bytes == 28 * 3584
