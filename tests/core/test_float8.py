"""8-bit floats against torch's casts, bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cutaway.core import (
    FLOAT8,
    ArgumentError,
    Float8Format,
    float8_decode,
    float8_encode,
)

TORCH = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}
CODES = np.arange(256, dtype=np.uint8)


def torch_codes(x, form):
    return torch.from_numpy(x).to(TORCH[form]).view(torch.uint8).numpy()


def many_floats():
    """All of float16, random float32 bits, and the places of all ties."""
    halves = np.arange(65536, dtype=np.uint16).view(np.float16)
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**32, 200_000, dtype=np.uint32).view(np.float32)
    spread = rng.normal(0, 1, 50_000) * 2.0 ** rng.integers(-20, 18, 50_000)
    ties = []
    for form in FLOAT8:
        table = float8_decode(CODES, form).astype(np.float64)
        table = np.sort(table[np.isfinite(table)])
        middle = ((table[:-1] + table[1:]) / 2).astype(np.float32)
        ties += [middle, np.nextafter(middle, np.float32(np.inf))]
        ties += [np.nextafter(middle, np.float32(-np.inf))]
    parts = [halves, bits, spread, *ties]
    return np.concatenate([part.astype(np.float32) for part in parts])


FLOATS = many_floats()


@pytest.mark.parametrize("form", FLOAT8)
def test_every_code_is_the_number_that_torch_reads(form):
    want = torch.from_numpy(CODES).view(TORCH[form]).float().numpy()
    got = float8_decode(CODES, form)
    np.testing.assert_array_equal(got, want)
    assert got.dtype == np.float32
    assert np.array_equal(np.signbit(got), np.signbit(want))  # -0 included


@pytest.mark.parametrize("form", FLOAT8)
def test_saturating_codes_are_those_of_torch_after_a_clamp(form):
    largest = FLOAT8[form].largest
    want = torch_codes(np.clip(FLOATS, -largest, largest), form)
    assert np.array_equal(float8_encode(FLOATS, form), want)
    assert len(np.unique(want)) >= 249  # no code is left out but NaN's


def test_without_saturation_e5m2_is_torchs_cast():
    got = float8_encode(FLOATS, "e5m2", saturate=False)
    assert np.array_equal(got, torch_codes(FLOATS, "e5m2"))


def test_without_saturation_e4m3_has_nan_for_what_is_too_large():
    # torch's cast saturates in some versions and not in others
    x = np.array([448, 463.9, 464, 464.1, 1e9, np.inf, -465], np.float32)
    got = float8_decode(float8_encode(x, "e4m3", saturate=False), "e4m3")
    # 464 lies between 448 and what would be 480, and 448 has the even code
    assert got[:3].tolist() == [448, 448, 448]
    assert np.isnan(got[3:]).all()
    assert float8_encode(x, "e4m3").tolist() == [126] * 6 + [254]


@pytest.mark.parametrize("form", FLOAT8)
def test_float64_is_rounded_once(form):
    # 1 + 2**-4 is a tie; a hair more is lost if float32 comes first
    tie = 1 + FLOAT8[form].eps / 2
    got = float8_decode(float8_encode(np.array([tie, tie + 1e-12]), form), form)
    assert got.tolist() == [1, 1 + FLOAT8[form].eps]


@pytest.mark.parametrize("form", FLOAT8)
def test_decoding_and_encoding_gives_the_code_back(form):
    numbers = float8_decode(CODES, form)
    finite = np.isfinite(numbers)
    assert np.array_equal(float8_encode(numbers, form)[finite], CODES[finite])


@pytest.mark.parametrize("form", FLOAT8)
def test_the_published_limits_are_those_of_torch(form):
    info, kind = torch.finfo(TORCH[form]), FLOAT8[form]
    assert kind.largest == info.max
    assert kind.min_normal == info.smallest_normal
    assert kind.eps == info.eps
    # torch reports the normal one as "tiny"; the subnormal is the code 1
    assert kind.min_subnormal == float8_decode(CODES, form)[1]


def test_the_other_forms_of_e4m3_end_at_240():
    ieee = Float8Format(
        mantissa_bits=3, bias=7, largest_code=0x77, overflow_code=0x78
    )
    fnuz = Float8Format(
        mantissa_bits=3, bias=8, largest_code=0x7F, overflow_code=0x80
    )
    assert (ieee.largest, fnuz.largest) == (240, 240)
    assert fnuz.largest == torch.finfo(torch.float8_e4m3fnuz).max
    assert fnuz.min_normal == torch.finfo(torch.float8_e4m3fnuz).tiny
    assert fnuz.min_subnormal == 2.0**-10


def test_shapes_are_kept_and_the_input_is_not_touched():
    x = np.full((2, 0, 3), 1.0)
    assert float8_encode(x, "e4m3").shape == (2, 0, 3)
    y = np.array([[1.0, np.nan], [-0.0, 5.0]])
    before = y.copy()
    assert float8_encode(y, "e5m2").shape == (2, 2)
    np.testing.assert_array_equal(y, before)


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: float8_encode(np.ones(2), "e3m4"), "form"),
        (lambda: float8_decode(CODES, "E4M3"), "form"),
        (lambda: float8_encode(np.ones(2, int), "e4m3"), "x.dtype"),
        (lambda: float8_encode(np.ones(2, np.float16), "e4m3"), "x.dtype"),
        (lambda: float8_decode(CODES.astype(int), "e4m3"), "codes.dtype"),
    ],
)
def test_bad_arguments_are_named(call, name):
    with pytest.raises(ArgumentError) as info:
        call()
    assert info.value.name == name
