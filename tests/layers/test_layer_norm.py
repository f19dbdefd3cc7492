"""layer_norm, beside torch's and number by number; rms_norm by head."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cutaway.core import ArgumentError
from cutaway.layers import from_numpy, layer_norm, rms_norm, to_numpy

IMPLS = ("numpy", "torch")


def run(impl, x, *vectors, eps=1e-5, norm=layer_norm):
    arrays = [from_numpy(array, impl=impl) for array in (x, *vectors)]
    return to_numpy(norm(*arrays, eps, impl=impl), impl=impl)


def by_hand(row, weight, bias, eps):
    mean = sum(row) / len(row)
    variance = sum((v - mean) ** 2 for v in row) / len(row)
    scale = (variance + eps) ** -0.5
    return [
        (v - mean) * scale * w + b
        for v, w, b in zip(row, weight, bias, strict=True)
    ]


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("shape", [(1, 1), (3, 6), (2, 4, 7), (5, 576)])
@pytest.mark.parametrize("eps", [1e-5, 0.5])
def test_it_equals_the_formula(impl, shape, eps):
    rng = np.random.default_rng(0)
    x = 3 + rng.standard_normal(shape)
    weight, bias = rng.standard_normal((2, shape[-1]))
    got = run(impl, x, weight, bias, eps=eps)
    want = [by_hand(row, weight, bias, eps) for row in x.reshape(-1, shape[-1])]
    np.testing.assert_allclose(got.reshape(len(want), -1), want, atol=1e-12)
    assert got.shape == shape


@pytest.mark.parametrize("impl", IMPLS)
def test_mean_and_size_of_a_row_do_not_matter(impl):
    x = np.random.default_rng(0).standard_normal((4, 30))
    ones, zeros = np.ones(30), np.zeros(30)
    want = run(impl, x, ones, zeros, eps=0.0)
    np.testing.assert_allclose(want.mean(-1), 0, atol=1e-12)
    np.testing.assert_allclose(want.std(-1), 1, rtol=1e-12)
    got = run(impl, 7 * x - 2, ones, zeros, eps=0.0)
    np.testing.assert_allclose(got, want, atol=1e-12)


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_the_dtype_is_kept_and_half_precision_does_not_overflow(impl, dtype):
    x = np.array([[3e4, -3e4, 1.0, 0.0]], dtype)
    weight, bias = np.ones(4, dtype), np.zeros(4, dtype)
    got = run(impl, x, weight, bias)
    assert got.dtype == dtype
    want = by_hand([3e4, -3e4, 1.0, 0.0], [1] * 4, [0] * 4, 1e-5)
    np.testing.assert_allclose(got[0], want, rtol=2e-3, atol=1e-3)


@pytest.mark.parametrize("impl", IMPLS)
def test_rms_norm_of_heads_is_that_of_each_head(impl):
    rng = np.random.default_rng(0)
    x, weight = rng.standard_normal((5, 3, 8)), rng.standard_normal(8)
    got = run(impl, x, weight, norm=rms_norm)
    rows = run(impl, x.reshape(15, 8), weight, norm=rms_norm)
    np.testing.assert_array_equal(got.reshape(15, 8), rows)


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"x": np.zeros((2, 3), int)}, "x.dtype"),
        ({"weight": np.ones(2)}, "weight.shape"),
        ({"bias": np.ones(4)}, "bias.shape"),
        ({"bias": torch.ones(3)}, "bias"),
        ({"eps": -1.0}, "eps"),
    ],
)
def test_bad_arguments_are_named(wrong, name):
    good = {"x": np.ones((2, 3)), "weight": np.ones(3), "bias": np.ones(3)}
    with pytest.raises(ArgumentError) as info:
        layer_norm(**{**good, "eps": 1e-5, **wrong}, impl="numpy")
    assert info.value.name == name
