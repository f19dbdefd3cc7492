"""Layouts and files that cannot be sized say what is wrong with them."""

from __future__ import annotations

import math

import pytest

from cutaway.core import ArgumentError, KVShape
from cutaway.roofline import (
    AttentionCache,
    CacheFormat,
    KVLayout,
    SharedCache,
    StateCache,
    bits_per_value,
    kv_layout_from_hf,
    max_tokens,
    model_layout,
    share_layers,
)

FULL = AttentionCache(shape=KVShape(2, 8, 8))
STATE = StateCache(num_heads=4, elements_per_head=10)


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: KVLayout(()), "layers"),
        (lambda: KVLayout([(FULL,)]), "layers"),  # pyright: ignore
        (lambda: KVLayout((FULL,)), r"layers\[0\]"),  # pyright: ignore
        (lambda: KVLayout(((FULL,), (3,))), r"layers\[1\]"),  # pyright: ignore
        (lambda: KVLayout(((SharedCache(layer=0),),)), r"layers\[0\].layer"),
        (
            lambda: KVLayout(((FULL,), (SharedCache(layer=1),))),
            r"layers\[1\].layer",
        ),
        (
            lambda: KVLayout(((STATE,), (SharedCache(layer=0),))),
            r"layers\[1\].layer",
        ),
        (lambda: SharedCache(layer=-1), "layer"),
        (lambda: AttentionCache(shape=KVShape(0, 8, 8)), "shape.num_heads"),
        (lambda: AttentionCache(shape=KVShape(2, 0, 8)), "shape.key_dim"),
        (lambda: AttentionCache(shape=KVShape(2, 8, -1)), "shape.value_dim"),
        (lambda: AttentionCache(shape=(2, 8, 8)), "shape"),  # pyright: ignore
        (lambda: AttentionCache(shape=KVShape(2, 8, 8), window=0), "window"),
        (lambda: StateCache(num_heads=0, elements_per_head=1), "num_heads"),
        (lambda: StateCache(num_heads=1, elements_per_head=0), "elements"),
        (
            lambda: StateCache(
                num_heads=1,
                elements_per_head=1,
                kind="cell",  # pyright: ignore
            ),
            "kind",
        ),
        (lambda: CacheFormat(key_bytes=0), "key_bytes"),
        (lambda: CacheFormat(value_bytes=-1), "value_bytes"),
        (lambda: CacheFormat(recurrent_bytes=math.nan), "recurrent_bytes"),
        (lambda: CacheFormat.of(0), "bytes_per_element"),
        (lambda: bits_per_value(0, group_size=32), "bits"),
        (lambda: bits_per_value(4, group_size=0), "group_size"),
        (lambda: KVLayout(((FULL,),)).floor_bytes(-1), "num_tokens"),
        (lambda: KVLayout(((FULL,),)).reserved_bytes(1.5), "num_tokens"),
        (lambda: KVLayout(((FULL,),)).bytes_per_token(tp=0), "tp"),
        (lambda: max_tokens(KVLayout(((FULL,),)), -1), "num_bytes"),
        (lambda: max_tokens(KVLayout(((FULL,),)), 1, batch_size=0), "batch"),
        (lambda: share_layers(KVLayout(((FULL,),)), 0), "every"),
        (lambda: share_layers(KVLayout(((STATE,), (FULL,))), 2), "layer"),
        (lambda: model_layout("llama-9"), "model"),
    ],
)
def test_bad_input_is_named(make, name):
    with pytest.raises(ArgumentError, match=f"^{name}"):
        make()


GOOD = {
    "model_type": "qwen3_next",
    "num_hidden_layers": 4,
    "hidden_size": 64,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
}


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ([], "config"),
        ({}, "model_type"),
        ({"model_type": "bert"}, "model_type"),
        ({"model_type": ["llama"]}, "model_type"),
        ({**GOOD, "num_hidden_layers": None}, "num_hidden_layers"),
        ({**GOOD, "num_hidden_layers": 0}, "num_hidden_layers"),
        ({**GOOD, "num_key_value_heads": "2"}, "num_key_value_heads"),
        ({**GOOD, "full_attention_interval": 0}, "full_attention_interval"),
        ({**GOOD, "layer_types": "full_attention"}, "layer_types"),
        ({**GOOD, "layer_types": []}, "layer_types"),
        ({**GOOD, "layer_types": ["full_attention"]}, "layer_types"),
        ({**GOOD, "layer_types": [["x"]] * 4}, "layer_types"),
        ({**GOOD, "layer_types": ["perceiver"] * 4}, "layer_types"),
        ({**GOOD, "text_config": 3}, "text_config"),
        (
            {**GOOD, "model_type": "llama", "layer_types": ["hybrid"] * 4},
            "layer",
        ),
        (
            {**GOOD, "model_type": "mamba", "layer_types": ["hybrid"] * 4},
            "layer",
        ),
        ({**GOOD, "model_type": "nemotron_h"}, "hybrid_override_pattern"),
        (
            {
                **GOOD,
                "model_type": "nemotron_h",
                "hybrid_override_pattern": "MX",
            },
            "hybrid_override_pattern",
        ),
        (
            {**GOOD, "model_type": "jamba", "attn_layer_period": 0},
            "attn_layer_p",
        ),
        (
            {**GOOD, "model_type": "jamba", "attn_layer_offset": -1},
            "attn_layer_o",
        ),
        (
            {**GOOD, "model_type": "kimi_linear", "linear_attn_config": 1},
            "linear",
        ),
        ({**GOOD, "model_type": "lfm2", "full_attn_idxs": 3}, "full_attn_idxs"),
        ({**GOOD, "model_type": "zamba2"}, "num_hidden_layers"),
        ({**GOOD, "model_type": "recurrent_gemma", "block_types": []}, "block"),
        (
            {**GOOD, "model_type": "llama4_text", "no_rope_layers": [1]},
            "no_rope",
        ),
        (
            {**GOOD, "model_type": "gemma3n_text", "num_kv_shared_layers": 4},
            "num_kv_shared_layers",
        ),
        ({**GOOD, "model_type": "gemma3n_text"}, "num_kv_shared_layers"),
        ({**GOOD, "model_type": "mamba", "expand": "two"}, "expand"),
        (
            {**GOOD, "sliding_window": 0, "model_type": "mistral"},
            "sliding_window",
        ),
        ({**GOOD, "model_type": "gpt2", "n_layer": 2}, "n_head"),
        (
            {**GOOD, "model_type": "nemotron_h", "layers_block_type": []},
            "layers",
        ),
    ],
)
def test_a_bad_file_is_named(file, name):
    with pytest.raises(ArgumentError, match=f"^{name}"):
        kv_layout_from_hf(file)


def test_a_window_that_is_null_is_none():
    file = {**GOOD, "model_type": "mistral"}
    layout = kv_layout_from_hf(file)
    assert {layer[0].window for layer in layout.layers} == {4096}
    none = kv_layout_from_hf({**file, "sliding_window": None})
    assert {layer[0].window for layer in none.layers} == {None}
