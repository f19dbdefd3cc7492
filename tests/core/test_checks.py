"""The checks accept what they promise and name what they refuse."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.core import ArgumentError
from cutaway.core.checks import (
    check,
    check_choice,
    check_flag,
    check_int,
    check_real,
    check_shape,
)


@pytest.mark.parametrize("value", [1, 5, np.int64(3), np.uint8(2)])
def test_integers_of_any_kind_pass_as_int(value):
    got = check_int("n", value, 1, 5)
    assert type(got) is int
    assert got == value


@pytest.mark.parametrize("value", [0, 6, True, 2.0, "3", None, np.float32(2)])
def test_what_is_no_integer_in_range_is_refused(value):
    with pytest.raises(ArgumentError, match="an integer from 1 to 5"):
        check_int("n", value, 1, 5)


@pytest.mark.parametrize("value", [0, 0.5, 1, np.float32(0.25)])
def test_numbers_in_a_closed_range_pass_as_float(value):
    assert type(check_real("p", value, 0, 1)) is float


@pytest.mark.parametrize(
    "value", [-0.1, 1.1, float("nan"), float("inf"), "0.5", True, None, [1]]
)
def test_what_is_no_number_in_range_is_refused(value):
    with pytest.raises(ArgumentError, match=r"p: got .* in \[0, 1\]"):
        check_real("p", value, 0, 1)


def test_an_open_end_excludes_the_end():
    with pytest.raises(ArgumentError, match=r"\(0, 1\]"):
        check_real("p", 0, 0, 1, open_low=True)
    with pytest.raises(ArgumentError, match="a number > 0"):
        check_real("p", 0, 0, open_low=True)
    assert check_real("p", 1e-300, 0, 1, open_low=True) == 1e-300


def test_a_choice_lists_what_there_is():
    assert check_choice("impl", "torch", ("numpy", "torch")) == "torch"
    with pytest.raises(ArgumentError, match="'jax', expected one of 'numpy'"):
        check_choice("impl", "jax", ("numpy", "torch"))


@pytest.mark.parametrize("value", [0, 1, None, "True", np.bool_(True)])
def test_a_flag_is_true_or_false_and_nothing_like_them(value):
    check_flag("gated", True)
    check_flag("gated", False)
    with pytest.raises(ArgumentError, match=r"gated: .* True or False"):
        check_flag("gated", value)


def test_a_shape_may_leave_dimensions_free():
    check_shape("x", np.zeros((3, 0, 2)), ("rows", "tokens", 2))
    for shape in ((3, 2), (3, 0, 2, 1), (3, 0, 4), ()):
        with pytest.raises(ArgumentError) as info:
            check_shape("x", np.zeros(shape), ("rows", "tokens", 2))
        assert info.value.name == "x.shape"
        assert info.value.got == str(shape)
        assert info.value.expected == "[rows, tokens, 2]"


def test_check_raises_only_when_the_condition_fails():
    check(True, "x", 1, "one")
    with pytest.raises(ArgumentError, match="x: got 2, expected one"):
        check(False, "x", 2, "one")
