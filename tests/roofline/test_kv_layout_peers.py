"""The layout read from a file is what a model of transformers then keeps."""

from __future__ import annotations

import json

import pytest

from cutaway.roofline import CONFIGS, kv_layout, kv_layout_from_hf
from cutaway.roofline.kv_layout import (
    FAMILIES,
    AttentionCache,
    SharedCache,
    StateCache,
)
from oracles.hf_configs import NAMES, config_json
from oracles.peer_caches import (
    TOKENS,
    WINDOW,
    observed_layers,
    saved,
    small_config,
)

VARIANTS = {
    "smollm3": {"use_sliding_window": True, "no_rope_layer_interval": 2},
    "qwen2": {"use_sliding_window": True, "max_window_layers": 2},
    "qwen3": {"use_sliding_window": True, "max_window_layers": 0},
    "qwen2_moe": {"use_sliding_window": True, "max_window_layers": 4},
    "qwen3_moe": {"use_sliding_window": True},
    "mistral": {"sliding_window": None},
    "gemma2": {"layer_types": ["full_attention"] * 6},
    "cohere2": {"sliding_window_pattern": 2},
    "falcon": {"multi_query": False},
    "gpt_bigcode": {"multi_query": False},
    "llama": {"num_key_value_heads": None, "head_dim": None},
    "llama4_text": {"no_rope_layers": [0, 1, 1, 0, 1, 0]},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 0},
    "qwen3_next": {"full_attention_interval": 2},
    "kimi_linear": {
        "linear_attn_config": {
            "full_attn_layers": [2, 6],
            "kda_layers": [1, 3, 4, 5],
            "head_dim": 4,
            "num_heads": 3,
            "short_conv_kernel_size": 2,
        }
    },
    "nemotron_h": {
        "layers_block_type": None,
        "hybrid_override_pattern": "M-*E",
    },
    "olmo_hybrid": {"num_hidden_layers": 3},
    "falcon_h1": {"mamba_d_ssm": None},
}


def described(layer):
    """Our layer in the words of the oracle."""
    found = {}
    for number, part in enumerate(layer):
        if isinstance(part, SharedCache):
            assert layer == (part,)
        elif isinstance(part, StateCache):
            found[part.kind] = found.get(part.kind, 0) + part.elements
        elif number == 0:
            rows = part.kept_tokens(TOKENS)
            found |= {"heads": part.num_heads, "rows": rows}
            found["width"] = part.shape.key_dim + part.shape.value_dim
        else:
            found["extra"] = part.shape.elements
    return found


def seen(layer):
    """The oracle's layer, with one convention of ours."""
    found = dict(layer)
    if "rows" in found:
        found["width"] = found.pop("key_dim") + found.pop("value_dim")
        if found["rows"] == WINDOW - 1:
            found["rows"] = WINDOW  # theirs leaves room for the next token
    return found


def check_same(config):
    layout = kv_layout_from_hf(saved(config))
    theirs = observed_layers(config)[: layout.num_layers]
    assert [described(layer) for layer in layout.layers] == list(
        map(seen, theirs)
    )
    return layout


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_small_model_keeps_what_its_file_says(kind):
    layout = check_same(small_config(kind))
    assert any(layout.layers)


@pytest.mark.parametrize("kind", VARIANTS)
def test_settings_that_change_the_cache_are_read(kind):
    layout = check_same(small_config(kind, **VARIANTS[kind]))
    usual = kv_layout_from_hf(saved(small_config(kind)))
    assert layout != usual


LISTS = {"layer_types", "layers_block_type"}


@pytest.mark.parametrize(
    "kind", sorted(FAMILIES.keys() - {"lfm2_moe", "nemotron_h"})
)
def test_a_file_that_lists_no_layers_means_those_of_the_class(kind):
    # the two left out have no layers unless a file lists them
    from transformers import CONFIG_MAPPING

    usual = CONFIG_MAPPING[kind]()
    file = json.loads(usual.to_json_string(use_diff=False))
    listed = getattr(usual, "layer_types", None)
    older = {key: one for key, one in file.items() if key not in LISTS}
    layout = kv_layout_from_hf(older)
    if listed is not None:
        assert layout == kv_layout_from_hf({**older, "layer_types": listed})
    assert layout.num_layers == usual.num_hidden_layers


def test_the_layers_that_share_are_those_whose_cache_is_empty():
    layout = kv_layout_from_hf(saved(small_config("gemma3n_text")))
    assert layout.layers[4:] == (
        (SharedCache(layer=2),),
        (SharedCache(layer=3),),
    )


@pytest.mark.parametrize("name", NAMES)
def test_the_two_readers_of_a_file_agree(name):
    layout = kv_layout_from_hf(config_json(name))
    assert layout == kv_layout(CONFIGS[name])
    parts = {type(part) for layer in layout.layers for part in layer}
    assert parts == {AttentionCache}


@pytest.mark.parametrize(
    ("outer", "inner"),
    [
        ("gemma3", "gemma3_text"),
        ("gemma3n", "gemma3n_text"),
        ("llama4", "llama4_text"),
        ("qwen3_5", "qwen3_5_text"),
        ("qwen3_5_moe", "qwen3_5_moe_text"),
    ],
)
def test_of_a_model_that_sees_the_text_part_counts(outer, inner):
    text = saved(small_config(inner))
    both = {"model_type": outer, "hidden_size": 7, "text_config": text}
    assert kv_layout_from_hf(both) == kv_layout_from_hf(text)
    unnamed = {key: one for key, one in text.items() if key != "model_type"}
    nested = {"model_type": outer, "text_config": unnamed}
    assert kv_layout_from_hf(nested) == kv_layout_from_hf(text)
