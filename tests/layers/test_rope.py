"""Rotary embedding: against complex numbers, its invariants, both layouts."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.core import ArgumentError
from cutaway.layers import apply_rope, rope_frequencies, rope_tables, rotate
from oracles import loops
from oracles.budget import assert_within_budget

LAYOUTS = ["interleaved", "half_split"]
SHAPES = [(0, 2, 4), (1, 1, 2), (3, 9, 64), (5, 3, 6), (4, 2, 128)]
THETA = 100000.0


def draw(shape, seed=0):
    rng = np.random.default_rng(seed)
    positions = rng.integers(0, 8192, shape[0])
    return rng.standard_normal(shape), positions


def permuted(weight, heads, head_dim):
    """How a converter to GGUF reorders rows of wq and wk of llama files."""
    shape = (heads, 2, head_dim // 2, *weight.shape[1:])
    return weight.reshape(shape).swapaxes(1, 2).reshape(weight.shape)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_numpy_rope_equals_complex_multiplication(shape, layout):
    x, positions = draw(shape)
    frequencies = rope_frequencies(shape[-1], THETA)
    got = apply_rope(x, positions, frequencies, layout=layout, impl="numpy")
    want = loops.rope(x, positions, THETA, layout)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_torch_rope_keeps_the_error_budget(shape, layout):
    x, positions = draw(shape, seed=1)
    x = x.astype(np.float32)
    frequencies = rope_frequencies(shape[-1], THETA)
    options = {"layout": layout}
    got = apply_rope(
        torch.from_numpy(x),
        torch.from_numpy(positions),
        frequencies,
        **options,
        impl="torch",
    )
    assert_within_budget(
        got.numpy(),
        apply_rope(x, positions, frequencies, **options, impl="numpy"),
        loops.rope(x, positions, THETA, layout),
    )


@pytest.mark.parametrize("layout", LAYOUTS)
def test_torch_rope_in_float64_equals_complex_multiplication(layout):
    x, positions = draw((4, 3, 6))
    got = apply_rope(
        torch.from_numpy(x),
        torch.from_numpy(positions),
        rope_frequencies(6, THETA),
        layout=layout,
        impl="torch",
    )
    want = loops.rope(x, positions, THETA, layout)
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


def test_a_quarter_turn_sends_a_to_b_and_b_to_minus_a():
    # (x cos - y sin, x sin + y cos): the sign errors of public tutorials
    cos, sin = np.array([[0.0]]), np.array([[1.0]])
    x = np.array([[[3.0, 4.0]]])
    for layout in LAYOUTS:
        got = rotate(x, cos, sin, layout=layout, impl="numpy")
        assert got.tolist() == [[[-4.0, 3.0]]]


def test_the_layouts_pair_different_dimensions():
    cos, sin = np.array([[0.0, 1.0]]), np.array([[1.0, 0.0]])  # turn pair 0
    x = np.array([[[1.0, 2.0, 3.0, 4.0]]])
    got = {
        name: rotate(x, cos, sin, layout=name, impl="numpy")[0, 0].tolist()
        for name in LAYOUTS
    }
    assert got == {
        "interleaved": [-2.0, 1.0, 3.0, 4.0],
        "half_split": [-3.0, 2.0, 1.0, 4.0],
    }


@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    position=st.integers(0, 100_000),
    half=st.integers(1, 33),
    layout=st.sampled_from(LAYOUTS),
    seed=st.integers(0, 9),
)
def test_rotation_keeps_lengths(position, half, layout, seed):
    x = np.random.default_rng(seed).standard_normal((1, 2, 2 * half))
    got = apply_rope(
        x,
        np.array([position]),
        rope_frequencies(2 * half, THETA),
        layout=layout,
        impl="numpy",
    )
    np.testing.assert_allclose(
        np.linalg.norm(got, axis=-1), np.linalg.norm(x, axis=-1), rtol=1e-12
    )


@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    positions=st.tuples(st.integers(0, 4000), st.integers(0, 4000)),
    shift=st.integers(0, 4000),
    layout=st.sampled_from(LAYOUTS),
)
def test_only_the_distance_of_two_tokens_enters_their_product(
    positions, shift, layout
):
    qk = np.random.default_rng(3).standard_normal((2, 1, 64))
    frequencies = rope_frequencies(64, THETA)

    def product(by):
        turned = apply_rope(
            qk,
            np.array(positions) + by,
            frequencies,
            layout=layout,
            impl="numpy",
        )
        return turned[0, 0] @ turned[1, 0]

    assert product(shift) == pytest.approx(product(0), abs=1e-9)


def test_position_zero_turns_nothing_and_the_others_do():
    x = np.ones((2, 1, 8))
    got = apply_rope(
        x,
        np.array([0, 1]),
        rope_frequencies(8, 1e4),
        layout="half_split",
        impl="numpy",
    )
    assert got[0].tolist() == x[0].tolist()
    assert np.abs(got[1] - x[1]).max() > 0.5


def test_permuting_the_rows_of_q_and_k_turns_one_layout_into_the_other():
    heads, head_dim, hidden, tokens = 3, 8, 5, 4
    rng = np.random.default_rng(4)
    wq = rng.standard_normal((heads * head_dim, hidden))
    wk = rng.standard_normal((heads * head_dim, hidden))
    x = rng.standard_normal((tokens, hidden))
    frequencies = rope_frequencies(head_dim, THETA)
    positions = np.arange(tokens) * 7

    def scores(wq, wk, layout):
        q, k = (
            apply_rope(
                (x @ w.T).reshape(tokens, heads, head_dim),
                positions,
                frequencies,
                layout=layout,
                impl="numpy",
            )
            for w in (wq, wk)
        )
        return np.einsum("ihd,jhd->hij", q, k)

    half_split = scores(wq, wk, "half_split")
    moved = [permuted(w, heads, head_dim) for w in (wq, wk)]
    np.testing.assert_allclose(
        scores(*moved, "interleaved"), half_split, atol=1e-12
    )
    # row h*d + 2j + s of the one is row h*d + s*d/2 + j of the other
    assert np.array_equal(moved[0][8 + 2 * 3 + 1], wq[8 + 4 + 3])
    # and without the permutation the two layouts are told apart
    assert np.abs(scores(wq, wk, "interleaved") - half_split).max() > 0.1


def test_half_split_equals_the_rotary_embedding_of_transformers():
    from transformers.models.llama import modeling_llama
    from transformers.models.llama.configuration_llama import LlamaConfig

    config = LlamaConfig(
        hidden_size=128,
        num_attention_heads=2,
        head_dim=64,
        rope_parameters={"rope_type": "default", "rope_theta": THETA},
    )
    rotary = modeling_llama.LlamaRotaryEmbedding(config)
    generator = torch.Generator().manual_seed(0)
    q = torch.randn(1, 2, 50, 64, generator=generator)
    positions = torch.arange(50)
    cos, sin = rotary(q, positions[None])
    want, _ = modeling_llama.apply_rotary_pos_emb(q, q, cos, sin)
    got = apply_rope(
        q[0].transpose(0, 1),
        positions,
        rope_frequencies(64, THETA),
        layout="half_split",
        impl="torch",
    )
    torch.testing.assert_close(got, want[0].transpose(0, 1), rtol=0, atol=2e-5)


def test_frequencies_fall_from_one_to_little_over_one_over_theta():
    frequencies = rope_frequencies(64, THETA)
    assert frequencies.dtype == np.float64
    assert frequencies.shape == (32,)
    assert frequencies[0] == 1
    assert frequencies[-1] == pytest.approx(THETA ** (-62 / 64), rel=1e-12)
    ratios = frequencies[1:] / frequencies[:-1]
    np.testing.assert_allclose(ratios, THETA ** (-1 / 32), rtol=1e-12)


def test_tables_far_out_are_as_exact_as_near_ones():
    # in float32 the angle of position 8191 alone is wrong by up to 2.4e-4
    frequencies = rope_frequencies(64, THETA)
    positions = np.array([3, 8191])
    cos, sin = rope_tables(
        positions, frequencies, dtype=np.float32, impl="numpy"
    )
    angles = positions[:, None] * frequencies
    np.testing.assert_allclose(cos, np.cos(angles), atol=1e-7)
    np.testing.assert_allclose(sin, np.sin(angles), atol=1e-7)


@pytest.mark.parametrize(
    ("head_dim", "theta", "name"),
    [
        (7, 1e4, "head_dim"),
        (0, 1e4, "head_dim"),
        (8.0, 1e4, "head_dim"),
        (8, 0.0, "theta"),
        (8, float("nan"), "theta"),
    ],
)
def test_frequencies_refuse_bad_sizes(head_dim, theta, name):
    with pytest.raises(ArgumentError) as info:
        rope_frequencies(head_dim, theta)
    assert info.value.name == name


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_rotation_refuses_integers(impl):
    x = np.ones((2, 1, 8), np.int64)
    positions = np.arange(2)
    if impl == "torch":
        x, positions = torch.from_numpy(x), torch.from_numpy(positions)
    frequencies = rope_frequencies(8, 1e4)
    with pytest.raises(ArgumentError, match=r"x\.dtype: got int64"):
        apply_rope(x, positions, frequencies, layout="half_split", impl=impl)


def test_rotation_refuses_what_does_not_fit():
    x, frequencies = np.zeros((2, 1, 8)), rope_frequencies(8, 1e4)
    with pytest.raises(ArgumentError, match="'interleaved', 'half_split'"):
        apply_rope(x, np.arange(2), frequencies, layout="neox", impl="numpy")
    with pytest.raises(
        ArgumentError, match=r"x\.shape"
    ):  # 2 tokens, 3 positions
        apply_rope(
            x, np.arange(3), frequencies, layout="half_split", impl="numpy"
        )
    with pytest.raises(ArgumentError, match=r"x\.shape"):
        apply_rope(
            x,
            np.arange(2),
            rope_frequencies(6, 1e4),
            layout="half_split",
            impl="numpy",
        )
