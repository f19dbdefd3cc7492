"""Edits in the package, unread by the chapter: nbval finds each."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from cutaway.book.exercises import find
from tamper.checks import Comparison, compare
from tamper.copies import SECTION
from tamper.source import comment, copy_package, replace

pytestmark = pytest.mark.tamper

HINT = " ".join(find("flow/end_to_end:3").hints[0].split()[:3])
Edit = Callable[[Path], None]

# What is edited in the package, the cell that shows it, what nbval says.
EDITS: dict[str, tuple[Edit, str, str]] = {
    "a shown function edited": (
        lambda package: comment(package / "sampling/processors.py", "softmax"),
        "shown-softmax",
        r"text/html: shown source: stored '    return .*now '    # edited'",
    ),
    "a source in a shown docstring off by one in its last place": (
        lambda package: replace(
            package / "roofline/memory.py", "2309.06180", "2309.06181"
        ),
        "shown",
        r"shown source: stored '.*2309\.06180.*, now '.*2309\.06181",
    ),
    "a number edited that a cell prints": (
        lambda package: replace(
            package / "roofline/models/llama.py",
            '"llama-2-70b": (80,',
            '"llama-2-70b": (79,',
        ),
        "other-model",
        r"stdout: line 1: stored '80', now '79'",
    ),
    "a hint edited": (
        lambda package: replace(
            package / "book/exercises/flow_end_to_end/attention_flops.py",
            HINT,
            HINT.upper(),
        ),
        "exercise-hint",
        r"text/html: .*stored 'Count', now 'COUNT'",
    ),
    "the message of an error edited": (
        lambda package: replace(
            package / "core/errors.py", "expected {self", "wanted {self"
        ),
        "refused",
        r"evalue: line 1: stored 'expected', now 'wanted'",
    ),
}


@pytest.fixture(scope="module")
def comparison(
    small_book: Path, tmp_path_factory: pytest.TempPathFactory
) -> Comparison:
    """The untouched book against a package with all these edits."""
    folder = tmp_path_factory.mktemp("edited")
    package = copy_package(folder / "src") / "cutaway"
    for plant, _, _ in EDITS.values():
        plant(package)
    shutil.copytree(small_book / "book", folder / "nbval" / "book")
    return compare(folder / "nbval", source=folder / "src")


def test_nothing_else_turns_red(comparison: Comparison):
    assert set(comparison.failed) == {SECTION}
    cells = {cell for _, cell, _ in EDITS.values()}
    assert set(comparison.failed[SECTION]) == cells


@pytest.mark.parametrize("name", EDITS)
def test_nbval_finds(name: str, comparison: Comparison):
    _, cell, says = EDITS[name]
    said = comparison.failed[SECTION].get(cell, "nothing")
    assert re.search(says, said), said
