"""Parameters of models: published counts, transformers, active experts."""

from __future__ import annotations

import dataclasses

import pytest

from cutaway.core import CutawayError, ModelConfig, MoEConfig
from cutaway.roofline import (
    CONFIGS,
    active_params,
    attention_params,
    matmul_params,
    num_params,
)

TINY = ModelConfig(
    num_layers=3,
    hidden_size=8,
    num_heads=2,
    num_kv_heads=1,
    head_dim=4,
    ffn_size=16,
    vocab_size=30,
    rope_theta=1e4,
    norm_eps=1e-5,
    max_seq_len=64,
)


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


# total and active, in billions, as published to that many digits
PUBLISHED = {
    "mixtral-8x7b": (46.7, 12.9, True),
    "qwen3-235b-a22b": (235, 22, True),
    "gpt-oss-20b": (20.91, 3.61, False),
    "gpt-oss-120b": (116.83, 5.13, False),
    "deepseek-v2": (236, 21, True),
    "deepseek-v3": (671, 37, False),
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_active_parameters_round_to_the_published_ones(name):
    total, active, input_embedding = PUBLISHED[name]
    config = CONFIGS[name]
    found = active_params(config, input_embedding=input_embedding)
    for ours, theirs in ((num_params(config), total), (found, active)):
        digits = len(str(theirs).partition(".")[2])
        assert round(ours / 1e9, digits) == theirs


def test_all_parameters_of_a_dense_model_are_active():
    for name, config in CONFIGS.items():
        if config.moe is None:
            assert active_params(config) == num_params(config), name


def test_an_embedding_that_is_the_output_matrix_counts_in_any_case():
    tied, untied = CONFIGS["qwen3-4b"], CONFIGS["qwen3-8b"]
    assert active_params(tied, input_embedding=False) == num_params(tied)
    assert active_params(untied, input_embedding=False) == (
        num_params(untied) - 151_936 * 4096
    )


@pytest.mark.parametrize("bad", [None, 1, "no"])
def test_whether_the_embedding_counts_is_true_or_false(bad):
    with pytest.raises(CutawayError, match="input_embedding"):
        active_params(CONFIGS["gpt2"], input_embedding=bad)


def test_active_parameters_grow_with_the_experts_a_token_picks():
    config = CONFIGS["mixtral-8x7b"]

    def active(chosen):
        moe = dataclasses.replace(config.moe, experts_per_token=chosen)
        return active_params(dataclasses.replace(config, moe=moe))

    expert = 32 * 3 * 4096 * 14336
    assert [active(k + 1) - active(k) for k in range(1, 8)] == [expert] * 7
    assert active(8) == num_params(config)


def test_router_and_shared_experts_are_always_active():
    moe = MoEConfig(
        num_experts=6,
        experts_per_token=2,
        expert_ffn_size=5,
        num_shared_experts=1,
        num_dense_layers=1,
    )
    config = dataclasses.replace(TINY, moe=moe)
    dense, expert, router = 3 * 8 * 16, 3 * 8 * 5, 8 * 6
    matrices = 3 * attention_params(config) + 30 * 8
    assert matmul_params(config) == (
        matrices + dense + 2 * (router + 3 * expert)
    )
    assert num_params(config) - active_params(config) == 2 * 4 * expert


def test_latent_attention_counts_its_low_rank_pairs():
    config = CONFIGS["deepseek-v2-lite"]  # its queries have one matrix
    queries = 2048 * 16 * 192
    latent = 2048 * 576 + 512 * 16 * (128 + 128)
    assert attention_params(config) == queries + latent + 16 * 128 * 2048


def test_gpt3_follows_the_rule_of_twelve():
    # 12 L d^2 for the matrices, the embeddings besides
    config = CONFIGS["gpt-3-175b"]
    matrices = matmul_params(config) - 50_257 * 12_288
    assert matrices == 12 * 96 * 12_288**2
    assert round(matrices / 1e9, 2) == 173.95
    positions_and_vocabulary = (50_257 + 2048) * 12_288
    assert round((matrices + positions_and_vocabulary) / 1e9, 2) == 174.59
