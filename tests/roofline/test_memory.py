"""Parameters and bytes of models, against published and known figures."""

from __future__ import annotations

import pytest

from cutaway.core import CutawayError, ModelConfig
from cutaway.roofline import (
    CONFIGS,
    attention_params,
    format_bytes,
    kv_bytes_per_token,
    matmul_params,
    num_params,
    weight_bytes,
)

PARAMS_AND_KV = {
    "smollm2-135m": (134_515_008, 23_040),
    "smollm2-360m": (361_821_120, 40 * 1024),
    "smollm2-1.7b": (1_711_376_384, 192 * 1024),
    "tinyllama-1.1b": (1_100_048_384, 22 * 1024),
    "llama-2-7b": (6_738_415_616, 512 * 1024),
    "llama-2-13b": (13_015_864_320, 800 * 1024),
    "llama-2-70b": (68_976_648_192, 320 * 1024),
    "llama-3.1-8b": (8_030_261_248, 131_072),
    "llama-3.1-70b": (70_553_706_496, 320 * 1024),
    "llama-3.1-405b": (405_853_388_800, 504 * 1024),
    "llama-3.2-1b": (1_235_814_400, 32 * 1024),
    "llama-3.2-3b": (3_212_749_824, 112 * 1024),
    "mistral-7b-v0.1": (7_241_732_096, 128 * 1024),
}


def test_every_model_of_the_table_is_checked():
    assert set(PARAMS_AND_KV) == set(CONFIGS)


@pytest.mark.parametrize("name", PARAMS_AND_KV)
def test_parameters_and_cache_bytes_equal_the_known_figures(name):
    params, kv_bytes = PARAMS_AND_KV[name]
    assert num_params(CONFIGS[name]) == params
    assert kv_bytes_per_token(CONFIGS[name]) == kv_bytes


@pytest.mark.parametrize(
    ("name", "expected"),
    [("smollm2-135m", 134_479_872), ("llama-3.1-8b", 7_504_658_432)],
)
def test_matmul_params_count_the_output_matrix_once_and_no_lookup(
    name, expected
):
    assert matmul_params(CONFIGS[name]) == expected


def test_smollm2_differs_from_its_matmul_params_by_the_norms_only():
    config = CONFIGS["smollm2-135m"]
    assert num_params(config) - matmul_params(config) == 35_136


def test_parameters_equal_those_of_a_transformers_model():
    from transformers import LlamaConfig, LlamaForCausalLM

    for tied in (False, True):
        sizes = {
            "num_hidden_layers": 3,
            "hidden_size": 42,
            "num_attention_heads": 6,
            "num_key_value_heads": 2,
            "head_dim": 10,
            "intermediate_size": 53,
            "vocab_size": 97,
            "tie_word_embeddings": tied,
        }
        peer = LlamaForCausalLM(LlamaConfig(**sizes))
        known = {p.data_ptr(): p.numel() for p in peer.parameters()}
        config = ModelConfig.from_hf(
            {
                **sizes,
                "model_type": "llama",
                "rms_norm_eps": 1e-5,
                "max_position_embeddings": 64,
            }
        )
        assert num_params(config) == sum(known.values())


def test_cache_bytes_use_key_value_heads_and_the_stated_head_dim():
    # Qwen3-4B: hidden/heads is 80, the real head_dim 128.
    qwen = ModelConfig(
        num_layers=36,
        hidden_size=2560,
        num_heads=32,
        num_kv_heads=8,
        head_dim=128,
        ffn_size=9728,
        vocab_size=151_936,
        rope_theta=1e6,
        norm_eps=1e-6,
        max_seq_len=40_960,
        tie_embeddings=True,
    )
    assert kv_bytes_per_token(qwen) == 147_456
    assert attention_params(qwen) == 2560 * 128 * (2 * 32 + 2 * 8)
    llama = CONFIGS["llama-3.1-70b"]
    assert kv_bytes_per_token(llama) * 32_768 == 10 * 2**30
    assert kv_bytes_per_token(CONFIGS["llama-2-7b"]) * 32_768 == 16 * 2**30


def test_vocabulary_is_counted_once_not_once_a_layer():
    # A published calculator multiplied it by the layers; 18.4e9 is right.
    config = ModelConfig(
        num_layers=64,
        hidden_size=4096,
        num_heads=32,
        num_kv_heads=8,
        head_dim=256,
        ffn_size=16_384,
        vocab_size=32_128,
        rope_theta=1e4,
        norm_eps=1e-5,
        max_seq_len=4096,
    )
    assert round(num_params(config) / 1e9, 1) == 18.5
    tied = num_params(config) - 32_128 * 4096
    assert round(tied / 1e9, 1) == 18.4


def test_weight_bytes_scale_with_the_bytes_of_a_parameter():
    config = CONFIGS["llama-3.1-8b"]
    assert weight_bytes(config) == 16_060_522_496
    assert weight_bytes(config, 4) == 2 * weight_bytes(config, 2)


@pytest.mark.parametrize("bad", [0, -1, float("nan"), float("inf"), "2"])
def test_bytes_of_a_parameter_must_be_a_positive_number(bad):
    with pytest.raises(CutawayError, match="bytes_per_param"):
        weight_bytes(CONFIGS["smollm2-135m"], bad)
    with pytest.raises(CutawayError, match="bytes_per_element"):
        kv_bytes_per_token(CONFIGS["smollm2-135m"], bad)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.00 kB (0.98 KiB)"),
        (2**20, "1.05 MB (1.00 MiB)"),
        (2**30, "1.07 GB (1.00 GiB)"),
        (141e9, "141.00 GB (131.32 GiB)"),
        (2e12, "2.00 TB (1.82 TiB)"),
        (3e15, "3000.00 TB (2728.48 TiB)"),
    ],
)
def test_sizes_are_shown_in_both_unit_systems(size, text):
    assert format_bytes(size) == text
