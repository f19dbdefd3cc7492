"""rms_norm: against loops, its invariances, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cutaway.core import ArgumentError
from cutaway.layers import rms_norm
from oracles import loops
from oracles.budget import assert_within_budget

SHAPES = [(0, 4), (1, 1), (1, 59), (3, 6), (5, 576)]


def draw(rows, width, seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, width)) * rng.uniform(0.01, 30, (rows, 1))
    return x, rng.standard_normal(width)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_numpy_rms_norm_equals_the_loops(shape, eps):
    x, w = draw(*shape)
    got = rms_norm(x, w, eps, impl="numpy")
    np.testing.assert_allclose(
        got, loops.rms_norm(x, w, eps), rtol=1e-12, atol=1e-12
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_torch_rms_norm_keeps_the_error_budget(shape):
    x, w = (a.astype(np.float32) for a in draw(*shape))
    got = rms_norm(torch.from_numpy(x), torch.from_numpy(w), 1e-5, impl="torch")
    assert_within_budget(
        got.numpy(),
        rms_norm(x, w, 1e-5, impl="numpy"),
        loops.rms_norm(x, w, 1e-5),
    )


def test_torch_rms_norm_in_float64_equals_the_loops():
    x, w = draw(3, 59)
    got = rms_norm(torch.from_numpy(x), torch.from_numpy(w), 1e-5, impl="torch")
    np.testing.assert_allclose(got, loops.rms_norm(x, w, 1e-5), rtol=1e-12)


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_a_zero_row_stays_zero(impl):
    x, w = np.zeros((2, 4), np.float32), np.ones(4, np.float32)
    if impl == "torch":
        x, w = torch.from_numpy(x), torch.from_numpy(w)
    assert np.asarray(rms_norm(x, w, 1e-5, impl=impl)).tolist() == [[0] * 4] * 2


def test_the_length_of_a_row_does_not_matter_and_its_mean_is_kept():
    x, w = draw(4, 30)
    ones = np.ones_like(w)
    got = rms_norm(x, ones, 0.0, impl="numpy")
    np.testing.assert_allclose((got**2).mean(axis=1), 1, rtol=1e-12)
    np.testing.assert_allclose(
        rms_norm(1000 * x, ones, 0.0, impl="numpy"), got, rtol=1e-12
    )
    assert np.abs(got.mean(axis=1)).max() > 0.01  # LayerNorm would give 0


def test_gemma_multiplies_by_one_plus_what_its_files_hold():
    from transformers.models.gemma.modeling_gemma import GemmaRMSNorm

    x, stored = (a.astype(np.float32) for a in draw(3, 59))
    theirs = GemmaRMSNorm(59, eps=1e-6)
    theirs.weight.data = torch.from_numpy(stored)
    expected = theirs(torch.from_numpy(x)).detach().numpy()
    got = rms_norm(x, 1 + stored, 1e-6, impl="numpy")
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    plain = rms_norm(x, stored, 1e-6, impl="numpy")
    assert np.abs(plain - expected).max() > 0.5


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_epsilon_is_added_inside_the_root(impl):
    x, w = np.full((1, 4), 1e-3), np.ones(4)
    if impl == "torch":
        x, w = torch.from_numpy(x), torch.from_numpy(w)
    got = np.asarray(rms_norm(x, w, 1e-5, impl=impl))
    np.testing.assert_allclose(got, 1e-3 / (1.1e-5) ** 0.5, rtol=1e-12)


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_float16_rows_whose_squares_overflow_are_normalised(impl):
    rows = [[60000, -300, 1, 0], [256, 256, -256, 256], [1, -2, 2, 0]]
    x, w = np.array(rows, np.float16), np.ones(4, np.float16)
    expected = loops.rms_norm(x.astype(np.float64), w, 1e-5)
    if impl == "torch":
        x, w = torch.from_numpy(x), torch.from_numpy(w)
    got = np.asarray(rms_norm(x, w, 1e-5, impl=impl))
    assert got.dtype == np.float16
    np.testing.assert_allclose(got, expected, rtol=2e-3, atol=1e-6)


def test_a_weight_of_another_width_is_named():
    with pytest.raises(ArgumentError, match=r"weight.shape: got \(3,\)"):
        rms_norm(np.zeros((2, 4)), np.ones(3), 1e-5, impl="numpy")


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["int64", "uint8", "bool", "complex64"])
def test_rows_that_are_no_floats_are_refused(impl, dtype):
    # the result has the dtype of the rows: integers would lose all of it
    x, w = np.ones((2, 4), dtype), np.ones(4)
    if impl == "torch":
        x, w = torch.from_numpy(x), torch.from_numpy(w)
    with pytest.raises(ArgumentError, match=rf"x\.dtype: got {dtype}"):
        rms_norm(x, w, 1e-5, impl=impl)


@pytest.mark.parametrize("eps", [-1e-9, float("nan"), None])
def test_a_bad_epsilon_is_named(eps):
    with pytest.raises(ArgumentError) as info:
        rms_norm(np.zeros((2, 4)), np.ones(4), eps, impl="numpy")
    assert info.value.name == "eps"


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rms_norm_keeps_the_dtype_whatever_epsilon_is(impl, dtype):
    x, w = np.ones((2, 4), dtype), np.ones(4, dtype)
    if impl == "torch":
        x, w = torch.from_numpy(x), torch.from_numpy(w)
    got = rms_norm(x, w, np.float64(1e-5), impl=impl)
    assert str(got.dtype).endswith(dtype)
