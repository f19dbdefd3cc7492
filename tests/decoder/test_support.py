"""The decoder refuses by name whatever it would leave out."""

from __future__ import annotations

import dataclasses

import pytest

from cutaway.core import (
    ArgumentError,
    AttentionConfig,
    FFNConfig,
    MLAConfig,
    ModelConfig,
    MoEConfig,
    NormConfig,
)
from cutaway.decoder import Decoder, Params
from cutaway.decoder.support import COMPUTED, check_supported
from cutaway.roofline import CONFIGS

PLAIN = ModelConfig(
    num_layers=2,
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
# What the decoder reads and computes with.
USED = {
    "num_layers",
    "hidden_size",
    "num_heads",
    "num_kv_heads",
    "head_dim",
    "ffn_size",
    "vocab_size",
    "rope_theta",
    "rope_layout",
    "rope_scaling",
    "norm_eps",
    "max_seq_len",
    "window",
    "window_pattern",
    "tie_embeddings",
}
MOE = MoEConfig(num_experts=4, experts_per_token=2, expert_ffn_size=3)
MLA = MLAConfig(
    kv_lora_rank=5,
    q_lora_rank=None,
    qk_nope_head_dim=2,
    qk_rope_head_dim=2,
    v_head_dim=4,
)
REFUSED = {
    "config.biases": {"biases": frozenset({"qkv"})},
    "config.embed_scale": {"embed_scale": 3.0},
    "config.logit_softcap": {"logit_softcap": 30.0},
    "config.learned_positions": {"learned_positions": 64, "rope_theta": None},
    "config.local_rope_theta": {"local_rope_theta": 1e3, "window": 4},
    "config.norm.kind": {"norm": NormConfig(kind="layer")},
    "config.norm.after": {"norm": NormConfig(after=True)},
    "config.norm.qk": {"norm": NormConfig(qk=True)},
    "config.ffn.gated": {"ffn": FFNConfig(gated=False)},
    "config.ffn.activation": {"ffn": FFNConfig(activation="relu")},
    "config.ffn.clamp": {"ffn": FFNConfig(clamp=7.0)},
    "config.ffn.sigmoid_gain": {"ffn": FFNConfig(sigmoid_gain=1.702)},
    "config.attention.scale": {"attention": AttentionConfig(scale=0.1)},
    "config.attention.softcap": {"attention": AttentionConfig(softcap=50.0)},
    "config.attention.sink_logits": {
        "attention": AttentionConfig(sink_logits=True)
    },
    "config.moe": {"moe": MOE},
    "config.mla": {"mla": MLA},
}


def test_every_field_is_either_used_or_checked():
    # A new field of the configuration must be put on one of the two lists.
    fields = {field.name for field in dataclasses.fields(ModelConfig)}
    assert set(COMPUTED) | USED == fields
    assert not set(COMPUTED) & USED


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_each_feature_that_is_not_computed_is_refused_by_name(name, impl):
    config = dataclasses.replace(PLAIN, **REFUSED[name])
    params = Params.random(PLAIN, 0, impl=impl)
    with pytest.raises(ArgumentError) as info:
        Decoder(config, params, impl=impl)
    assert info.value.name == name


def test_no_weights_are_drawn_that_would_leave_a_feature_out():
    config = dataclasses.replace(PLAIN, moe=MOE)
    with pytest.raises(ArgumentError, match=r"config\.moe"):
        Params.random(config, 0, impl="numpy")


def test_each_checked_setting_has_a_case_here():
    covered = {name.split(".")[1] for name in REFUSED}
    assert covered == set(COMPUTED)


def test_all_features_that_are_not_computed_are_named_at_once():
    with pytest.raises(ArgumentError) as info:
        check_supported(CONFIGS["gpt-oss-20b"])
    shown = str(info.value)
    for part in (
        "config.biases",
        "config.ffn.clamp",
        "config.attention.sink_logits",
        "config.moe",
        "{attn_out, ffn, qkv, router}",
        "MoEConfig",
    ):
        assert part in shown


def test_what_runs_is_what_is_like_llama():
    runs = []
    for name, config in CONFIGS.items():
        try:
            check_supported(config)
        except ArgumentError:
            continue
        runs.append(name)
    families = ("smollm2", "tinyllama", "llama", "mistral", "deepseek-67b")
    assert runs == [name for name in CONFIGS if name.startswith(families)]
    assert len(runs) == 14
