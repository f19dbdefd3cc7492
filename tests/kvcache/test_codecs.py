"""Packing and codecs: exact storage, bounded errors, real bytes."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from cutaway.core import ArgumentError
from cutaway.kvcache import (
    CodedRows,
    Float8Codec,
    IntegerCodec,
    bytes_per_row,
    pack_bits,
    packed_bytes,
    unpack_bits,
)
from cutaway.roofline import bits_per_value
from oracles import rounding_bounds

FAST = settings(deadline=None, derandomize=True, max_examples=60)
ROWS = arrays.array_shapes(min_dims=3, max_dims=3, max_side=9).flatmap(
    lambda shape: arrays.arrays(
        np.float32, shape, elements=st.floats(-3e4, 3e4, width=32)
    )
)
CODECS = {
    "int8": (IntegerCodec(bits=8), partial(rounding_bounds.symmetric, 8)),
    "int4": (IntegerCodec(bits=4), partial(rounding_bounds.symmetric, 4)),
    "e4m3": (Float8Codec("e4m3"), partial(rounding_bounds.float8, "e4m3")),
    "e5m2": (Float8Codec("e5m2"), partial(rounding_bounds.float8, "e5m2")),
    "affine4": (
        IntegerCodec(bits=4, group_size=4, affine=True),
        partial(rounding_bounds.kivi, 4, 4),
    ),
    "affine2": (
        IntegerCodec(bits=2, group_size=3, affine=True),
        partial(rounding_bounds.kivi, 2, 3),
    ),
}


def back(codec, x):
    return codec.decode(codec.encode(x), x.shape[-1])


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("count", [0, 1, 3, 4, 5, 64])
def test_packed_numbers_come_back(bits, count):
    rng = np.random.default_rng(count)
    codes = rng.integers(0, 2**bits, (3, 2, count), dtype=np.uint8)
    packed = pack_bits(codes, bits)
    assert packed.shape == (3, 2, packed_bytes(count, bits))
    assert packed.shape[-1] == int(np.ceil(count * bits / 8))
    assert np.array_equal(unpack_bits(packed, bits, count), codes)


def test_the_first_number_of_a_byte_is_in_its_lowest_bits():
    assert pack_bits(np.array([1, 2, 3, 0], np.uint8), 2).tolist() == [0b111001]
    assert pack_bits(np.array([7, 9], np.uint8), 4).tolist() == [0x97]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: pack_bits(np.array([4], np.uint8), 2), "codes"),
        (lambda: pack_bits(np.array([1], np.uint8), 3), "bits"),
        (lambda: unpack_bits(np.zeros(2, np.uint8), 5, 2), "bits"),
        (lambda: unpack_bits(np.zeros(2, np.uint8), 4, 5), "packed.shape[-1]"),
        (lambda: IntegerCodec(bits=3), "bits"),
        (lambda: IntegerCodec(bits=4, group_size=0), "group_size"),
        (lambda: Float8Codec("e3m4"), "form"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ArgumentError) as info:
        call()
    assert info.value.name == name


@pytest.mark.parametrize("name", CODECS)
@FAST
@given(x=ROWS)
def test_every_error_is_within_the_stated_bound(name, x):
    codec, formula = CODECS[name]
    error = np.abs(back(codec, x).astype(np.float64) - x)
    bound = codec.error_bound(x)
    assert bound.shape == x.shape
    assert (error <= bound).all()
    # the package's bound is no looser than the formula
    want = np.broadcast_to(formula(x, "v"), x.shape)
    assert (bound <= want * (1 + 1e-12)).all()


@pytest.mark.parametrize("name", CODECS)
def test_the_bound_is_reached(name):
    codec, _ = CODECS[name]
    x = np.random.default_rng(0).normal(0, 3, (2000, 2, 12))
    x = x.astype(np.float32)
    error = np.abs(back(codec, x).astype(np.float64) - x)
    assert 0.98 < (error / codec.error_bound(x)).max() <= 1


@pytest.mark.parametrize("name", CODECS)
@pytest.mark.parametrize("shape", [(0, 2, 6), (3, 2, 0), (0, 2, 0)])
def test_no_tokens_and_no_width_are_fine(name, shape):
    codec, _ = CODECS[name]
    x = np.zeros(shape, np.float32)
    assert back(codec, x).shape == shape
    assert codec.error_bound(x).shape == shape


@pytest.mark.parametrize("name", ["int8", "int4", "affine4", "affine2"])
def test_zeros_and_constants_are_exact(name):
    codec, _ = CODECS[name]
    assert not back(codec, np.zeros((2, 7), np.float32)).any()
    if codec.affine:
        five = np.full((2, 7), 5.25, np.float32)
        assert np.array_equal(back(codec, five), five)
    tiny = np.full((1, 4), 1e-9, np.float32)
    assert np.abs(back(codec, tiny) - tiny).max() <= 2.0**-24


def test_a_symmetric_zero_stays_zero_and_both_ends_are_reached():
    codec = IntegerCodec(bits=4)
    x = np.array([[-7.0, 0.0, 7.0, 1.0]])
    assert back(codec, x).tolist() == x.tolist()


def test_one_large_number_costs_its_group_and_no_other():
    x = np.array([[0.1, 0.2, 0.3, 0.4, 0.1, 0.2, 0.3, 900.0]])
    whole = back(IntegerCodec(bits=4), x)
    halves = back(IntegerCodec(bits=4, group_size=4), x)
    assert not whole[0, :7].any()  # all rounded away
    assert np.abs(halves - x)[0, :4].max() < 0.03
    assert not halves[0, 4:7].any()


@pytest.mark.parametrize("name", ["int8", "int4", "affine4", "affine2"])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf, 1e30])
def test_numbers_without_a_scale_are_refused(name, bad):
    codec, _ = CODECS[name]
    x = np.ones((2, 6), np.float32)
    x[1, 2] = bad
    with pytest.raises(ArgumentError, match="float16") as info:
        codec.encode(x)
    assert info.value.name == "x"


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("affine", [False, True])
def test_bytes_are_bits_and_scales(bits, affine):
    codec = IntegerCodec(bits=bits, group_size=32, affine=affine)
    want = bits_per_value(bits, group_size=32, zero_bits=16 * affine)
    assert bytes_per_row(codec, 64) == 64 * want / 8
    rows = CodedRows(codec, (10, 3, 64))
    assert rows.nbytes == 10 * 3 * 64 * want / 8
    assert bytes_per_row(Float8Codec("e4m3"), 64) == 64


def test_rows_that_are_refused_change_nothing():
    rows = CodedRows(IntegerCodec(bits=4), (4, 6))
    rows[:] = np.arange(24.0).reshape(4, 6)
    before = rows[:]
    with pytest.raises(ArgumentError):
        rows[1:3] = np.full((2, 6), np.nan)
    assert np.array_equal(rows[:], before)
