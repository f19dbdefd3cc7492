"""The parts of a configuration: each bad value named, each pair fitted."""

from __future__ import annotations

import dataclasses

import pytest

from cutaway.core import (
    ArgumentError,
    AttentionConfig,
    ExpertGroups,
    FFNConfig,
    MLAConfig,
    ModelConfig,
    MoEConfig,
    NormConfig,
)
from cutaway.core.window_pattern import shortest_pattern
from oracles.config_files import GOOD

SIZES = {**GOOD, "num_layers": 6}
MOE = {"num_experts": 8, "experts_per_token": 3, "expert_ffn_size": 5}
MLA = {
    "kv_lora_rank": 10,
    "q_lora_rank": 7,
    "qk_nope_head_dim": 3,
    "qk_rope_head_dim": 2,
    "v_head_dim": 4,
}


@pytest.mark.parametrize(
    ("kind", "fields", "name"),
    [
        (NormConfig, {"kind": "batch"}, "norm.kind"),
        (NormConfig, {"after": 1}, "norm.after"),
        (NormConfig, {"qk": None}, "norm.qk"),
        (FFNConfig, {"gated": "yes"}, "ffn.gated"),
        (FFNConfig, {"activation": "swish"}, "ffn.activation"),
        (FFNConfig, {"clamp": 0.0}, "ffn.clamp"),
        (FFNConfig, {"sigmoid_gain": float("inf")}, "ffn.sigmoid_gain"),
        (AttentionConfig, {"scale": -1.0}, "attention.scale"),
        (AttentionConfig, {"softcap": "50"}, "attention.softcap"),
        (AttentionConfig, {"sink_logits": 2}, "attention.sink_logits"),
        (MoEConfig, {**MOE, "num_experts": 0}, "moe.num_experts"),
        (MoEConfig, {**MOE, "experts_per_token": 9}, "moe.experts_per_token"),
        (MoEConfig, {**MOE, "expert_ffn_size": 1.5}, "moe.expert_ffn_size"),
        (MoEConfig, {**MOE, "num_shared_experts": -1}, "num_shared_experts"),
        (MoEConfig, {**MOE, "scoring": "relu"}, "moe.scoring"),
        (MoEConfig, {**MOE, "renormalize": 1}, "moe.renormalize"),
        (MoEConfig, {**MOE, "weight_scale": 0}, "moe.weight_scale"),
        (MoEConfig, {**MOE, "correction_bias": "no"}, "moe.correction_bias"),
        (MoEConfig, {**MOE, "groups": (2, 1)}, "moe.groups"),
        (MLAConfig, {**MLA, "kv_lora_rank": 0}, "mla.kv_lora_rank"),
        (MLAConfig, {**MLA, "q_lora_rank": 0}, "mla.q_lora_rank"),
        (MLAConfig, {**MLA, "qk_rope_head_dim": 3}, "mla.qk_rope_head_dim"),
        (MLAConfig, {**MLA, "v_head_dim": None}, "mla.v_head_dim"),
    ],
)
def test_a_bad_value_of_a_part_is_named(kind, fields, name):
    with pytest.raises(ArgumentError, match=r"got .*, expected ") as info:
        kind(**fields)
    assert info.value.name.endswith(name)


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"num_groups": 0, "groups_per_token": 1}, "groups.num_groups"),
        ({"num_groups": 4, "groups_per_token": 5}, "groups.groups_per_token"),
        (
            {"num_groups": 4, "groups_per_token": 1, "score": "mean"},
            "groups.score",
        ),
    ],
)
def test_bad_groups_are_named(fields, name):
    with pytest.raises(ArgumentError) as info:
        ExpertGroups(**fields)
    assert info.value.name == name


def test_groups_must_divide_the_experts_and_hold_enough():
    uneven = ExpertGroups(num_groups=3, groups_per_token=2)
    with pytest.raises(ArgumentError, match=r"divisor of num_experts = 8"):
        MoEConfig(**MOE, groups=uneven)
    few = ExpertGroups(num_groups=4, groups_per_token=1)
    with pytest.raises(ArgumentError, match=r"got 1, .* >= 3 experts"):
        MoEConfig(**MOE, groups=few)


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({"norm": "rms"}, "norm"),
        ({"ffn": None}, "ffn"),
        ({"attention": True}, "attention"),
        ({"moe": {"num_experts": 8}}, "moe"),
        ({"mla": 512}, "mla"),
        ({"rope_scaling": 8.0}, "rope_scaling"),
        ({"tie_embeddings": "yes"}, "tie_embeddings"),
        ({"biases": {"qkv"}}, "biases"),
        ({"biases": frozenset({"embedding"})}, "biases"),
        ({"rope_theta": None}, "rope_theta"),
        ({"learned_positions": 64}, "rope_theta"),
        ({"rope_theta": None, "learned_positions": 63}, "learned_positions"),
        ({"embed_scale": 0}, "embed_scale"),
        ({"logit_softcap": -1.0}, "logit_softcap"),
        ({"local_rope_theta": 1e4}, "local_rope_theta"),
        ({"window_pattern": ("local",)}, "window_pattern"),
        ({"window": 4, "window_pattern": ()}, "window_pattern"),
        ({"window": 4, "window_pattern": "local"}, "window_pattern"),
        ({"window": 4, "window_pattern": ("near",)}, "window_pattern"),
        (
            {"moe": MoEConfig(**MOE, num_dense_layers=6)},
            "moe.num_dense_layers",
        ),
        ({"mla": MLAConfig(**MLA)}, "head_dim"),
        ({"mla": MLAConfig(**MLA), "head_dim": 5}, "head_dim"),
        (
            {
                "mla": MLAConfig(**{**MLA, "qk_nope_head_dim": 4}),
                "head_dim": 6,
            },
            "num_kv_heads",
        ),
    ],
)
def test_parts_that_do_not_fit_the_model_are_named(fields, name):
    with pytest.raises(ArgumentError) as info:
        ModelConfig(**{**SIZES, **fields})
    assert info.value.name == name


def test_a_model_without_rope_may_have_odd_heads():
    odd = {**SIZES, "head_dim": 5, "rope_theta": None}
    config = ModelConfig(**odd, learned_positions=66)
    assert config.learned_positions - config.max_seq_len == 2


def test_parts_are_frozen_and_keyword_only():
    moe = MoEConfig(**MOE)
    with pytest.raises(dataclasses.FrozenInstanceError):
        moe.num_experts = 4
    with pytest.raises(TypeError):
        MoEConfig(*MOE.values())
    with pytest.raises(TypeError):
        MLAConfig(*MLA.values())


def test_a_pattern_is_repeated_over_the_layers():
    pattern = ("local", "local", "global")
    config = ModelConfig(
        **{**SIZES, "num_layers": 8}, window=5, window_pattern=pattern
    )
    windows = [config.layer_window(i) for i in range(8)]
    assert windows == [5, 5, None, 5, 5, None, 5, 5]
    assert config.num_local_layers == 6


def test_without_a_pattern_every_layer_has_the_window_or_none_has():
    every = ModelConfig(**SIZES, window=5)
    assert {every.layer_window(i) for i in range(6)} == {5}
    none = ModelConfig(**SIZES)
    assert {none.layer_window(i) for i in range(6)} == {None}
    assert (every.num_local_layers, none.num_local_layers) == (6, 0)


@pytest.mark.parametrize("layer", [-1, 6, 1.0, True, None])
def test_a_layer_that_is_not_there_is_refused(layer):
    with pytest.raises(ArgumentError, match="layer: got"):
        ModelConfig(**SIZES).layer_window(layer)


def test_dense_layers_come_before_those_with_experts():
    assert ModelConfig(**SIZES).num_moe_layers == 0
    moe = MoEConfig(**MOE, num_dense_layers=2)
    assert ModelConfig(**SIZES, moe=moe).num_moe_layers == 4


@pytest.mark.parametrize("period", [1, 2, 3, 6])
@pytest.mark.parametrize("length", [1, 2, 5, 6, 26])
def test_the_shortest_pattern_repeats_to_the_whole_list(period, length):
    kinds = ["local" if (i + 1) % period else "global" for i in range(length)]
    pattern = shortest_pattern(kinds)
    assert [pattern[i % len(pattern)] for i in range(length)] == kinds
    assert len(pattern) <= period
