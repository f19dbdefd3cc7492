"""Quantisers against the gguf package, ggml itself, and their own bounds."""

from __future__ import annotations

from pathlib import Path

import gguf
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from cutaway.core import ArgumentError
from cutaway.weights import (
    BLOCK_TYPES,
    DEQUANTIZERS,
    QUANTIZERS,
    dequantize,
    error_bound,
    fitting_type,
    pack_superblocks,
    qgroup_steps,
    quantize,
)
from cutaway.weights.scale_search import search_scale, search_scale_and_minimum
from oracles import kquants
from oracles.kquant_golden import golden_weights

TYPES = sorted(QUANTIZERS)
K_TYPES = ("Q4_K", "Q5_K", "Q6_K")
AFFINE = {"Q4_K": (15, -1.0, 21), "Q5_K": (31, -0.5, 16)}
BOUNDED = ("Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "MXFP4")
GOLDEN = Path(__file__).parent / "kquants_by_ggml.npz"


def _weights(kind: str, rows: int = 24, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    shape = (rows, 512)
    drawn = {
        "bell": rng.standard_normal(shape),
        "heavy": rng.standard_t(2, shape) * 0.02,
        "positive": rng.random(shape) + 1,
        "negative": -rng.random(shape) - 1,
        "large": rng.standard_normal(shape) * 1e4,
        "small": rng.standard_normal(shape) * 1e-4,
        "zeros": rng.standard_normal(shape) * (rng.random(shape) < 0.3),
        "flat": np.repeat(rng.standard_normal((rows, 16)), 32, axis=1),
    }[kind]
    return drawn.astype(np.float32)


KINDS = (
    "bell",
    "heavy",
    "positive",
    "negative",
    "large",
    "small",
    "zeros",
    "flat",
)


def _back(weights: np.ndarray, name: str) -> np.ndarray:
    raw = quantize(weights, name)
    return dequantize(raw, name, weights.shape).astype(np.float64)


def test_every_type_that_can_be_read_can_be_written():
    assert set(QUANTIZERS) == set(DEQUANTIZERS)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", [n for n in TYPES if n not in K_TYPES])
def test_bytes_are_those_of_the_gguf_package(name, kind):
    weights = _weights(kind)
    theirs = gguf.quantize(weights, gguf.GGMLQuantizationType[name])
    got = quantize(weights, name)
    assert got.dtype == np.uint8
    np.testing.assert_array_equal(got, theirs.view(np.uint8).reshape(got.shape))


# A chunk is 32,768 elements: 1,024 blocks of 32, 128 superblocks.
@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("blocks", [1, 127, 128, 129, 1023, 1024, 1025])
def test_rows_are_packed_alike_alone_and_together(name, blocks):
    size = BLOCK_TYPES[name].block_size
    rng = np.random.default_rng(blocks)
    weights = rng.standard_normal((blocks, size)).astype(np.float32)
    together = quantize(weights, name)
    assert together.shape == (blocks, BLOCK_TYPES[name].block_bytes)
    for row in {0, blocks // 2, blocks - 1}:
        np.testing.assert_array_equal(
            quantize(weights[row], name), together[row]
        )


@pytest.mark.parametrize("name", [n for n in TYPES if n != "F32"])
def test_weights_that_went_through_once_stay_or_move_by_less(name):
    once = _back(_weights("bell"), name).astype(np.float32)
    moved = np.abs(_back(once, name) - once).max()
    first = np.abs(_weights("bell") - once).max()
    assert moved <= 0.75 * first


@pytest.mark.parametrize("name", ["F16", "BF16", "Q8_0", "MXFP4"])
def test_quantising_twice_is_quantising_once(name):
    once = _back(_weights("bell"), name).astype(np.float32)
    again = _back(once, name)
    np.testing.assert_allclose(again, once, rtol=2**-10, atol=0)


@pytest.mark.parametrize("name", K_TYPES)
def test_superblocks_are_those_of_ggml(name):
    weights = golden_weights()
    theirs = np.load(GOLDEN)[name]
    got = quantize(weights, name)
    # The order of a sum decides between scales of nearly the same loss.
    same = (got == theirs).all(axis=1)
    assert same.mean() >= 0.7
    errors = [
        ((dequantize(raw, name, weights.shape) - weights) ** 2).sum(axis=1)
        for raw in (got, theirs)
    ]
    np.testing.assert_allclose(*errors, rtol=0.15, atol=1e-9)
    np.testing.assert_allclose(errors[0].sum(), errors[1].sum(), rtol=2e-3)


@pytest.mark.parametrize("name", AFFINE)
@pytest.mark.parametrize("kind", KINDS)
def test_scale_and_minimum_lose_as_little_as_the_slow_search(name, kind):
    top, first, steps = AFFINE[name]
    groups = _weights(kind, rows=4).reshape(-1, 32)
    found = search_scale_and_minimum(groups, top, first=first, steps=steps)
    got, want, power = [], [], []
    for x, s, m in zip(groups, *found, strict=True):
        assert s >= 0
        assert m >= 0
        slow = kquants.affine_search(x, top, first, steps)
        got.append(kquants.affine_loss(x, float(s[0]), float(m[0]), top))
        want.append(kquants.affine_loss(x, *slow, top))
        power.append(kquants.importance(x) @ x.astype(float) ** 2)
    _check_losses(got, want, power)


@pytest.mark.parametrize("kind", KINDS)
def test_signed_scale_loses_as_little_as_the_slow_search(kind):
    groups = _weights(kind, rows=4).reshape(-1, 16)
    got, want, power = [], [], []
    for x, s in zip(groups, search_scale(groups, 32), strict=True):
        slow = kquants.symmetric_search(x, 32)
        got.append(kquants.symmetric_loss(x, float(s[0]), 32))
        want.append(kquants.symmetric_loss(x, slow, 32))
        power.append((x.astype(float) ** 4).sum())
    _check_losses(got, want, power)


def _check_losses(got: list, want: list, power: list) -> None:
    """Nearly all groups lose the same; rounding decides between equals."""
    got, want, power = map(np.array, (got, want, power))
    near = np.abs(got - want) <= 1e-3 * want + 1e-8 * power
    assert near.mean() > 0.9
    assert got.sum() <= 1.01 * want.sum() + 1e-8 * power.sum()


@pytest.mark.parametrize("name", AFFINE)
def test_the_search_beats_minimum_and_maximum(name, monkeypatch):
    weights = _weights("bell")
    searched = ((_back(weights, name) - weights) ** 2).mean()
    original = search_scale_and_minimum
    monkeypatch.setattr(
        pack_superblocks,
        "search_scale_and_minimum",
        lambda x, top, *, first, steps: original(x, top, first=first, steps=0),
    )
    plain = ((_back(weights, name) - weights) ** 2).mean()
    assert searched < 0.97 * plain


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BOUNDED)
def test_no_error_is_above_its_bound(name, kind):
    weights = _weights(kind)
    error = np.abs(_back(weights, name) - weights).reshape(24, -1, 32).max(2)
    bound = error_bound(weights, name)
    assert bound.shape == error.shape
    assert (error <= bound * (1 + 1e-4) + 1e-12).all()
    if kind == "bell":  # and the bound is not a loose one
        assert (error / bound).max() > 0.6


@pytest.mark.parametrize("name", BOUNDED)
@given(
    block=hnp.arrays(
        np.float32,
        32,
        elements=st.floats(-1000, 1000, width=32, allow_subnormal=False),
    )
)
@settings(max_examples=60, deadline=None)
def test_no_error_of_any_block_is_above_its_bound(name, block):
    error = np.abs(_back(block, name) - block).max()
    assert error <= error_bound(block, name)[0] * (1 + 1e-4) + 1e-12


@pytest.mark.parametrize("kind", ["bell", "heavy", "positive", "zeros"])
@pytest.mark.parametrize("name", K_TYPES)
def test_errors_within_the_range_of_a_group_are_half_a_step(name, kind):
    weights = _weights(kind)
    raw = quantize(weights, name)
    back = dequantize(raw, name, weights.shape).astype(np.float64)
    steps = qgroup_steps(raw, name)
    size = weights.size // steps.size
    x, y = weights.reshape(-1, size), back.reshape(-1, size)
    half = steps[:, None] / 2 * (1 + 1e-3) + 1e-9
    far = np.abs(x - y) > half
    # What is further off was clipped: it lies outside all values there are.
    outside = (x > y.max(1, keepdims=True)) | (x < y.min(1, keepdims=True))
    assert (~far | outside).all()
    assert far.mean() < 0.05


@pytest.mark.parametrize("name", ["Q4_1", "Q5_1", "Q8_0", "Q4_K", "Q6_K"])
def test_the_error_is_that_of_uniform_rounding(name):
    weights = _weights("bell", rows=64)
    raw = quantize(weights, name)
    error = dequantize(raw, name, weights.shape) - weights
    predicted = np.sqrt((qgroup_steps(raw, name) ** 2.0).mean() / 12)
    assert 0.85 < np.sqrt((error**2).mean()) / predicted < 1.05


def test_a_q4_1_block_by_hand():
    weights = np.linspace(-1.5, 2.25, 16, dtype=np.float32)  # steps of 1/4
    block = np.concatenate([weights, weights[::-1]])
    raw = quantize(block, "Q4_1")
    assert raw[:4].view("<f2").tolist() == [0.25, -1.5]
    assert raw[4:].tolist() == [j | (15 - j) << 4 for j in range(16)]


def test_the_mirror_image_of_the_largest_weight_is_clipped_in_q4_0():
    block = np.zeros(32, np.float32)
    block[:2] = -8, 8
    assert _back(block, "Q4_0")[:2].tolist() == [-8, 7]


def test_float16_and_float64_give_the_same_bytes_as_float32():
    weights = _weights("bell").astype(np.float16)
    want = quantize(weights.astype(np.float32), "Q5_0")
    np.testing.assert_array_equal(quantize(weights, "Q5_0"), want)
    wide = weights.astype(np.float64)
    np.testing.assert_array_equal(quantize(wide, "Q5_0"), want)


def test_weights_are_not_changed_and_may_be_strided():
    weights = _weights("bell")[:, ::2]
    before = weights.copy()
    raw = quantize(weights, "Q4_K")
    np.testing.assert_array_equal(weights, before)
    np.testing.assert_array_equal(raw, quantize(before, "Q4_K"))


@pytest.mark.parametrize(
    ("weights", "name", "at_fault"),
    [
        (np.zeros(32, np.float32), "Q9", "type_name"),
        (np.zeros(32, np.float32), "Q8_K", "type_name"),
        (np.zeros((2, 33), np.float32), "Q4_0", "weights.shape"),
        (np.zeros((256, 32), np.float32), "Q4_K", "weights.shape"),
        (np.float32(1), "F32", "weights.shape"),
        (np.zeros(32, np.int32), "Q4_0", "weights.dtype"),
        (np.full(32, np.nan, np.float32), "Q8_0", "weights"),
        (np.full(32, np.inf, np.float32), "BF16", "weights"),
        (np.full(32, 7e4, np.float32), "Q4_1", "weights"),
        (np.full(32, 7e4, np.float32), "F16", "weights"),
        (np.full(256, -7e4, np.float32), "Q6_K", "weights"),
        (np.full(32, 1e300), "F32", "weights"),
    ],
)
def test_bad_weights_are_refused_by_name(weights, name, at_fault):
    with pytest.raises(ArgumentError) as caught, np.errstate(over="ignore"):
        quantize(weights, name)
    assert caught.value.name == at_fault


def test_types_without_float16_take_large_weights():
    weights = np.full(32, 2.0**100, np.float32)
    for name in ("F32", "BF16", "MXFP4"):
        np.testing.assert_array_equal(_back(weights, name), weights)


@pytest.mark.parametrize(
    ("call", "at_fault"),
    [
        (lambda: error_bound(np.zeros(32), "Q4_K"), "type_name"),
        (lambda: error_bound(np.zeros(31), "Q4_0"), "weights.shape"),
        (lambda: qgroup_steps(np.zeros(18, np.uint8), "MXFP4"), "type_name"),
        (lambda: qgroup_steps(np.zeros(17, np.uint8), "Q4_0"), "raw"),
        (lambda: qgroup_steps(np.zeros(18, np.int8), "Q4_0"), "raw.dtype"),
        (lambda: fitting_type("Q4", 32), "type_name"),
        (lambda: fitting_type("Q4_0", 0), "row_size"),
        (lambda: fitting_type("Q4_K", 48), "row_size"),
    ],
)
def test_bad_questions_are_refused_by_name(call, at_fault):
    with pytest.raises(ArgumentError) as caught:
        call()
    assert caught.value.name == at_fault


@pytest.mark.parametrize(
    ("asked", "row", "got"),
    [
        ("Q2_K", 576, "IQ4_NL"),
        ("Q3_K", 576, "IQ4_NL"),
        ("Q4_K", 576, "Q5_0"),
        ("Q5_K", 576, "Q5_1"),
        ("Q6_K", 576, "Q8_0"),
        ("Q4_K", 1536, "Q4_K"),
        ("Q4_1", 576, "Q4_1"),
        ("F16", 7, "F16"),
    ],
)
def test_rows_that_256_does_not_divide_fall_back_to_blocks_of_32(
    asked, row, got
):
    assert fitting_type(asked, row) == got


def test_no_type_called_q4_takes_four_bits():
    bits = {n: BLOCK_TYPES[n].bits_per_weight for n in ("Q4_0", "Q4_1", "Q4_K")}
    assert bits == {"Q4_0": 4.5, "Q4_1": 5.0, "Q4_K": 4.5}


def test_neighbouring_weights_are_not_in_one_byte():
    block = np.zeros(32, np.float32)
    block[0], block[1], block[16] = -8, 1, 3  # the scale is 1
    raw = quantize(block, "Q4_0")
    assert raw[2] == (-8 + 8) | (3 + 8) << 4
    assert raw[3] == (1 + 8) | (0 + 8) << 4
