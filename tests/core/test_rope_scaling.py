"""Scaling of rotary frequencies: its constants, and files that name them."""

from __future__ import annotations

import dataclasses

import pytest

from cutaway.core import (
    ArgumentError,
    DynamicScaling,
    LinearScaling,
    Llama3Scaling,
    ModelConfig,
    NTKScaling,
    RopeScaling,
    YarnScaling,
)
from oracles.config_files import GGUF, GOOD, HF

LLAMA3 = {
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
    "rope_type": "llama3",
}
GPT_OSS = {
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "factor": 32.0,
    "original_max_position_embeddings": 4096,
    "rope_type": "yarn",
    "truncate": False,
}
DEEPSEEK = {
    "beta_fast": 32,
    "beta_slow": 1,
    "factor": 40,
    "mscale": 1.0,
    "mscale_all_dim": 1.0,
    "original_max_position_embeddings": 4096,
    "type": "yarn",
}
READ = [
    (
        LLAMA3,
        Llama3Scaling(
            factor=8.0,
            low_freq_factor=1.0,
            high_freq_factor=4.0,
            original_max_seq_len=8192,
        ),
    ),
    (
        GPT_OSS,
        YarnScaling(factor=32.0, original_max_seq_len=4096, truncate=False),
    ),
    (
        DEEPSEEK,
        YarnScaling(
            factor=40, original_max_seq_len=4096, mscale=1.0, mscale_all_dim=1.0
        ),
    ),
    ({"type": "linear", "factor": 2.0}, LinearScaling(factor=2.0)),
    (
        {"type": "dynamic", "factor": 2.0},
        DynamicScaling(factor=2.0, original_max_seq_len=40960),
    ),
    (
        {"rope_type": "yarn", "factor": 4.0, "attention_factor": None},
        YarnScaling(factor=4.0, original_max_seq_len=40960),
    ),
    ({"rope_type": "default", "partial_rotary_factor": 1.0}, None),
    ({}, None),
    (None, None),
]


@pytest.mark.parametrize(("entry", "want"), READ)
@pytest.mark.parametrize("place", ["rope_scaling", "rope_parameters"])
def test_from_hf_reads_every_kind_from_both_places(place, entry, want):
    config = ModelConfig.from_hf({**HF, place: entry})
    assert config.rope_scaling == want
    assert dataclasses.replace(config, rope_scaling=None) == (
        ModelConfig.from_hf(HF)
    )


def test_from_hf_leaves_the_mapping_as_it_was():
    entry = {**DEEPSEEK, "attention_factor": None}
    before = dict(entry)
    ModelConfig.from_hf({**HF, "rope_scaling": entry})
    assert entry == before


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ({"rope_type": "longrope", "factor": 2.0}, "rope_type"),
        ({"rope_type": "ntk", "factor": 2.0}, "rope_type"),  # no such file
        ({"rope_type": "linear"}, "rope_scaling.factor"),
        ({"rope_type": "linear", "factor": None}, "rope_scaling.factor"),
        ({"rope_type": "linear", "factor": 0.5}, "factor"),
        ({"rope_type": "linear", "factor": "2"}, "factor"),
        ({"rope_type": "linear", "factor": 2, "foo": 1}, "rope_scaling.foo"),
        ({"rope_type": "default", "factor": 2}, "rope_scaling.factor"),
        (
            {
                "type": "dynamic",
                "factor": 2.0,
                "original_max_position_embeddings": 7,
            },
            "rope_scaling.original_max_seq_len",
        ),
        (
            {k: v for k, v in LLAMA3.items() if k != "low_freq_factor"},
            "rope_scaling.low_freq_factor",
        ),
        ({**LLAMA3, "beta_fast": 32}, "rope_scaling.beta_fast"),
        ({**LLAMA3, "high_freq_factor": 1.0}, "high_freq_factor"),
        (
            {**LLAMA3, "partial_rotary_factor": 0.5},
            "rope_scaling.partial_rotary_factor",
        ),
        ({**GPT_OSS, "truncate": 1}, "truncate"),
        ({**GPT_OSS, "beta_fast": 1.0}, "beta_fast"),
        ({**GPT_OSS, "attention_factor": -1.0}, "attention_factor"),
        ({**GPT_OSS, "yarn_beta_fast": 1.0}, "rope_scaling.yarn_beta_fast"),
        ({**DEEPSEEK, "mscale": -1}, "mscale"),
        (
            {**DEEPSEEK, "original_max_position_embeddings": 0},
            "original_max_seq_len",
        ),
    ],
)
def test_a_bad_key_of_a_config_json_is_named(entry, name):
    with pytest.raises(ArgumentError) as info:
        ModelConfig.from_hf({**HF, "rope_scaling": entry})
    assert info.value.name == name


def gguf(**keys):
    scaled = {f"llama.rope.scaling.{key}": keys[key] for key in keys}
    return ModelConfig.from_gguf({**GGUF, **scaled}, tie_embeddings=True)


def test_from_gguf_reads_linear_and_yarn():
    assert gguf().rope_scaling is None
    assert gguf(type="none").rope_scaling is None
    linear = LinearScaling(factor=4.0)
    assert gguf(type="linear", factor=4.0).rope_scaling == linear
    assert gguf(factor=4.0, finetuned=True).rope_scaling == linear
    yarn = gguf(type="yarn", factor=4.0, original_context_length=2048)
    assert yarn.rope_scaling == YarnScaling(
        factor=4.0, original_max_seq_len=2048
    )
    shorter = gguf(type="yarn", factor=4.0, yarn_beta_fast=16.0)
    assert shorter.rope_scaling == YarnScaling(
        factor=4.0, original_max_seq_len=8192, beta_fast=16.0
    )


def test_from_gguf_reads_the_older_key_of_a_factor():
    # llama.cpp takes it where the newer key is missing; 0 is no scaling
    def older(value, **newer):
        more = {f"llama.rope.scaling.{key}": newer[key] for key in newer}
        metadata = {**GGUF, "llama.rope.scale_linear": value, **more}
        return ModelConfig.from_gguf(metadata, tie_embeddings=True).rope_scaling

    assert older(4.0) == LinearScaling(factor=4.0)
    assert older(4.0, factor=2.0) == LinearScaling(factor=2.0)
    assert older(4.0, type="linear") == LinearScaling(factor=4.0)
    assert older(4.0, type="none") is None
    assert older(0.0) is None
    with pytest.raises(ArgumentError, match="factor"):
        older(0.5)


@pytest.mark.parametrize(
    ("keys", "name"),
    [
        ({"type": "longrope"}, "llama.rope.scaling.type"),
        ({"type": "linear"}, "rope_scaling.factor"),
        ({"type": "yarn"}, "rope_scaling.factor"),
        ({"attn_factor": 1.2}, "rope_scaling.attn_factor"),
        (
            {"type": "yarn", "factor": 4.0, "yarn_log_multiplier": 0.1},
            "rope_scaling.yarn_log_multiplier",
        ),
        ({"type": "linear", "factor": 0.0}, "factor"),
    ],
)
def test_from_gguf_refuses_what_it_cannot_know(keys, name):
    with pytest.raises(ArgumentError) as info:
        gguf(**keys)
    assert info.value.name == name


def test_a_scaling_is_of_a_kind_frozen_and_keyword_only():
    with pytest.raises(ArgumentError, match="a subclass"):
        RopeScaling(factor=2.0)
    with pytest.raises(TypeError):
        LinearScaling(2.0)
    with pytest.raises(dataclasses.FrozenInstanceError):
        NTKScaling(factor=2.0).factor = 3.0


def test_a_config_takes_a_scaling_and_nothing_like_one():
    config = ModelConfig(**GOOD, rope_scaling=NTKScaling(factor=2.0))
    assert config.rope_scaling == NTKScaling(factor=2.0)
    with pytest.raises(ArgumentError, match="expected a RopeScaling"):
        ModelConfig(**GOOD, rope_scaling={"factor": 2.0})
