"""Every setting of a configuration is computed, or refused by name."""

from __future__ import annotations

import dataclasses
from dataclasses import replace

import numpy as np
import pytest

from cutaway.core import (
    ArgumentError,
    AttentionConfig,
    ExpertGroups,
    FFNConfig,
    LinearScaling,
    ModelConfig,
    MoEConfig,
    NormConfig,
)
from cutaway.decoder import Decoder, Params
from cutaway.decoder.shapes import weight_shapes
from cutaway.decoder.support import check_supported
from cutaway.roofline import CONFIGS, num_params

PLAIN = ModelConfig(
    num_layers=3,
    hidden_size=12,
    num_heads=3,
    num_kv_heads=3,
    head_dim=4,
    ffn_size=16,
    vocab_size=30,
    rope_theta=1e4,
    norm_eps=1e-5,
    max_seq_len=64,
)
IDS = [5, 0, 29, 7, 7, 12, 11, 1, 18, 3, 3]
MOE = MoEConfig(num_experts=6, experts_per_token=2, expert_ffn_size=5)
GROUPS = ExpertGroups(num_groups=3, groups_per_token=1)
LOCAL = {"window": 3, "window_pattern": ("local", "global")}


def moe(**changes):
    return {"moe": replace(MOE, **changes)}


# What a model has, and what it has instead in the other one: logits differ.
SWITCHES = {
    "rope_theta": ({}, {"rope_theta": 5e3}),
    "rope_layout": ({}, {"rope_layout": "half_split"}),
    "rope_scaling": ({}, {"rope_scaling": LinearScaling(factor=2.0)}),
    "norm_eps": ({}, {"norm_eps": 1e-1}),
    "tie_embeddings": ({}, {"tie_embeddings": True}),
    "window": ({}, {"window": 3}),
    "window_pattern": ({"window": 3}, LOCAL),
    "local_rope_theta": (LOCAL, {**LOCAL, "local_rope_theta": 1e3}),
    "learned_positions": (
        {},
        {"learned_positions": 64, "rope_theta": None},
    ),
    "embed_scale": ({}, {"embed_scale": 3.0}),
    "logit_softcap": ({}, {"logit_softcap": 2.0}),
    "biases.qkv": ({}, {"biases": frozenset({"qkv"})}),
    "biases.attn_out": ({}, {"biases": frozenset({"attn_out"})}),
    "biases.ffn": ({}, {"biases": frozenset({"ffn"})}),
    "biases.router": (moe(), {**moe(), "biases": frozenset({"router"})}),
    "norm.kind": ({}, {"norm": NormConfig(kind="rms_plus_one")}),
    "norm.kind=layer": ({}, {"norm": NormConfig(kind="layer")}),
    "norm.after": ({}, {"norm": NormConfig(after=True)}),
    "norm.qk": ({}, {"norm": NormConfig(qk=True)}),
    "ffn.gated": ({}, {"ffn": FFNConfig(gated=False)}),
    "ffn.activation": ({}, {"ffn": FFNConfig(activation="relu")}),
    "ffn.activation=gelu_tanh": (
        {},
        {"ffn": FFNConfig(activation="gelu_tanh")},
    ),
    "ffn.clamp": ({}, {"ffn": FFNConfig(clamp=0.5)}),
    "ffn.sigmoid_gain": ({}, {"ffn": FFNConfig(sigmoid_gain=1.702)}),
    "attention.scale": ({}, {"attention": AttentionConfig(scale=0.1)}),
    "attention.softcap": ({}, {"attention": AttentionConfig(softcap=0.5)}),
    "attention.sink_logits": (
        {},
        {"attention": AttentionConfig(sink_logits=True)},
    ),
    "moe": ({}, moe()),
    "moe.experts_per_token": (moe(), moe(experts_per_token=3)),
    "moe.num_shared_experts": (moe(), moe(num_shared_experts=2)),
    "moe.num_dense_layers": (moe(), moe(num_dense_layers=1)),
    "moe.scoring": (moe(), moe(scoring="sigmoid")),
    "moe.renormalize": (moe(), moe(renormalize=False)),
    "moe.weight_scale": (moe(), moe(weight_scale=2.5)),
    "moe.correction_bias": (moe(), moe(correction_bias=True)),
    "moe.groups": (moe(), moe(groups=GROUPS)),
    "moe.groups.score": (
        moe(groups=GROUPS),
        moe(groups=replace(GROUPS, score="top2_sum")),
    ),
}
SIZES = {
    *("num_layers", "hidden_size", "num_heads", "num_kv_heads", "head_dim"),
    *("ffn_size", "vocab_size", "max_seq_len"),
    *("moe.num_experts", "moe.expert_ffn_size"),
    *("moe.groups.num_groups", "moe.groups.groups_per_token"),
}
REFUSED = {
    "config.ffn.clamp": {"ffn": FFNConfig(gated=False, clamp=7.0)},
    "config.ffn.sigmoid_gain": {
        "ffn": FFNConfig(activation="relu", sigmoid_gain=1.702)
    },
    "config.biases": {"biases": frozenset({"router"})},
    "config.local_rope_theta": {
        **LOCAL,
        "local_rope_theta": 1e3,
        "rope_theta": None,
        "learned_positions": 64,
    },
}


def test_every_setting_is_a_size_or_has_a_case_here():
    # A new field of the configuration must be put on one of the lists;
    # latent attention has tests of its own.
    fields = set()
    for part, prefix in (
        (PLAIN, ""),
        (PLAIN.norm, "norm."),
        (PLAIN.ffn, "ffn."),
        (PLAIN.attention, "attention."),
        (MOE, "moe."),
        (GROUPS, "moe.groups."),
    ):
        fields |= {prefix + field.name for field in dataclasses.fields(part)}
    fields -= {"norm", "ffn", "attention", "mla", "biases"}
    cases = {name.partition("=")[0] for name in SWITCHES}
    biases = {name for name in cases if name.startswith("biases.")}
    assert len(biases) == 4
    assert (cases - biases) | SIZES == fields
    assert not cases & SIZES


def with_weights_of(params, config, impl):
    """Random weights for a model, but what another one has too is equal."""
    drawn = Params.random(config, 9, impl=impl, dtype="float64")
    shapes, names = weight_shapes(config), params.names()

    def taken(prefix, fields):
        same = [
            field
            for field in fields
            if prefix + field in names
            and params[prefix + field].shape == shapes[prefix + field]
        ]
        return {field: params[prefix + field] for field in same}

    layers = []
    for index, layer in enumerate(drawn.layers):
        prefix = f"layers[{index}]."
        own = [n.removeprefix(prefix) for n in shapes if n.startswith(prefix)]
        layers.append(replace(layer, **taken(prefix, own)))
    outside = taken("", [name for name in shapes if "." not in name])
    if config.tie_embeddings:
        outside["unembed"] = outside["embed"]
    return replace(drawn, layers=tuple(layers), **outside)


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("name", SWITCHES)
def test_each_setting_changes_the_logits(name, impl):
    logits, params = [], None
    for changes in SWITCHES[name]:
        config = replace(PLAIN, **changes)
        if params is None:
            params = Params.random(config, 0, impl=impl, dtype="float64")
        weights = with_weights_of(params, config, impl)
        decoder = Decoder(config, weights, impl=impl)
        logits.append(decoder.forward(IDS, decoder.new_cache(len(IDS))))
    assert np.isfinite(logits).all()
    assert np.abs(logits[0] - logits[1]).max() > 1e-3


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_what_contradicts_itself_is_refused_by_name(name, impl):
    config = replace(PLAIN, **REFUSED[name])
    params = Params.random(PLAIN, 0, impl=impl)
    for make in (
        lambda: Decoder(config, params, impl=impl),
        lambda: Params.random(config, 0, impl=impl),
    ):
        with pytest.raises(ArgumentError) as info:
            make()
        assert info.value.name == name


def test_biases_of_shared_experts_are_refused():
    shared = replace(MOE, num_shared_experts=1)
    config = replace(PLAIN, moe=shared, biases=frozenset({"ffn"}))
    with pytest.raises(ArgumentError, match="beside shared experts"):
        check_supported(config)


def test_all_that_is_refused_is_named_at_once():
    ffn = FFNConfig(gated=False, clamp=7.0)
    config = replace(PLAIN, ffn=ffn, biases=frozenset({"router", "qkv"}))
    with pytest.raises(ArgumentError) as info:
        check_supported(config)
    shown = str(info.value)
    for part in ("config.biases", "config.ffn.clamp", "{qkv, router}"):
        assert part in shown


@pytest.mark.parametrize("name", CONFIGS)
def test_every_model_of_the_book_has_weights_of_known_shapes(name):
    config = CONFIGS[name]
    check_supported(config)
    shapes = weight_shapes(config).values()
    total = sum(int(np.prod(shape, dtype=np.int64)) for shape in shapes)
    assert total == num_params(config)
