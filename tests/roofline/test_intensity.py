"""Closed forms of arithmetic intensity against counting."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.core import CutawayError
from cutaway.roofline import (
    CONFIGS,
    attention_intensity,
    forward_counts,
    gemm_critical_rows,
    gemm_intensity,
    hardware,
    mla_decode_intensity,
    mlp_intensity,
)

SIZE = st.integers(1, 5000)
WIDTH = st.sampled_from([0.5, 1, 2, 4])


@given(SIZE, SIZE, SIZE, WIDTH)
def test_a_matrix_product_reads_two_operands_and_writes_one(b, d, f, size):
    moved = size * (b * d + d * f + b * f)
    assert gemm_intensity(b, d, f, size) == pytest.approx(
        2 * b * d * f / moved, rel=1e-12
    )


def test_in_16_bits_the_intensity_is_nearly_the_rows():
    for rows in (1, 8, 64):
        assert gemm_intensity(rows, 8192, 28672) == pytest.approx(
            rows, rel=0.011
        )
    # Not any more when the rows are as many as the matrix is wide.
    assert gemm_intensity(8192, 8192, 8192) == pytest.approx(8192 / 3)


def test_other_sizes_of_elements_scale_it():
    assert gemm_intensity(64, 4096, 4096, 4) == pytest.approx(
        gemm_intensity(64, 4096, 4096, 2) / 2
    )


@given(SIZE, SIZE, SIZE)
def test_a_projection_of_the_model_counts_the_same(rows, width_in, width_out):
    config = replace(
        CONFIGS["smollm2-135m"], hidden_size=width_in, ffn_size=width_out
    )
    ops = forward_counts(
        config,
        rows,
        0,
        weight_bytes_per_param=2,
        kv_bytes_per_element=2,
        activation_bytes_per_element=2,
    )
    [op] = [op for op in ops if op.name == "w_up"]
    assert op.intensity == pytest.approx(
        gemm_intensity(rows, width_in, width_out), rel=1e-12
    )


@given(SIZE, SIZE, SIZE)
def test_the_gated_network_is_three_products_with_shared_operands(n, d, f):
    flops = 3 * 2 * n * d * f
    moved = 2 * (n * d + 2 * n * f + n * d + 3 * d * f)
    assert mlp_intensity(n, d, f) == pytest.approx(flops / moved, rel=1e-12)


def test_the_gated_network_is_nearly_its_tokens():
    assert mlp_intensity(1, 4096, 14336) == pytest.approx(1, rel=0.001)
    assert mlp_intensity(64, 4096, 14336) == pytest.approx(64, rel=0.02)


def test_attention_without_sharing_stays_below_one_in_decode():
    for keys in (1, 7, 1024, 131_072):
        assert attention_intensity(1, keys) == pytest.approx(keys / (keys + 1))
        assert attention_intensity(1, keys, 40, 40) < 1
    for tokens in (2, 512, 4096):
        assert attention_intensity(tokens, tokens) == pytest.approx(tokens / 2)


def test_sharing_heads_raises_it_to_at_most_their_ratio():
    for heads, kv_heads in ((32, 8), (9, 3), (71, 1)):
        limit = heads / kv_heads
        far = attention_intensity(1, 10**6, heads, kv_heads)
        assert 0.999 * limit < far < limit
    # In prefill it is worth at most a factor of two.
    mha, mqa = (attention_intensity(512, 512, 64, n) for n in (64, 1))
    assert 1.9 * mha < mqa < 2 * mha
    assert mqa == pytest.approx(512 / (1 + 1 / 64))


@given(st.integers(1, 300), st.integers(1, 300), st.sampled_from([1, 2, 4, 8]))
def test_attention_counts_queries_keys_values_and_outputs(q_len, kv_len, kv):
    heads, head_dim = 8, 64
    flops = 2 * 2 * q_len * kv_len * heads * head_dim
    moved = 2 * head_dim * (2 * q_len * heads + 2 * kv_len * kv)
    assert attention_intensity(q_len, kv_len, heads, kv) == pytest.approx(
        flops / moved, rel=1e-12
    )


def test_latent_attention_of_128_heads_in_decode():
    assert mla_decode_intensity(128) == pytest.approx(
        2 * 128 * (576 + 512) / (576 * 2), rel=1e-12
    )
    assert round(mla_decode_intensity(128), 1) == 241.8
    assert mla_decode_intensity(1) == pytest.approx(241.8 / 128, rel=1e-3)


@pytest.mark.parametrize(
    ("width_in", "width_out"), [(4096, 14336), (2048, 2048), (576, 49152)]
)
def test_from_the_critical_rows_a_product_waits_for_arithmetic(
    width_in, width_out
):
    machine = hardware("h100-sxm")
    ridge = machine.ridge("bfloat16")
    rows = gemm_critical_rows(width_in, width_out, machine)
    assert rows > ridge
    assert gemm_intensity(int(rows), width_in, width_out) < ridge
    assert gemm_intensity(int(rows) + 1, width_in, width_out) > ridge


def test_a_small_matrix_never_waits_for_arithmetic():
    machine = hardware("h100-sxm")
    assert gemm_critical_rows(576, 192, machine) is None
    limit = 576 * 192 / (576 + 192)
    assert gemm_intensity(10**9, 576, 192) == pytest.approx(limit, rel=1e-4)
    assert limit < machine.ridge("bfloat16")


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: gemm_intensity(0, 1, 1), "rows"),
        (lambda: gemm_intensity(1, 1.5, 1), "width_in"),
        (lambda: gemm_intensity(1, 1, -1), "width_out"),
        (lambda: gemm_intensity(1, 1, 1, 0), "bytes_per_element"),
        (lambda: mlp_intensity(0, 1, 1), "num_tokens"),
        (lambda: mlp_intensity(1, 1, 1, float("nan")), "bytes_per_element"),
        (lambda: attention_intensity(0, 1), "q_len"),
        (lambda: attention_intensity(1, 0), "kv_len"),
        (lambda: attention_intensity(1, 1, 8, 3), "num_kv_heads"),
        (lambda: attention_intensity(1, 1, bytes_per_element=-1), "bytes"),
        (lambda: mla_decode_intensity(0), "num_heads"),
        (lambda: mla_decode_intensity(1, 0), "latent_width"),
        (lambda: mla_decode_intensity(1, bytes_per_element=0), "bytes"),
        (
            lambda: gemm_critical_rows(1, 1, hardware("h100-sxm"), "int3"),
            "dtype",
        ),
        (lambda: gemm_critical_rows(0, 1, hardware("h100-sxm")), "width_in"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(CutawayError, match=name):
        call()
