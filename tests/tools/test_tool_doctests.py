"""The examples in the docstrings of the notebook tools hold."""

from __future__ import annotations

import doctest
import importlib
import pkgutil

import pytest

import bookcheck
import nbtools

MODULES = [
    info.name
    for package in (bookcheck, nbtools)
    for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")
]


def test_there_are_modules():
    assert len(MODULES) > 10


@pytest.mark.parametrize("name", MODULES)
def test_examples_hold(name: str):
    failed, _ = doctest.testmod(importlib.import_module(name))
    assert failed == 0
