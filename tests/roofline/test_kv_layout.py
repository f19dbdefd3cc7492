"""Layouts: floors and reserves, public mistakes, shares of devices."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.core import ArgumentError
from cutaway.roofline import (
    CACHE_FILES,
    CACHE_SOURCES,
    CONFIGS,
    CacheFormat,
    kv_bytes_per_token,
    kv_cache_bytes,
    kv_layout,
    max_tokens,
    model_layout,
)
from oracles.cache_layouts import counted, formats, layouts


@given(layouts, formats, st.integers(0, 20))
def test_floor_and_reserve_are_what_a_loop_over_tokens_counts(
    layout, cache_format, tokens
):
    floor = layout.floor_bytes(tokens, cache_format)
    reserved = layout.reserved_bytes(tokens, cache_format)
    assert floor == counted(layout, tokens, cache_format)
    assert reserved == counted(layout, tokens, cache_format, full=True)
    assert layout.state_bytes(cache_format) == counted(layout, 0, cache_format)
    assert floor <= reserved


@given(layouts, st.integers(0, 5))
def test_up_to_the_shortest_window_nothing_is_saved(layout, tokens):
    assert layout.floor_bytes(tokens) == layout.reserved_bytes(tokens)
    per_token = layout.bytes_per_token()
    assert layout.floor_bytes(tokens) == (
        layout.state_bytes() + tokens * per_token
    )


@pytest.mark.parametrize("name", CONFIGS)
def test_the_older_functions_go_through_the_layout(name):
    config = CONFIGS[name]
    layout = kv_layout(config)
    assert layout == model_layout(name.upper())
    assert layout.state_bytes() == 0
    assert layout.num_layers == config.num_layers
    for size in (0.5, 1, 2, 4):
        cache_format = CacheFormat.of(size)
        assert kv_bytes_per_token(config, size) == (
            layout.bytes_per_token(cache_format)
        )
        for tokens in (0, 1, 4097, 131072):
            assert kv_cache_bytes(config, tokens, size) == (
                layout.floor_bytes(tokens, cache_format)
            )


# Sizes that other calculators got wrong: model, tokens, bytes


@pytest.mark.parametrize(
    ("name", "tokens", "right", "wrong"),
    [
        # the hidden width divided by the heads in place of head_dim
        ("qwen3-4b", 1, 147_456, 2 * 36 * 8 * (2560 // 32) * 2),
        ("gpt-oss-20b", 1, 49_152, 2 * 24 * 8 * (2880 // 64) * 2),
        # twice the latent, and no rotary key
        ("deepseek-v3", 1, 70_272, 2 * 61 * 512 * 2),
        # query heads in place of key/value heads
        ("llama-3.1-70b", 32_768, 10 * 2**30, 80 * 2**30),
        # one layer in place of 32
        ("llama-2-7b", 32_768, 16 * 2**30, 2**29),
        # windows forgotten
        ("mistral-7b-v0.1", 32_768, 2**29, 4 * 2**30),
    ],
)
def test_public_mistakes_of_sizing_are_not_ours(name, tokens, right, wrong):
    assert model_layout(name).floor_bytes(tokens) == right != wrong


def test_floor_and_reserve_differ_where_layers_have_windows():
    layout = model_layout("gpt-oss-20b")
    assert layout.reserved_bytes(131_072) == 6 * 2**30
    assert layout.floor_bytes(131_072) == 12 * 2048 * (131_072 + 128)


def test_a_sparse_indexer_comes_on_top_of_the_latents():
    plain = model_layout("deepseek-v3").bytes_per_token()
    indexed = model_layout("deepseek-v3.2").bytes_per_token()
    assert indexed - plain == 61 * 128 * 2


# Devices


def test_heads_are_spread_over_devices_and_copied_beyond_their_number():
    layout = model_layout("llama-3.1-8b")  # 8 KV heads
    whole = layout.bytes_per_token()
    shares = [whole / layout.bytes_per_token(tp=2**n) for n in range(7)]
    assert shares == [1, 2, 4, 8, 8, 8, 8]
    assert layout.floor_bytes(100, tp=16) == 100 * whole / 8
    assert layout.reserved_bytes(100, tp=16) == 100 * whole / 8


def test_a_latent_vector_is_copied_to_every_device():
    layout = model_layout("deepseek-v3")
    assert layout.bytes_per_token(tp=8) == layout.bytes_per_token() == 70_272


def test_states_are_spread_by_their_heads_and_groups_copied():
    layout = model_layout("nemotron-h-8b")  # 128 heads, 8 groups
    assert layout.state_bytes(tp=8) == layout.state_bytes() / 8
    recurrent = 24 * (128 // 16) * 64 * 128 * 4
    conv = 24 * ((128 // 16) * 64 + 1 * 2 * 128) * 3 * 2
    assert layout.state_bytes(tp=16) == recurrent + conv


@pytest.mark.parametrize("tp", [3, 5, 12])
def test_heads_that_cannot_be_spread_are_refused(tp):
    layout = model_layout("llama-3.1-8b")
    for size in (layout.bytes_per_token, layout.state_bytes):
        if size == layout.state_bytes:  # it has none
            assert size(tp=tp) == 0
            continue
        with pytest.raises(
            ArgumentError, match=f"tp: got {tp}, expected a div"
        ):
            size(tp=tp)
    with pytest.raises(ArgumentError, match="multiple of 8 heads"):
        layout.floor_bytes(1, tp=tp)
    with pytest.raises(ArgumentError, match="multiple of 8 heads"):
        max_tokens(layout, 1e9, tp=tp)


def test_every_cache_file_has_a_source_and_a_layout():
    assert CACHE_FILES.keys() == CACHE_SOURCES.keys()
    assert not CACHE_FILES.keys() & CONFIGS.keys()
    for name, file in CACHE_FILES.items():
        layout = model_layout(name)
        assert layout.num_layers == file["num_hidden_layers"]
        assert file["max_position_embeddings"] >= 8192
