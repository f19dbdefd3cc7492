"""Errors say the name, what came and what would have done."""

from __future__ import annotations

import pickle

import pytest

from cutaway.core import ArgumentError, CutawayError


@pytest.mark.parametrize("kind", [CutawayError, ArgumentError])
def test_an_error_prints_name_got_and_expected(kind):
    error = kind("top_p", 1.5, "a number in (0, 1]")
    assert str(error) == "top_p: got 1.5, expected a number in (0, 1]"
    assert (error.name, error.got) == ("top_p", "1.5")
    assert error.expected == "a number in (0, 1]"


def test_one_except_catches_them_all_and_value_error_does_too():
    assert issubclass(ArgumentError, CutawayError)
    assert issubclass(CutawayError, ValueError)


def test_an_error_survives_pickling_to_another_process():
    error = pickle.loads(pickle.dumps(ArgumentError("k", (1, 2), "[3]")))
    assert isinstance(error, ArgumentError)
    assert str(error) == "k: got (1, 2), expected [3]"
