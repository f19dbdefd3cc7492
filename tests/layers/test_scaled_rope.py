"""Scaled rotary frequencies: equal to transformers, kind by kind."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from transformers.modeling_rope_utils import ROPE_INIT_FUNCTIONS
from transformers.models.llama.configuration_llama import LlamaConfig
from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

from cutaway.core import (
    ArgumentError,
    DynamicScaling,
    LinearScaling,
    Llama3Scaling,
    NTKScaling,
    YarnScaling,
)
from cutaway.core.rope_scaling_files import rope_scaling_from_hf
from cutaway.layers import (
    apply_rope,
    ntk_theta,
    pair_counts,
    rope_frequencies,
    rope_tables,
    rotate,
    scaled_frequencies,
    yarn_mscale,
    yarn_range,
)

LLAMA_3_1 = {
    "rope_type": "llama3",
    "factor": 8.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 8192,
}
GPT_OSS = {
    "rope_type": "yarn",
    "factor": 32.0,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "original_max_position_embeddings": 4096,
    "truncate": False,
}
DEEPSEEK_V3 = {
    "rope_type": "yarn",
    "factor": 40.0,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "mscale": 1.0,
    "mscale_all_dim": 1.0,
    "original_max_position_embeddings": 4096,
}
CASES = {
    "default": (64, 1e5, {"rope_type": "default"}),
    "linear": (64, 1e4, {"rope_type": "linear", "factor": 2.0}),
    "dynamic": (64, 1e4, {"rope_type": "dynamic", "factor": 4.0}),
    "llama-3.1": (128, 5e5, LLAMA_3_1),
    "llama-3.2": (64, 5e5, {**LLAMA_3_1, "factor": 32.0}),
    "llama3, narrow": (6, 1e4, {**LLAMA_3_1, "high_freq_factor": 1.5}),
    "yarn": (128, 1e6, {**GPT_OSS, "truncate": True, "factor": 4.0}),
    "gpt-oss": (64, 1.5e5, GPT_OSS),
    "deepseek-v3": (64, 1e4, DEEPSEEK_V3),
    "deepseek-v2": (
        64,
        1e4,
        {**DEEPSEEK_V3, "mscale": 0.707, "mscale_all_dim": 1.414},
    ),
    "one mscale": (64, 1e4, {**DEEPSEEK_V3, "mscale_all_dim": 0.0}),
    "stated factor": (64, 1e4, {**GPT_OSS, "attention_factor": 1.25}),
    "ramp of no width": (
        64,
        1e4,
        {**GPT_OSS, "beta_fast": 1.00001, "truncate": False},
    ),
    "ramp off the end": (
        8,
        1e4,
        {**GPT_OSS, "original_max_position_embeddings": 1 << 30},
    ),
    "factor of one": (64, 1e4, {**GPT_OSS, "factor": 1.0}),
}


def config(head_dim, theta, rope, max_position_embeddings=131072):
    return LlamaConfig(
        hidden_size=4 * head_dim,
        num_attention_heads=4,
        head_dim=head_dim,
        rope_parameters={"rope_theta": theta, **rope},
        max_position_embeddings=max_position_embeddings,
    )


@pytest.mark.parametrize("name", CASES)
def test_frequencies_and_factor_equal_transformers(name):
    head_dim, theta, rope = CASES[name]
    hf = config(head_dim, theta, rope)
    if rope["rope_type"] == "default":
        rotary = LlamaRotaryEmbedding(hf)
        want, factor = rotary.inv_freq, rotary.attention_scaling
    else:
        want, factor = ROPE_INIT_FUNCTIONS[rope["rope_type"]](hf, "cpu")
    scaling = rope_scaling_from_hf(rope, max_seq_len=131072)
    got, got_factor = scaled_frequencies(head_dim, theta, scaling)
    assert got.dtype == np.float64
    np.testing.assert_allclose(got, want.double().numpy(), rtol=1e-6)
    assert got_factor == pytest.approx(factor, rel=1e-12)


@pytest.mark.parametrize("num_tokens", [None, 1, 2048, 2049, 4096, 10_000])
def test_dynamic_scaling_equals_transformers_at_every_length(num_tokens):
    hf = config(64, 1e4, {"rope_type": "dynamic", "factor": 4.0}, 2048)
    want, _ = ROPE_INIT_FUNCTIONS["dynamic"](hf, "cpu", seq_len=num_tokens)
    scaling = DynamicScaling(factor=4.0, original_max_seq_len=2048)
    got, factor = scaled_frequencies(64, 1e4, scaling, num_tokens=num_tokens)
    np.testing.assert_allclose(got, want.double().numpy(), rtol=1e-6)
    assert factor == 1
    changed = num_tokens is not None and num_tokens > 2048
    assert np.array_equal(got, rope_frequencies(64, 1e4)) == (not changed)


@pytest.mark.parametrize("name", ["llama-3.1", "gpt-oss", "deepseek-v2"])
@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_turned_queries_equal_those_of_transformers(name, impl):
    head_dim, theta, rope = CASES[name]
    x = torch.randn(3, 2, head_dim, generator=torch.Generator().manual_seed(0))
    positions = torch.tensor([0, 77, 1500])
    hf = config(head_dim, theta, rope)
    cos, sin = LlamaRotaryEmbedding(hf)(x, positions[None])
    half = x.shape[-1] // 2
    swapped = torch.cat((-x[..., half:], x[..., :half]), dim=-1)
    want = x * cos[0, :, None] + swapped * sin[0, :, None]
    frequencies, factor = scaled_frequencies(
        head_dim, theta, rope_scaling_from_hf(rope, max_seq_len=131072)
    )
    given = x if impl == "torch" else x.numpy()
    tables = rope_tables(
        positions if impl == "torch" else positions.numpy(),
        frequencies,
        dtype=given.dtype,
        impl=impl,
        attention_factor=factor,
    )
    got = rotate(given, *tables, layout="half_split", impl=impl)
    # transformers takes its angles in float32: 1500 x 2^-24 and some more
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-3)


def test_static_ntk_keeps_the_fastest_pair_and_divides_the_slowest():
    plain = rope_frequencies(64, 1e4)
    got, factor = scaled_frequencies(64, 1e4, NTKScaling(factor=4.0))
    assert factor == 1
    assert got[0] == plain[0]
    assert got[-1] == pytest.approx(plain[-1] / 4, rel=1e-12)
    ratios = got / plain
    np.testing.assert_allclose(
        ratios[1:] / ratios[:-1], 4 ** (-1 / 31), rtol=1e-12
    )
    assert ntk_theta(64, 1e4, 4.0) == pytest.approx(1e4 * 4 ** (64 / 62))


def test_dynamic_scaling_at_f_times_the_length_is_ntk_by_another_factor():
    # f n / n0 - (f - 1) with n = f n0 is f^2 - f + 1, not f
    dynamic = DynamicScaling(factor=4.0, original_max_seq_len=100)
    got, _ = scaled_frequencies(64, 1e4, dynamic, num_tokens=400)
    want, _ = scaled_frequencies(64, 1e4, NTKScaling(factor=13.0))
    np.testing.assert_allclose(got, want, rtol=1e-12)


LLAMA3 = Llama3Scaling(
    factor=8.0,
    low_freq_factor=1.0,
    high_freq_factor=4.0,
    original_max_seq_len=8192,
)


def test_llama_3_1_keeps_29_pairs_blends_6_and_divides_29():
    assert pair_counts(128, 5e5, LLAMA3) == (29, 6, 29)
    plain = rope_frequencies(128, 5e5)
    got, _ = scaled_frequencies(128, 5e5, LLAMA3)
    assert np.array_equal(got[:29], plain[:29])
    np.testing.assert_allclose(got[35:], plain[35:] / 8, rtol=1e-15)
    between = got[29:35]
    assert (between < plain[29:35]).all()
    assert (between > plain[29:35] / 8).all()
    wavelengths = 2 * math.pi / plain
    assert wavelengths[28] < 8192 / 4 < wavelengths[29]
    assert wavelengths[34] < 8192 < wavelengths[35]


def test_yarn_ramps_of_gpt_oss_and_deepseek_are_the_published_ones():
    gpt_oss = YarnScaling(
        factor=32.0, original_max_seq_len=4096, truncate=False
    )
    low, high = yarn_range(64, 150000.0, gpt_oss)
    assert low == pytest.approx(8.0928, abs=5e-5)
    assert high == pytest.approx(17.3980, abs=5e-5)
    assert yarn_mscale(32.0) == pytest.approx(1.34657, abs=5e-6)
    whole = {"factor": 40.0, "original_max_seq_len": 4096}
    assert yarn_range(64, 1e4, YarnScaling(**whole)) == (10, 23)
    low, high = yarn_range(64, 1e4, YarnScaling(**whole, truncate=False))
    assert low == pytest.approx(10.47, abs=5e-3)
    assert high == pytest.approx(22.51, abs=5e-3)
    assert yarn_mscale(40.0) ** 2 == pytest.approx(1.87385, abs=5e-6)


def test_deepseek_takes_its_factor_out_of_cos_and_sin():
    deepseek = rope_scaling_from_hf(DEEPSEEK_V3, max_seq_len=4096)
    assert scaled_frequencies(64, 1e4, deepseek)[1] == 1.0


@pytest.mark.parametrize(
    ("scaling", "want"),
    [
        (LinearScaling(factor=2.0), (0, 0, 32)),
        (LinearScaling(factor=1.0), (32, 0, 0)),
        (NTKScaling(factor=2.0), (1, 30, 1)),
        (DynamicScaling(factor=2.0, original_max_seq_len=9), (32, 0, 0)),
    ],
)
def test_every_pair_is_kept_blended_or_divided(scaling, want):
    assert pair_counts(64, 1e4, scaling) == want


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: scaled_frequencies(7, 1e4, None), "head_dim"),
        (lambda: scaled_frequencies(8, 0.0, None), "theta"),
        (lambda: scaled_frequencies(8, 1e4, {"factor": 2}), "scaling"),
        (
            lambda: scaled_frequencies(8, 1e4, None, num_tokens=0),
            "num_tokens",
        ),
        (
            lambda: scaled_frequencies(2, 1e4, NTKScaling(factor=2.0)),
            "head_dim",
        ),
        (
            lambda: yarn_range(
                8, 1.0, YarnScaling(factor=2.0, original_max_seq_len=9)
            ),
            "theta",
        ),
        (lambda: ntk_theta(8, 1e4, 0.0), "factor"),
        (lambda: yarn_mscale(0.5), "factor"),
        (lambda: yarn_mscale(2.0, -1.0), "weight"),
        (
            lambda: rope_tables(
                np.arange(2),
                rope_frequencies(8, 1e4),
                dtype=np.float32,
                impl="numpy",
                attention_factor=0.0,
            ),
            "attention_factor",
        ),
    ],
)
def test_bad_input_is_named(call, name):
    with pytest.raises(ArgumentError) as info:
        call()
    assert info.value.name == name


def test_apply_rope_takes_scaled_frequencies_as_it_takes_plain_ones():
    x = np.random.default_rng(0).standard_normal((2, 1, 128))
    frequencies, _ = scaled_frequencies(128, 5e5, LLAMA3)
    options = {"layout": "half_split", "impl": "numpy"}
    far = apply_rope(x, np.array([8, 8000]), frequencies, **options)
    near = apply_rope(
        x, np.array([8, 8000]), rope_frequencies(128, 5e5), **options
    )
    fast, slow = np.r_[0:29, 64:93], np.r_[35:64, 99:128]
    assert np.array_equal(far[..., fast], near[..., fast])
    assert np.abs(far[..., slow] - near[..., slow]).max() > 0.1
