"""Dequantisers against ggml's loops and against the gguf package."""

from __future__ import annotations

import gguf
import numpy as np
import pytest

from cutaway.core import ArgumentError
from cutaway.weights import BLOCK_TYPES, DEQUANTIZERS, dequantize
from oracles import dequantize as oracle

TYPES = sorted(DEQUANTIZERS)
QUANTISED = [name for name in TYPES if BLOCK_TYPES[name].block_size > 1]


def _random_blocks(name: str, count: int, seed: int = 0) -> np.ndarray:
    size = BLOCK_TYPES[name].block_bytes
    rng = np.random.default_rng(seed)
    return rng.integers(0, 256, (count, size), dtype=np.uint8)


def _theirs(raw: np.ndarray, name: str) -> np.ndarray:
    with np.errstate(all="ignore"):
        kind = gguf.GGMLQuantizationType[name]
        return gguf.dequantize(raw, kind).reshape(-1)


def _assert_bit_equal(got: np.ndarray, want: np.ndarray) -> None:
    assert got.dtype == want.dtype == np.float32
    nan = np.isnan(want)
    np.testing.assert_array_equal(np.isnan(got), nan)
    np.testing.assert_array_equal(
        got[~nan].view(np.uint32), want[~nan].view(np.uint32)
    )


def test_the_ten_types_of_the_course_are_there():
    plain = {"F32", "F16", "BF16"}
    packed = {"Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q4_K", "Q6_K"}
    assert plain | packed <= set(DEQUANTIZERS)


@pytest.mark.parametrize("name", QUANTISED)
def test_random_blocks_are_bit_equal_to_the_element_loop(name):
    raw = _random_blocks(name, 7)
    with np.errstate(all="ignore"):
        want = [getattr(oracle, name.lower())(row.tobytes()) for row in raw]
    want = np.array(want, np.float32)
    got = dequantize(raw, name, want.shape)
    _assert_bit_equal(got.reshape(-1), want.reshape(-1))


# 4,096 blocks of 32 and 512 of 256 make one chunk: sizes around it too.
@pytest.mark.parametrize("count", [1, 2, 511, 512, 513, 4095, 4096, 4097])
@pytest.mark.parametrize("name", TYPES)
def test_random_blocks_are_bit_equal_to_the_gguf_package(name, count):
    raw = _random_blocks(name, count, seed=count)
    shape = (count * BLOCK_TYPES[name].block_size,)
    _assert_bit_equal(dequantize(raw, name, shape), _theirs(raw, name))


@pytest.mark.parametrize("name", ["F32", "F16", "BF16", "Q8_0"])
def test_more_elements_than_a_chunk_are_bit_equal(name):
    raw = _random_blocks(name, 131_072 + 1)
    shape = (raw.shape[0], BLOCK_TYPES[name].block_size)
    got = dequantize(raw, name, shape).reshape(-1)
    _assert_bit_equal(got, _theirs(raw, name))


@pytest.mark.parametrize("name", ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0"])
def test_quantised_weights_come_back_within_half_a_step(name):
    rng = np.random.default_rng(1)
    weights = rng.standard_normal((48, 96)).astype(np.float32)
    raw = gguf.quantize(weights, gguf.GGMLQuantizationType[name])
    got = dequantize(raw, name, weights.shape)
    blocks = weights.reshape(-1, 32)
    levels = {"Q4": 15, "Q5": 31, "Q8": 254}[name[:2]]
    # A step of the symmetric types spans the largest magnitude, on both
    # sides; the ends of Q4_0 and Q5_0 may be clipped by a whole step.
    reach = 2 * np.abs(blocks).max(1) / levels
    slack = 1.01 if name in ("Q4_0", "Q5_0") else 0.51
    error = np.abs(got.reshape(-1, 32) - blocks).max(1)
    assert (error <= slack * reach + 1e-3).all()
    assert error.max() > 0


def test_a_block_by_hand_low_halves_come_first():
    header = np.array([0.5, -1], "<f2").view(np.uint8)
    packed = np.arange(16, dtype=np.uint8) | (15 - np.arange(16)) << 4
    raw = np.concatenate([header, packed.astype(np.uint8)])
    got = dequantize(raw, "Q4_1", (32,))
    rising = np.arange(16) * 0.5 - 1
    np.testing.assert_array_equal(got, np.concatenate([rising, rising[::-1]]))


@pytest.mark.parametrize("name", TYPES)
def test_float64_holds_the_same_numbers(name):
    raw = _random_blocks(name, 4097)
    shape = (4097, BLOCK_TYPES[name].block_size)
    narrow = dequantize(raw, name, shape)
    wide = dequantize(raw, name, shape, np.float64)
    assert wide.dtype == np.float64
    np.testing.assert_array_equal(wide, narrow)


def test_shape_is_kept_and_rows_do_not_mix():
    raw = _random_blocks("Q8_0", 24)
    got = dequantize(raw.reshape(-1), "Q8_0", (2, 3, 128))
    assert got.shape == (2, 3, 128)
    row = dequantize(raw[20:24], "Q8_0", (128,))
    np.testing.assert_array_equal(got[1, 2], row)


def test_the_result_is_new_and_the_input_unchanged():
    values = np.arange(8, dtype=np.float32)
    raw = values.view(np.uint8)
    got = dequantize(raw, "F32", (8,))
    got += 1
    np.testing.assert_array_equal(values, np.arange(8))


def test_read_only_and_strided_input_is_accepted():
    raw = _random_blocks("Q4_1", 10)
    want = dequantize(raw[::2].copy(), "Q4_1", (160,))
    raw.flags.writeable = False
    np.testing.assert_array_equal(dequantize(raw[::2], "Q4_1", (160,)), want)


def test_a_scalar_is_a_tensor():
    raw = np.array(2.5, "<f4").reshape(1).view(np.uint8)
    assert dequantize(raw, "F32", ()) == 2.5


@pytest.mark.parametrize("name", [n for n in BLOCK_TYPES if n != "Q8_1"])
def test_block_sizes_are_those_of_the_gguf_package(name):
    kind = BLOCK_TYPES[name]
    theirs = gguf.GGMLQuantizationType[name]
    assert kind.type_id == theirs.value
    sizes = (kind.block_size, kind.block_bytes)
    assert sizes == gguf.GGML_QUANT_SIZES[theirs]


def test_no_type_of_the_gguf_package_is_missing():
    theirs = {kind.name for kind in gguf.GGML_QUANT_SIZES}
    assert theirs <= set(BLOCK_TYPES)


@pytest.mark.parametrize(
    ("name", "bits"),
    [
        ("Q4_0", 4.5),
        ("Q4_1", 5.0),
        ("Q5_0", 5.5),
        ("Q5_1", 6.0),
        ("Q8_0", 8.5),
        # ggml stores float16 d and s; the gguf package still counts the
        # two float32 of an old layout.
        ("Q8_1", 9.0),
        ("Q4_K", 4.5),
        ("Q5_K", 5.5),
        ("Q6_K", 6.5625),
        ("MXFP4", 4.25),
    ],
)
def test_bits_per_weight(name, bits):
    assert BLOCK_TYPES[name].bits_per_weight == bits


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("Q9_9", (32,)), "type_name: got 'Q9_9', expected one of 'F32'"),
        (("Q2_K", (256,)), "type_name: got 'Q2_K', expected one of 'F32'"),
        (("Q4_1", (31,)), r"shape: got \(31,\), expected a last axis"),
        (("Q4_1", (64,)), "raw: got 20 bytes, expected 40"),
        (("Q4_1", (32,), np.float16), "dtype: got float16, expected float32"),
    ],
)
def test_arguments_that_do_not_fit_are_named(arguments, message):
    with pytest.raises(ArgumentError, match=message):
        dequantize(np.zeros(20, np.uint8), *arguments)


def test_bytes_must_be_uint8():
    with pytest.raises(ArgumentError, match=r"raw\.dtype: got float32"):
        dequantize(np.zeros(20, np.float32), "Q4_1", (32,))
