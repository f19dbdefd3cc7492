"""The table of models: every row against files, peers and known figures."""

from __future__ import annotations

import pytest

from cutaway.core import CutawayError, ModelConfig
from cutaway.roofline import (
    CONFIG_SOURCES,
    CONFIGS,
    kv_bytes_per_token,
    model_config,
    num_params,
)
from oracles.hf_configs import NAMES, config_json, peer_num_params

KIB = 1024
MIB = 1024**2

# parameters, bytes that a token adds to a bfloat16 cache
PARAMS_AND_KV = {
    "smollm2-135m": (134_515_008, 23_040),
    "smollm2-360m": (361_821_120, 40 * KIB),
    "smollm2-1.7b": (1_711_376_384, 192 * KIB),
    "tinyllama-1.1b": (1_100_048_384, 22 * KIB),
    "llama-2-7b": (6_738_415_616, 512 * KIB),
    "llama-2-13b": (13_015_864_320, 800 * KIB),
    "llama-2-70b": (68_976_648_192, 320 * KIB),
    "llama-3.1-8b": (8_030_261_248, 128 * KIB),
    "llama-3.1-70b": (70_553_706_496, 320 * KIB),
    "llama-3.1-405b": (405_853_388_800, 504 * KIB),
    "llama-3.2-1b": (1_235_814_400, 32 * KIB),
    "llama-3.2-3b": (3_212_749_824, 112 * KIB),
    "mistral-7b-v0.1": (7_241_732_096, 128 * KIB),
    "mixtral-8x7b": (46_702_792_704, 128 * KIB),
    "qwen2.5-0.5b": (494_032_768, 12 * KIB),
    "qwen2.5-1.5b": (1_543_714_304, 28 * KIB),
    "qwen2.5-3b": (3_085_938_688, 36 * KIB),
    "qwen2.5-7b": (7_615_616_512, 56 * KIB),
    "qwen2.5-14b": (14_770_033_664, 192 * KIB),
    "qwen2.5-32b": (32_763_876_352, 256 * KIB),
    "qwen2.5-72b": (72_706_203_648, 320 * KIB),
    "qwen3-0.6b": (596_049_920, 112 * KIB),
    "qwen3-1.7b": (1_720_574_976, 112 * KIB),
    "qwen3-4b": (4_022_468_096, 144 * KIB),
    "qwen3-8b": (8_190_735_360, 144 * KIB),
    "qwen3-14b": (14_768_307_200, 160 * KIB),
    "qwen3-32b": (32_762_123_264, 256 * KIB),
    "qwen3-30b-a3b": (30_532_122_624, 96 * KIB),
    "qwen3-235b-a22b": (235_093_634_560, 188 * KIB),
    "gemma-2-2b": (2_614_341_888, 104 * KIB),
    "gemma-2-9b": (9_241_705_984, 336 * KIB),
    "gemma-2-27b": (27_227_128_320, 368 * KIB),
    "gemma-3-1b": (999_885_952, 26 * KIB),
    "gemma-3-4b": (3_880_263_168, 136 * KIB),
    "gemma-3-12b": (11_766_034_176, 384 * KIB),
    "gemma-3-27b": (27_009_346_304, 496 * KIB),
    "gpt2": (124_439_808, 36 * KIB),
    "gpt2-medium": (354_823_168, 96 * KIB),
    "gpt2-large": (774_030_080, 180 * KIB),
    "gpt2-xl": (1_557_611_200, 300 * KIB),
    "gpt-3-175b": (174_604_259_328, 4.5 * MIB),
    "opt-13b": (12_853_473_280, 800 * KIB),
    "opt-66b": (65_719_701_504, 2.25 * MIB),
    "opt-175b": (174_604_468_224, 4.5 * MIB),
    "gpt-oss-20b": (20_914_757_184, 48 * KIB),
    "gpt-oss-120b": (116_829_156_672, 72 * KIB),
    "deepseek-67b": (67_425_001_472, 380 * KIB),
    "deepseek-v2-lite": (15_706_484_224, 31_104),
    "deepseek-v2": (235_741_434_880, 69_120),
    "deepseek-v3": (671_026_419_200, 70_272),
}


def test_every_model_of_the_table_is_checked():
    assert set(PARAMS_AND_KV) == set(CONFIGS) == set(NAMES)
    assert len(CONFIGS) == 50


@pytest.mark.parametrize("name", PARAMS_AND_KV)
def test_parameters_and_cache_bytes_equal_the_known_figures(name):
    params, kv_bytes = PARAMS_AND_KV[name]
    assert num_params(CONFIGS[name]) == params
    assert kv_bytes_per_token(CONFIGS[name]) == kv_bytes


@pytest.mark.parametrize("name", NAMES)
def test_an_entry_is_what_the_published_file_says(name):
    assert CONFIGS[name] == ModelConfig.from_hf(config_json(name))


@pytest.mark.parametrize("name", NAMES)
def test_parameters_equal_those_of_the_transformers_model(name):
    assert num_params(CONFIGS[name]) == peer_num_params(name)


def test_opt_comes_near_the_sizes_that_a_paper_prints():
    # PagedAttention, table 1: 26, 132 and 346 GB in 16 bits
    printed = {"opt-13b": 26, "opt-66b": 132, "opt-175b": 346}
    for name, gigabytes in printed.items():
        assert 2 * num_params(CONFIGS[name]) / 1e9 == pytest.approx(
            gigabytes, rel=0.02
        )


def test_head_dim_is_not_hidden_over_heads_where_it_is_not():
    other = {
        name
        for name, config in CONFIGS.items()
        if config.mla is None
        and config.head_dim * config.num_heads != config.hidden_size
    }
    assert other == {
        "qwen3-0.6b",
        "qwen3-4b",
        "qwen3-32b",
        "qwen3-30b-a3b",
        "qwen3-235b-a22b",
        "gemma-2-2b",
        "gemma-2-9b",
        "gemma-2-27b",
        "gemma-3-1b",
        "gemma-3-4b",
        "gemma-3-12b",
        "gemma-3-27b",
        "gpt-oss-20b",
        "gpt-oss-120b",
    }


def test_every_entry_says_where_it_was_read():
    assert set(CONFIG_SOURCES) == set(CONFIGS)
    assert all(
        "/" in source or "arXiv" in source for source in CONFIG_SOURCES.values()
    )


def test_the_table_cannot_be_changed():
    with pytest.raises(TypeError):
        CONFIGS["mine"] = CONFIGS["gpt2"]
    with pytest.raises(TypeError):
        CONFIG_SOURCES["gpt2"] = "memory"


@pytest.mark.parametrize("bad", ["llama-3.1", "", None, 3])
def test_an_unknown_model_lists_the_known(bad):
    with pytest.raises(CutawayError, match=r"llama-3\.1-8b") as info:
        model_config(bad)
    assert info.value.name == "model"


def test_case_of_a_name_does_not_matter():
    assert model_config("Llama-3.1-8B") is CONFIGS["llama-3.1-8b"]
