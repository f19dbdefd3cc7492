"""Numeric comparison of text: what may move, and what may not."""

from __future__ import annotations

import numpy as np
import pytest

from bookcheck.compare import (
    first_difference,
    floats_agree,
    reconcile_text,
    text_agrees,
)

SAME = [
    ("identical", "loss 1.25\n", "loss 1.25\n"),
    ("one unit of the fourth digit", "1.234", "1.235"),
    ("one unit of the third digit", "12.3%", "12.4%"),
    ("one part in ten thousand", "12345.67", "12346.80"),
    ("long repr of a float32", "0.50000006", "0.5"),
    ("trailing zeros", "0.50", "0.500"),
    ("small number", "1.2345e-07", "1.2346e-07"),
    ("columns move", "[ 0.9999 10.    ]", "[1.0000 10.]"),
    ("negative zero", "[-0.  1.]", "[0.  1.]"),
    ("minus signs", "\u22121.25 \u2013 x", "-1.25 - x"),
    ("thousands", "1,234.56 GB", "1,234.57 GB"),
    ("unit without blank", "1.234GB 5.678s", "1.235GB 5.679s"),
    ("no digit behind the point", "[1000. 2000.]", "[999.99 2000.]"),
    ("blanks at the end", "a  b \n", "a b\n"),
]

DIFFERENT = [
    ("word", "prefill 1.25", "decode 1.25"),
    ("integer", "37 tokens", "38 tokens"),
    ("long integer", "134515008", "134515009"),
    ("integer before a full stop", "vocabulary of 49152.", "of 49153."),
    ("integer of the sentence's end", "has 49152. It", "has 49153. It"),
    ("grouped integer", "134,515,008", "134,515,009"),
    ("two units of the fourth digit", "1.234", "1.236"),
    ("two digits", "1.2", "1.3"),
    ("one digit", "0.1", "0.2"),
    ("two digits, small", "1.2e-07", "1.3e-07"),
    ("version", "torch 2.13.0", "torch 2.13.1"),
    ("version with two parts", "torch==2.13", "torch==2.14"),
    ("version in a word", "v2.13", "v2.14"),
    ("sign", "-1.234", "1.234"),
    ("float became integer", "1.0", "1"),
    ("name with a digit", "float32", "float16"),
    ("hash", "4f2a91c", "4f2a92c"),
    ("hash that looks like a float", "123e10ab", "124e10ab"),
    ("infinity", "inf", "1e308"),
    ("not a number", "nan", "0.000"),
    ("missing line", "a\nb", "a"),
    ("lines joined", "a\nb", "a b"),
    ("extra number", "1.234 1.234", "1.234"),
    ("zero against noise", "0.000", "1.234e-09"),
    ("shape", "(37, 576)", "(38, 576)"),
    ("range", "3-5", "3-6"),
    ("bracket", "[1.25]", "(1.25)"),
]


@pytest.mark.parametrize(
    ("test", "ref"), [pair for _, *pair in SAME], ids=[n for n, *_ in SAME]
)
def test_rounding_and_layout_agree(test, ref):
    assert text_agrees(test, ref)
    assert text_agrees(ref, test)
    assert reconcile_text(test, ref) == ref


@pytest.mark.parametrize(
    ("test", "ref"),
    [pair for _, *pair in DIFFERENT],
    ids=[name for name, *_ in DIFFERENT],
)
def test_real_differences_are_seen(test, ref):
    assert not text_agrees(test, ref)
    assert not text_agrees(ref, test)
    assert reconcile_text(test, ref) != ref
    assert first_difference(test, ref)


@pytest.mark.parametrize("digits", [4, 5, 7])
def test_data_perturbed_by_3e_5_agrees(digits):
    rng = np.random.default_rng(0)
    for value in rng.lognormal(0, 5, 2000):
        stored = f"{value:.{digits}g}"
        fresh = f"{value * (1 + rng.choice([-1, 1]) * 3e-5):.{digits}g}"
        assert floats_agree(fresh, stored) or "." not in stored


@pytest.mark.parametrize("digits", [4, 5, 7])
def test_data_perturbed_by_one_per_cent_differs(digits):
    rng = np.random.default_rng(1)
    for value in rng.lognormal(0, 5, 2000):
        stored = f"{value:.{digits - 1}e}"
        fresh = f"{value * (1 + rng.choice([-1, 1]) * 1e-2):.{digits - 1}e}"
        assert not floats_agree(fresh, stored)


def test_printed_arrays_perturbed_by_3e_5_agree():
    rng = np.random.default_rng(2)
    array = rng.standard_normal((5, 6)).astype(np.float32)
    moved = array * np.float32(1 + 3e-5)
    with np.printoptions(precision=4, suppress=True):
        assert text_agrees(str(moved), str(array))
        assert not text_agrees(str(array * np.float32(1.01)), str(array))


def test_lines_that_agree_become_the_stored_ones():
    stored = "a 1.2345\nb 37\nc 0.5"
    fresh = "a 1.2346\nb 38\nc 0.5"
    assert reconcile_text(fresh, stored) == "a 1.2345\nb 38\nc 0.5"


def test_first_difference_names_line_and_both_values():
    said = first_difference("a\nb 1.2300", "a\nb 1.3300")
    assert said == "line 2: stored '1.3300', now '1.2300'"
