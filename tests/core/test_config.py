"""ModelConfig: from both file forms, and every bad field is named."""

from __future__ import annotations

import dataclasses

import pytest

from cutaway.core import ArgumentError, ModelConfig, MoEConfig
from cutaway.roofline import CONFIGS, num_params
from oracles.config_files import GGUF, GOOD, HF

COUNTS = [name for name in GOOD if name not in ("rope_theta", "norm_eps")]


def test_group_size_is_query_heads_per_key_value_head():
    assert ModelConfig(**GOOD).group_size == 3


def test_a_config_is_frozen_and_keyword_only():
    config = ModelConfig(**GOOD)
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.num_layers = 3
    with pytest.raises(TypeError):
        ModelConfig(*GOOD.values())


@pytest.mark.parametrize("name", COUNTS)
@pytest.mark.parametrize("value", [0, -1, 2.0, "2", None, True])
def test_each_size_must_be_a_positive_integer(name, value):
    with pytest.raises(ArgumentError, match="expected an integer >= 1") as info:
        ModelConfig(**{**GOOD, name: value})
    assert info.value.name == name


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("rope_theta", 0.0),
        ("rope_theta", float("inf")),
        ("rope_theta", "1e4"),
        ("norm_eps", -1e-9),
        ("norm_eps", float("nan")),
        ("norm_eps", None),
        ("rope_layout", "neox"),
        ("num_kv_heads", 4),
        ("num_kv_heads", 12),
        ("head_dim", 5),
        ("window", 0),
        ("window", -1),
        ("window", 1.5),
    ],
)
def test_a_bad_field_is_named_with_what_came(name, value):
    with pytest.raises(ArgumentError) as info:
        ModelConfig(**{**GOOD, name: value})
    assert info.value.name == name
    shown = str(info.value)
    assert shown.startswith(f"{name}: got ")
    assert str(value) in shown
    assert ", expected " in shown


def test_head_dim_is_stated_never_derived():
    # Qwen3-0.6B: 1024 / 16 = 64, yet its heads are 128 wide
    config = ModelConfig.from_hf(HF)
    assert config.head_dim == 128
    assert config.hidden_size // config.num_heads == 64
    gguf = {**GGUF, "llama.attention.key_length": 128}
    assert ModelConfig.from_gguf(gguf, tie_embeddings=True).head_dim == 128


def test_from_gguf_reads_every_field():
    assert ModelConfig.from_gguf(GGUF, tie_embeddings=True) == ModelConfig(
        num_layers=30,
        hidden_size=576,
        num_heads=9,
        num_kv_heads=3,
        head_dim=64,
        ffn_size=1536,
        vocab_size=49152,
        rope_theta=100000.0,
        norm_eps=1e-5,
        max_seq_len=8192,
        rope_layout="interleaved",
        tie_embeddings=True,
    )


def gguf_of_mixtral(**changes):
    sizes = {
        "block_count": 32,
        "context_length": 32768,
        "embedding_length": 4096,
        "feed_forward_length": 14336,
        "attention.head_count": 32,
        "attention.head_count_kv": 8,
        "rope.dimension_count": 128,
        "rope.freq_base": 1e6,
        "vocab_size": 32000,
        "expert_count": 8,
        "expert_used_count": 2,
        **changes,
    }
    own = {f"llama.{key}": value for key, value in sizes.items()}
    return ModelConfig.from_gguf({**GGUF, **own}, tie_embeddings=False)


def test_from_gguf_reads_the_experts_of_a_mixtral():
    # its architecture is llama: read as dense, 7 of 47 billion were left
    published = CONFIGS["mixtral-8x7b"]
    config = gguf_of_mixtral()
    assert num_params(config) == num_params(published)
    as_published = {"rope_layout": "half_split", "window": published.window}
    assert dataclasses.replace(config, **as_published) == published


def test_from_gguf_reads_the_width_of_an_expert_where_it_is_stated():
    narrow = gguf_of_mixtral(expert_feed_forward_length=64)
    assert narrow.moe == MoEConfig(
        num_experts=8, experts_per_token=2, expert_ffn_size=64
    )
    assert narrow.ffn_size == 14336


def test_from_gguf_takes_no_experts_for_a_dense_model():
    dense = ModelConfig.from_gguf(GGUF, tie_embeddings=True)
    none = {**GGUF, "llama.expert_count": 0, "llama.expert_used_count": 0}
    assert ModelConfig.from_gguf(none, tie_embeddings=True) == dense


@pytest.mark.parametrize(
    ("changes", "name"),
    [
        ({"expert_count": -8}, "llama.expert_count"),
        ({"expert_count": [8, 8]}, "llama.expert_count"),
        ({"expert_used_count": None}, "llama.expert_used_count"),
        ({"expert_used_count": 9}, "moe.experts_per_token"),
        (
            {"expert_feed_forward_length": 0},
            "llama.expert_feed_forward_length",
        ),
    ],
)
def test_bad_experts_of_a_gguf_are_named(changes, name):
    with pytest.raises(ArgumentError) as info:
        gguf_of_mixtral(**changes)
    assert info.value.name == name


@pytest.mark.model
def test_from_gguf_on_the_real_file(model_path):
    from cutaway.weights import GGUFFile

    with GGUFFile(model_path) as file:
        tied = "output.weight" not in file.tensors
        config = ModelConfig.from_gguf(file.metadata, tie_embeddings=tied)
    # the file stores epsilon as float32
    assert config.norm_eps == pytest.approx(1e-5, rel=1e-6)
    assert dataclasses.replace(config, norm_eps=1e-5) == ModelConfig.from_gguf(
        GGUF, tie_embeddings=True
    )


@pytest.mark.parametrize(
    "key",
    [
        "general.architecture",
        "llama.block_count",
        "llama.context_length",
        "llama.embedding_length",
        "llama.feed_forward_length",
        "llama.attention.head_count",
        "llama.attention.layer_norm_rms_epsilon",
    ],
)
def test_a_missing_gguf_key_is_named(key):
    metadata = {k: v for k, v in GGUF.items() if k != key}
    with pytest.raises(ArgumentError, match="no such key") as info:
        ModelConfig.from_gguf(metadata, tie_embeddings=True)
    assert info.value.name == key


@pytest.mark.parametrize("bad", [None, [], "llama"])
def test_metadata_must_be_a_mapping(bad):
    with pytest.raises(ArgumentError, match="metadata: got "):
        ModelConfig.from_gguf(bad, tie_embeddings=True)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("llama.attention.head_count", 0),
        ("llama.attention.head_count", [9, 9, 9]),
        ("llama.embedding_length", "576"),
        ("llama.rope.freq_base", "1e5"),
        ("llama.attention.layer_norm_rms_epsilon", -1.0),
        ("tokenizer.ggml.tokens", 49152),
        ("tokenizer.ggml.tokens", "a b"),
    ],
)
def test_a_bad_gguf_value_is_named(key, value):
    with pytest.raises(ArgumentError) as info:
        ModelConfig.from_gguf({**GGUF, key: value}, tie_embeddings=True)
    assert info.value.name == key


def test_another_architecture_is_refused_not_misread():
    metadata = {**GGUF, "general.architecture": "gemma3"}
    with pytest.raises(
        ArgumentError, match="'gemma3', expected one of 'llama'"
    ):
        ModelConfig.from_gguf(metadata, tie_embeddings=True)


def test_from_hf_reads_every_field():
    assert ModelConfig.from_hf(HF) == ModelConfig(
        num_layers=3,
        hidden_size=1024,
        num_heads=16,
        num_kv_heads=8,
        head_dim=128,
        ffn_size=3072,
        vocab_size=151936,
        rope_theta=1000000.0,
        norm_eps=1e-6,
        max_seq_len=40960,
        rope_layout="half_split",
        tie_embeddings=True,
    )


def test_from_hf_fills_in_what_older_files_leave_out():
    old = {
        k: v
        for k, v in HF.items()
        if k not in ("num_key_value_heads", "head_dim", "tie_word_embeddings")
    }
    config = ModelConfig.from_hf(old)
    assert config.num_kv_heads == 16
    assert config.head_dim == 64
    assert not config.tie_embeddings
    assert config.window is None


def test_from_hf_reads_theta_where_newer_files_keep_it():
    new = {k: v for k, v in HF.items() if k != "rope_theta"}
    new["rope_parameters"] = {"rope_type": "default", "rope_theta": 5e5}
    assert ModelConfig.from_hf(new).rope_theta == 5e5


@pytest.mark.parametrize(
    "key",
    [
        "model_type",
        "num_hidden_layers",
        "hidden_size",
        "num_attention_heads",
        "intermediate_size",
        "vocab_size",
        "rms_norm_eps",
        "max_position_embeddings",
    ],
)
def test_a_missing_hf_key_is_named(key):
    with pytest.raises(ArgumentError, match="no such key") as info:
        ModelConfig.from_hf({k: v for k, v in HF.items() if k != key})
    assert info.value.name == key


def test_from_hf_keeps_a_window_and_refuses_unknown_models():
    mistral = {**HF, "model_type": "mistral", "sliding_window": 4096}
    assert ModelConfig.from_hf(mistral).window == 4096
    with pytest.raises(ArgumentError, match="model_type: got 'mamba'"):
        ModelConfig.from_hf({**HF, "model_type": "mamba"})


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hidden_act", "gelu"),
        ("attention_bias", True),
        ("mlp_bias", True),
        ("rope_scaling", {"rope_type": "linear", "factor": 2, "beta": 1}),
    ],
)
def test_from_hf_refuses_what_the_decoder_would_ignore(key, value):
    with pytest.raises(ArgumentError, match=key):
        ModelConfig.from_hf({**HF, key: value})


def test_from_hf_refuses_an_unknown_scaling_where_newer_files_keep_it():
    rope = {"rope_theta": 1e4, "rope_type": "longrope"}
    with pytest.raises(ArgumentError, match="rope_type"):
        ModelConfig.from_hf({**HF, "rope_parameters": rope})


def test_from_hf_accepts_the_harmless_values():
    harmless = {
        "hidden_act": "silu",
        "attention_bias": False,
        "mlp_bias": False,
        "rope_scaling": None,
    }
    assert ModelConfig.from_hf({**HF, **harmless}) == ModelConfig.from_hf(HF)


def test_from_gguf_refuses_an_unknown_scaling():
    scaled = {**GGUF, "llama.rope.scaling.type": "longrope"}
    with pytest.raises(ArgumentError, match=r"rope\.scaling"):
        ModelConfig.from_gguf(scaled, tie_embeddings=True)
