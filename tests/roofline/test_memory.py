"""Bytes of weights and caches, against published and known figures."""

from __future__ import annotations

import pytest

from cutaway.core import CutawayError
from cutaway.roofline import (
    CONFIGS,
    attention_params,
    format_bytes,
    kv_bytes_per_token,
    kv_cache_bytes,
    weight_bytes,
)


def test_cache_bytes_use_key_value_heads_and_the_stated_head_dim():
    # Qwen3-4B: hidden/heads is 80, the real head_dim 128.
    qwen = CONFIGS["qwen3-4b"]
    assert kv_bytes_per_token(qwen) == 147_456
    assert attention_params(qwen) == 2560 * 128 * (2 * 32 + 2 * 8)
    llama = CONFIGS["llama-3.1-70b"]
    assert kv_bytes_per_token(llama) * 32_768 == 10 * 2**30
    assert kv_bytes_per_token(CONFIGS["llama-2-7b"]) * 32_768 == 16 * 2**30


def test_latent_attention_caches_one_vector_for_all_heads_and_for_both():
    # Not 2 x 61 x 512 x 2 = 124,928: one vector, with its rotary part.
    config = CONFIGS["deepseek-v3"]
    assert kv_bytes_per_token(config) == 61 * (512 + 64) * 2 == 70_272
    assert kv_bytes_per_token(CONFIGS["deepseek-v2-lite"]) == 31_104
    # The same heads with keys and values of their own, 128 wide each.
    heads = 2 * 128 * 128
    assert heads / config.mla.cache_width == pytest.approx(56.9, abs=0.05)


# GiB in bfloat16 at so many tokens: every layer in full, and with windows
WINDOWED = {
    ("mistral-7b-v0.1", 32_768): (4.0, 0.5),
    ("gemma-3-1b", 32_768): (0.8125, 0.1357),
    ("gemma-3-4b", 131_072): (17.0, 2.6133),
    ("gemma-3-12b", 131_072): (48.0, 8.3125),
    ("gemma-3-27b", 131_072): (62.0, 10.4063),
    ("gemma-3-27b", 32_768): (15.5, 2.9063),
    ("gpt-oss-20b", 131_072): (6.0, 3.0029),
    ("gpt-oss-120b", 131_072): (9.0, 4.5044),
}


@pytest.mark.parametrize(("name", "tokens"), WINDOWED)
def test_local_layers_keep_no_more_than_their_window(name, tokens):
    config = CONFIGS[name]
    full, kept = WINDOWED[name, tokens]
    assert tokens * kv_bytes_per_token(config) == full * 2**30
    assert kv_cache_bytes(config, tokens) / 2**30 == pytest.approx(
        kept, abs=5e-5
    )


@pytest.mark.parametrize("name", ["smollm2-135m", "gemma-2-9b", "deepseek-v3"])
def test_a_short_text_needs_every_layer_in_full(name):
    config = CONFIGS[name]
    for tokens in (0, 1, 37, 4096):
        assert kv_cache_bytes(config, tokens, 1) == tokens * (
            kv_bytes_per_token(config, 1)
        )


@pytest.mark.parametrize("bad", [-1, 1.5, "3", None, True])
def test_the_tokens_of_a_cache_must_be_a_count(bad):
    with pytest.raises(CutawayError, match="num_tokens"):
        kv_cache_bytes(CONFIGS["smollm2-135m"], bad)


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
    with pytest.raises(CutawayError, match="bytes_per_element"):
        kv_cache_bytes(CONFIGS["smollm2-135m"], 3, bad)


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
