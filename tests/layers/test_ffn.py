"""swiglu: against loops, in the tails, and what it refuses."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch

from cutaway.core import ArgumentError
from cutaway.layers import swiglu
from oracles import loops
from oracles.budget import assert_within_budget

SHAPES = [(0, 4, 6), (1, 1, 1), (1, 5, 16), (3, 7, 13), (12, 6, 59)]


def draw(rows, hidden, ffn, seed=0):
    rng = np.random.default_rng(seed)
    shapes = ((rows, hidden), (ffn, hidden), (ffn, hidden), (hidden, ffn))
    return [rng.standard_normal(shape) for shape in shapes]


@pytest.mark.parametrize("shape", SHAPES)
def test_numpy_swiglu_equals_the_loops(shape):
    arrays = draw(*shape)
    np.testing.assert_allclose(
        swiglu(*arrays, impl="numpy"),
        loops.swiglu(*arrays),
        rtol=1e-12,
        atol=1e-12,
    )


@pytest.mark.parametrize("shape", SHAPES)
def test_torch_swiglu_keeps_the_error_budget(shape):
    arrays = [a.astype(np.float32) for a in draw(*shape, seed=1)]
    got = swiglu(*map(torch.from_numpy, arrays), impl="torch")
    assert_within_budget(
        got.numpy(), swiglu(*arrays, impl="numpy"), loops.swiglu(*arrays)
    )


def test_torch_swiglu_in_float64_equals_the_loops():
    arrays = draw(3, 7, 13)
    got = swiglu(*map(torch.from_numpy, arrays), impl="torch")
    np.testing.assert_allclose(got, loops.swiglu(*arrays), atol=1e-12)


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_a_gate_far_from_zero_is_open_or_shut_without_warnings(impl):
    x = np.array([[-500.0], [-89.0], [500.0]], np.float32)
    one = np.ones((1, 1), np.float32)
    arrays = [x, one, one, one]
    if impl == "torch":
        arrays = [torch.from_numpy(a) for a in arrays]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        got = np.asarray(swiglu(*arrays, impl=impl))
    np.testing.assert_allclose(got, [[0.0], [0.0], [250000.0]], atol=1e-30)


@pytest.mark.parametrize(
    ("index", "shape", "name"),
    [
        (1, (6, 5), "w_gate.shape"),
        (2, (7, 4), "w_up.shape"),
        (3, (6, 4), "w_down.shape"),
        (0, (4,), "x.shape"),
    ],
)
def test_matrices_that_do_not_fit_are_named(index, shape, name):
    arrays = draw(2, 4, 6)
    arrays[index] = np.zeros(shape)
    with pytest.raises(ArgumentError) as info:
        swiglu(*arrays, impl="numpy")
    assert info.value.name == name
