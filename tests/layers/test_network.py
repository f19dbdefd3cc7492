"""Networks of every kind, beside torch's activations and by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from torch.nn import functional

from cutaway.core import ArgumentError, FFNConfig
from cutaway.layers import (
    NetworkWeights,
    feed_forward,
    from_numpy,
    linear,
    soft_cap,
    swiglu,
    to_numpy,
)

IMPLS = ("numpy", "torch")
ACTIVATIONS = {
    "silu": functional.silu,
    "gelu_tanh": lambda x: functional.gelu(x, approximate="tanh"),
    "relu": functional.relu,
}


def draw(impl, *shapes, dtype=np.float64, seed=0):
    rng = np.random.default_rng(seed)
    arrays = (rng.standard_normal(shape).astype(dtype) for shape in shapes)
    return [from_numpy(array, impl=impl) for array in arrays]


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("gated", [True, False])
@pytest.mark.parametrize("biased", [True, False])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_it_is_down_of_the_activated(impl, gated, biased, activation):
    shapes = ((5, 3), (7, 3), (3, 7), (7, 3), 7, 3, 7)
    x, up, down, gate, *biases = draw("torch", *shapes)
    act, bias = ACTIVATIONS[activation], biases if biased else [0, 0, 0]
    hidden = x @ up.T + bias[0]
    hidden = act(x @ gate.T + bias[2]) * hidden if gated else act(hidden)
    want = hidden @ down.T + bias[1]
    x, up, down, gate, *biases = draw(impl, *shapes)
    if not gated:
        gate, biases[2] = None, None
    weights = NetworkWeights(up, down, gate, *(biases if biased else ()))
    kind = FFNConfig(gated=gated, activation=activation)
    got = feed_forward(x, weights, kind, impl=impl)
    np.testing.assert_allclose(to_numpy(got, impl=impl), want, atol=1e-12)


@pytest.mark.parametrize("impl", IMPLS)
def test_swiglu_is_the_default_bit_for_bit(impl):
    x, up, down, gate = draw(impl, (5, 3), (7, 3), (3, 7), (7, 3))
    weights = NetworkWeights(up, down, gate)
    got = feed_forward(x, weights, FFNConfig(), impl=impl)
    want = swiglu(x, gate, up, down, impl=impl)
    np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


@pytest.mark.parametrize("impl", IMPLS)
def test_gpt_oss_clamps_gate_and_content_and_adds_one(impl):
    one = from_numpy(np.eye(1), impl=impl)
    kind = FFNConfig(clamp=7.0, sigmoid_gain=1.702)
    weights = NetworkWeights(
        one,
        one,
        one,
        up_bias=from_numpy(np.array([0.5]), impl=impl),
        gate_bias=from_numpy(np.array([0.25]), impl=impl),
    )
    for x in (-20.0, -3.0, 0.0, 2.0, 20.0):
        gate = min(x + 0.25, 7.0)
        content = max(-7.0, min(x + 0.5, 7.0))
        want = gate / (1 + math.exp(-1.702 * gate)) * (content + 1)
        row = from_numpy(np.array([[x]]), impl=impl)
        got = feed_forward(row, weights, kind, impl=impl)
        assert float(got[0, 0]) == pytest.approx(want, rel=1e-12)


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("clamp", [None, 0.5])
def test_float32_stays_float32_and_nothing_overflows(impl, activation, clamp):
    up, gate = draw(impl, (4, 1), (4, 1), dtype=np.float32)
    (down,) = draw(impl, (1, 4), dtype=np.float32)
    x = np.array([[-1e4], [-200.0], [0.0], [200.0], [1e4]], np.float32)
    kind = FFNConfig(activation=activation, clamp=clamp, sigmoid_gain=2.0)
    weights = NetworkWeights(up, down, gate)
    got = to_numpy(
        feed_forward(from_numpy(x, impl=impl), weights, kind, impl=impl),
        impl=impl,
    )
    assert got.dtype == np.float32
    assert np.isfinite(got).all()


@pytest.mark.parametrize("impl", IMPLS)
def test_a_gate_is_there_when_it_should_be(impl):
    x, up, down, gate = draw(impl, (5, 3), (7, 3), (3, 7), (7, 3))
    for weights, gated in (
        (NetworkWeights(up, down, gate), False),
        (NetworkWeights(up, down), True),
    ):
        with pytest.raises(ArgumentError, match=r"weights\.gate"):
            feed_forward(x, weights, FFNConfig(gated=gated), impl=impl)


@pytest.mark.parametrize("impl", IMPLS)
def test_linear_adds_a_bias_to_every_row(impl):
    x, weight, bias = draw(impl, (2, 4, 3), (5, 3), 5)
    got = linear(x, weight, bias, impl=impl)
    want = linear(x, weight, impl=impl) + bias
    np.testing.assert_array_equal(np.asarray(got), np.asarray(want))
    with pytest.raises(ArgumentError, match=r"bias\.shape"):
        linear(x, weight, bias[1:], impl=impl)


@pytest.mark.parametrize("kind", [np.asarray, torch.tensor])
def test_a_soft_cap_keeps_small_numbers_and_bounds_large_ones(kind):
    x = kind(np.array([-1e6, -1.0, 0.0, 1e-3, 1e6], np.float32))
    got = np.asarray(soft_cap(x, 30.0))
    assert got.dtype == np.float32
    want = 30 * np.tanh(np.array([-1e6, -1.0, 0.0, 1e-3, 1e6]) / 30)
    np.testing.assert_allclose(got, want, rtol=1e-6)
    assert np.abs(got).max() <= 30
