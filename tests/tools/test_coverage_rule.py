"""A public name without a use is found, and only a real use counts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import cutaway.core
from bookcheck.coverage import (
    documented_names,
    names_used,
    public_names,
    resolve,
    unexercised,
)
from cutaway.core import ArgumentError, ModelConfig, merge


def test_public_names_are_the_functions_and_classes_of_all():
    names = public_names()
    assert names["cutaway.core.merge"] is merge
    assert "cutaway.book.figure.subplots" in names  # a module in __all__
    assert "cutaway.book.show" in names  # the function, not the module
    for exempt in ("ArgumentError", "KVCache", "ModelConfig"):
        assert exempt in cutaway.core.__all__
        assert f"cutaway.core.{exempt}" not in names


@pytest.mark.parametrize(
    ("cells", "used"),
    [
        (["from cutaway.core import merge", "merge(a, b)"],
         {"cutaway.core.merge"}),
        (["from cutaway.core import merge as m", "x = [m]"],
         {"cutaway.core.merge"}),
        (["import cutaway.core", "cutaway.core.merge(a, b)"],
         {"cutaway", "cutaway.core", "cutaway.core.merge"}),
        (["import cutaway.core as c\nc.merge"],
         {"cutaway.core", "cutaway.core.merge"}),
        (["from cutaway.book import figure", "figure.show(f)"],
         {"cutaway.book.figure", "cutaway.book.figure.show"}),
        (["%pip install x\nfrom cutaway.core import merge\nmerge"],
         {"cutaway.core.merge"}),
        (["if x:\n    %pip install y\nfrom cutaway.core import merge"], set()),
        (["from cutaway.core import merge"], set()),
        (["from torch import merge", "merge(a)"], set()),
        (["text = 'merge(a, b)'  # merge(a, b)"], set()),
        (["merge(a, b)"], set()),
    ],
)  # fmt: skip
def test_a_use_is_a_name_that_comes_from_the_package(cells, used):
    assert names_used(cells) == used


@pytest.mark.parametrize(
    "directive",
    [
        "```{autofunction} cutaway.core.merge\n```",
        ":::{autofunction} cutaway.core.merge\n:::",
        "```{eval-rst}\n.. autofunction:: cutaway.core.merge\n```",
    ],
)
def test_api_entry_with_a_doctest_counts(directive):
    assert documented_names(directive) == {"cutaway.core.merge"}


@pytest.mark.parametrize(
    "page",
    [
        "{autofunction}`cutaway.core.merge` in prose",
        "`cutaway.core.merge`",
        "```{autofunction} cutaway.core.no_such_name\n```",
        "```{autofunction} cutaway.core.checks.check\n```",  # no doctest
    ],
)
def test_a_mention_or_an_entry_without_doctest_does_not_count(page):
    assert documented_names(page) == set()


def test_class_counts_by_the_doctest_of_a_method():
    page = "```{autoclass} cutaway.weights.GGUFFile\n:members:\n```"
    assert documented_names(page) <= {"cutaway.weights.GGUFFile"}
    assert documented_names("```{autoclass} cutaway.core.CutawayError\n```")


def test_what_nobody_uses_is_listed_once(tmp_path: Path):
    missing = unexercised([], "")
    assert "cutaway.core.merge" in missing
    source = "from cutaway import core\ncore.merge(a, b)"
    path = tmp_path / "a.ipynb"
    cell = {"cell_type": "code", "source": source.splitlines(True)}
    path.write_text(json.dumps({"cells": [cell]}))
    assert set(missing) - set(unexercised([path], "")) == {"cutaway.core.merge"}
    page = "```{autofunction} cutaway.core.state.merge\n```"
    assert "cutaway.core.merge" not in unexercised([], page)


def test_resolve_prefers_an_attribute_to_a_module_of_its_name():
    assert callable(resolve("cutaway.book.show"))
    assert resolve("cutaway.core.config.ModelConfig") is ModelConfig
    assert resolve("cutaway.core.errors.ArgumentError") is ArgumentError
    assert resolve("cutaway.nothing") is None
    assert resolve("no_such_package.at.all") is None
