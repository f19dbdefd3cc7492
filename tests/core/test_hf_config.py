"""config.json of every family: read in full, or refused by name."""

from __future__ import annotations

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
from oracles.hf_configs import NAMES, config_json, peer_config

FAMILIES = {
    "mixtral": "mixtral-8x7b",
    "qwen2": "qwen2.5-0.5b",
    "qwen3": "qwen3-0.6b",
    "qwen3_moe": "qwen3-30b-a3b",
    "gemma2": "gemma-2-2b",
    "gemma3_text": "gemma-3-4b",
    "gpt2": "gpt2",
    "opt": "opt-13b",
    "gpt_oss": "gpt-oss-20b",
    "deepseek_v2": "deepseek-v2",
    "deepseek_v3": "deepseek-v3",
}

WINDOW_ON = {"use_sliding_window": True}
"""For the families whose files have a window and switch it off."""

OTHER_NAMES = {
    "num_experts_per_tok": "moe.experts_per_token",
    "topk_group": "groups.groups_per_token",
    "sliding_window": "window",
}
"""Fields that refuse a value which they read under another name."""


def read(name, **changes):
    return ModelConfig.from_hf({**config_json(name), **changes})


@pytest.mark.parametrize("name", NAMES)
def test_old_and_new_key_names_give_the_same_configuration(name):
    # transformers 5 writes rope_parameters, layer_types and other keys
    assert ModelConfig.from_hf(peer_config(name).to_dict()) == read(name)


@pytest.mark.parametrize(
    ("kind", "changes"),
    [
        *((kind, {}) for kind in ("llama", "mistral", *FAMILIES)),
        *((kind, WINDOW_ON) for kind in ("qwen2", "qwen3", "qwen3_moe")),
    ],
)
def test_a_key_left_out_has_the_default_of_transformers_or_is_missed(
    kind, changes
):
    from transformers import CONFIG_MAPPING

    full = CONFIG_MAPPING[kind](**changes).to_dict()
    for key, value in {
        "num_experts_per_tok": 2,
        "moe_intermediate_size": 96,
        "num_key_value_heads": full.get("num_attention_heads"),
    }.items():
        if full.get(key, value) is None:  # no default: a model states it
            full[key] = value
    expected = ModelConfig.from_hf(full)
    assert (expected.window is not None) or changes != WINDOW_ON
    missed = set()
    for key in sorted(full.keys() - {"model_type", *changes}):
        less = {other: full[other] for other in full if other != key}
        try:
            found = ModelConfig.from_hf(less)
        except ArgumentError as error:
            missed.add((key, error.got))
        else:
            assert found == expected, key
    assert {got for _, got in missed} == {"no such key"}
    missed = {key for key, _ in missed}
    assert missed & {"num_hidden_layers", "n_layer"}
    assert not missed & {"tie_word_embeddings", "rope_parameters"}


def test_qwen2_has_biases_and_a_window_only_if_switched_on():
    config = read("qwen2.5-0.5b", sliding_window=32768, max_window_layers=21)
    assert config.biases == {"qkv"}
    assert config.window is None
    on = read(
        "qwen2.5-0.5b",
        sliding_window=512,
        use_sliding_window=True,
        max_window_layers=21,
    )
    assert [on.layer_window(i) for i in (0, 20, 21, 23)] == [
        None,
        None,
        512,
        512,
    ]
    assert on.num_local_layers == 3


def test_qwen3_norms_its_heads_and_states_head_dim():
    config = read("qwen3-0.6b")
    assert config.norm == NormConfig(qk=True)
    assert (config.head_dim, config.hidden_size // config.num_heads) == (
        128,
        64,
    )


def test_gemma2_alternates_and_caps():
    config = read("gemma-2-27b")
    assert [config.layer_window(i) for i in range(4)] == [4096, None] * 2
    assert config.attention == AttentionConfig(scale=144**-0.5, softcap=50.0)
    assert config.logit_softcap == 30.0
    assert config.embed_scale == 4608**0.5
    assert config.norm == NormConfig(kind="rms_plus_one", after=True)
    assert config.ffn == FFNConfig(activation="gelu_tanh")


def test_gemma3_has_five_local_layers_before_each_global_one():
    config = read("gemma-3-27b")
    local = [config.layer_window(i) == 1024 for i in range(12)]
    assert local == ([True] * 5 + [False]) * 2
    assert (config.num_layers, config.num_local_layers) == (62, 52)
    assert (config.rope_theta, config.local_rope_theta) == (1e6, 1e4)
    assert config.rope_scaling.kind == "linear"
    assert read("gemma-3-1b").rope_scaling is None


def test_gemma3_with_pictures_is_read_for_its_text_part():
    # the published file of the 4B leaves out heads, vocabulary and more
    text = {
        "model_type": "gemma3_text",
        "num_hidden_layers": 34,
        "hidden_size": 2560,
        "intermediate_size": 10240,
        "sliding_window": 1024,
        "rope_scaling": {"factor": 8.0, "rope_type": "linear"},
    }
    whole = {"model_type": "gemma3", "text_config": text, "vision_config": {}}
    assert ModelConfig.from_hf(whole) == read("gemma-3-4b")


def test_gpt2_and_opt_have_learned_positions_and_no_rope():
    gpt2, opt = read("gpt2-xl"), read("opt-13b")
    assert gpt2.rope_theta is None
    assert opt.rope_theta is None
    assert (gpt2.max_seq_len, gpt2.learned_positions) == (1024, 1024)
    assert (opt.max_seq_len, opt.learned_positions) == (2048, 2050)
    assert gpt2.ffn == FFNConfig(gated=False, activation="gelu_tanh")
    assert opt.ffn == FFNConfig(gated=False, activation="relu")
    assert gpt2.norm.kind == opt.norm.kind == "layer"
    assert gpt2.biases == opt.biases == {"qkv", "attn_out", "ffn"}


def test_gpt_oss_has_sinks_and_a_clamped_activation():
    config = read("gpt-oss-20b")
    assert config.attention == AttentionConfig(sink_logits=True)
    assert config.ffn == FFNConfig(clamp=7.0, sigmoid_gain=1.702)
    assert [config.layer_window(i) for i in range(4)] == [128, None] * 2
    assert config.head_dim == 64
    assert config.hidden_size // 64 == 45
    assert config.biases == {"qkv", "attn_out", "ffn", "router"}


def test_deepseek_reads_latent_attention_groups_and_scores():
    v2, v3 = read("deepseek-v2"), read("deepseek-v3")
    assert v3.mla == MLAConfig(
        kv_lora_rank=512,
        q_lora_rank=1536,
        qk_nope_head_dim=128,
        qk_rope_head_dim=64,
        v_head_dim=128,
    )
    assert v3.head_dim == 192
    assert v3.num_kv_heads == 128
    assert v3.rope_layout == "interleaved"
    assert v2.moe.groups == ExpertGroups(num_groups=8, groups_per_token=3)
    assert v3.moe.groups.score == "top2_sum"
    assert (v2.moe.scoring, v3.moe.scoring) == ("softmax", "sigmoid")
    assert (v2.moe.renormalize, v3.moe.renormalize) == (False, True)
    assert (v2.moe.weight_scale, v3.moe.weight_scale) == (16.0, 2.5)
    assert (v2.num_moe_layers, v3.num_moe_layers) == (59, 58)
    assert read("deepseek-v2-lite").mla.q_lora_rank is None
    assert read("deepseek-v2-lite").moe.groups is None


def test_mixtral_renormalises_two_of_eight():
    assert read("mixtral-8x7b").moe == MoEConfig(
        num_experts=8, experts_per_token=2, expert_ffn_size=14336
    )


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("qwen3-30b-a3b", {"decoder_sparse_step": 2}),
        ("qwen3-30b-a3b", {"mlp_only_layers": [0]}),
        ("gemma-2-2b", {"hidden_activation": "gelu"}),
        ("gemma-3-4b", {"use_bidirectional_attention": True}),
        ("gpt2", {"activation_function": "relu"}),
        ("gpt2", {"scale_attn_by_inverse_layer_idx": True}),
        ("opt-13b", {"do_layer_norm_before": False}),
        ("opt-13b", {"word_embed_proj_dim": 512}),
        ("gpt-oss-20b", {"attention_bias": False}),
        ("deepseek-v2", {"topk_method": "noaux_tc"}),
        ("deepseek-v2", {"norm_topk_prob": True}),
        ("deepseek-v3", {"scoring_func": "softmax"}),
        ("deepseek-v3", {"moe_layer_freq": 2}),
        ("gemma-2-2b", {"layer_types": ["full_attention"]}),
        ("gemma-2-2b", {"layer_types": ["chunked_attention"] * 26}),
        ("gemma-2-2b", {"layer_types": 26}),
        ("gemma-2-2b", {"layer_types": [["full_attention"]] * 26}),
        ("gemma-2-2b", {"layer_types": [{}] * 26}),
        ("llama-3.1-8b", {"rope_parameters": "llama3"}),
        ("llama-3.1-8b", {"num_attention_heads": 0}),
        ("llama-3.1-8b", {"num_attention_heads": "32"}),
        ("llama-3.1-8b", {"hidden_size": None}),
        ("llama-3.1-8b", {"rope_theta": "5e5"}),
        ("llama-3.1-8b", {"vocab_size": -1}),
        ("gpt2", {"n_embd": True}),
        ("mixtral-8x7b", {"num_experts_per_tok": 9}),
        ("deepseek-v2", {"topk_group": 9}),
        (
            "qwen2.5-0.5b",
            {
                "use_sliding_window": True,
                "max_window_layers": 0,
                "sliding_window": 0,
            },
        ),
    ],
)
def test_a_value_that_no_field_expresses_is_refused_by_name(name, changes):
    key = list(changes)[-1]
    with pytest.raises(ArgumentError, match=r": got .*, expected ") as info:
        read(name, **changes)
    assert info.value.name == OTHER_NAMES.get(key, key)


@pytest.mark.parametrize("bad", [None, [], "llama", 3])
def test_what_is_no_mapping_is_refused(bad):
    with pytest.raises(ArgumentError, match="config: got "):
        ModelConfig.from_hf(bad)


@pytest.mark.parametrize("kind", FAMILIES)
def test_a_file_with_nothing_but_its_type_names_a_missing_key(kind):
    with pytest.raises(ArgumentError, match="no such key"):
        ModelConfig.from_hf({"model_type": kind})
