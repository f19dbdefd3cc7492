"""What "2 FLOPs a parameter" counts and forgets, and two famous formulas."""

from __future__ import annotations

import pytest

from cutaway.roofline import (
    CONFIGS,
    attention_flops_per_token,
    causal_pairs,
    forward_counts,
    matmul_params,
    num_params,
)

DENSE = ["smollm2-135m", "llama-2-7b", "llama-3.1-8b", "llama-3.1-70b"]


def attention_flops(config, q_len, context_len):
    ops = forward_counts(config, q_len, context_len)
    return sum(op.flops for op in ops if op.name in ("scores", "values"))


@pytest.mark.parametrize("model", DENSE)
def test_palms_factor_4_is_a_full_row_and_kaplans_2_its_causal_mean(model):
    config = CONFIGS[model]
    width = config.num_layers * config.num_heads * config.head_dim
    for n in (1, 16, 2048):
        assert attention_flops_per_token(config, n) == 4 * width * n
        assert attention_flops(config, 1, n - 1) == 4 * width * n
        # A whole text of n tokens: 2 a token and key, but for the diagonal.
        assert attention_flops(config, n, 0) == 2 * width * n * (n + 1)
        assert causal_pairs(n, 0) == n * (n + 1) // 2


def test_an_untied_input_embedding_does_no_arithmetic():
    config = CONFIGS["llama-3.1-8b"]
    [lookup] = [op for op in forward_counts(config, 5, 0) if op.name == "embed"]
    assert lookup.flops == 0
    table = config.vocab_size * config.hidden_size
    norms = (2 * config.num_layers + 1) * config.hidden_size
    assert num_params(config) - matmul_params(config) == table + norms
    assert matmul_params(config) == 7_504_658_432


def test_a_tied_table_counts_once_as_the_output_matrix():
    config = CONFIGS["smollm2-135m"]
    [output] = [
        op for op in forward_counts(config, 1, 0) if op.name == "unembed"
    ]
    assert output.flops == 2 * config.vocab_size * config.hidden_size
    norms = (2 * config.num_layers + 1) * config.hidden_size
    assert num_params(config) - matmul_params(config) == norms == 35_136


def test_kaplans_n_leaves_the_output_matrix_out():
    for model, layers_only in (
        ("smollm2-135m", 106_168_320),
        ("llama-3.1-8b", 6_979_321_856),
    ):
        config = CONFIGS[model]
        table = config.vocab_size * config.hidden_size
        assert matmul_params(config) - table == layers_only
