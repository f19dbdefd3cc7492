"""Faults planted one by one: each turns its check red, and no other."""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tamper.checks import READING, Comparison, compare, red
from tamper.copies import SECTION
from tamper.fault import Fault
from tamper.faults_hygiene import HYGIENE
from tamper.faults_parts import PARTS
from tamper.faults_prose import PROSE
from tamper.faults_stored import SOURCE, STORED

pytestmark = pytest.mark.tamper

READ = (*PROSE, *HYGIENE, *PARTS)
RUN = tuple(f for f in (*STORED, *SOURCE, *READ) if f.cell or f.runs)
UNTOUCHED = "untouched"
NUM_CELLS = 16


def named(fault: Fault) -> str:
    return fault.name


def folder_of(fault: Fault) -> str:
    return re.sub(r"\W+", "-", fault.name)


@pytest.fixture(scope="module")
def comparison(
    small_book: Path, tmp_path_factory: pytest.TempPathFactory
) -> Comparison:
    """One run of nbval over the untouched book and all damaged copies."""
    folder = tmp_path_factory.mktemp("nbval")
    shutil.copytree(small_book, folder / UNTOUCHED)
    for fault in RUN:
        copy = shutil.copytree(small_book, folder / folder_of(fault))
        fault.plant(copy)
    for workbook in folder.glob("*/workbook"):
        shutil.rmtree(workbook)
    return compare(folder, processes=2)


def test_names_of_faults_are_unique():
    names = [folder_of(fault) for fault in (*READ, *STORED, *SOURCE)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("check", READING)
def test_untouched_book_is_green_in(check: str, small_book: Path):
    assert READING[check](small_book) == []


def test_untouched_book_is_green_in_nbval(comparison: Comparison):
    path = f"{UNTOUCHED}/{SECTION}"
    assert comparison.num_cells[path] == NUM_CELLS
    assert path not in comparison.failed


@pytest.mark.parametrize("fault", READ, ids=named)
def test_reading_finds(fault: Fault, copy_book: Callable[[], Path]):
    copy = copy_book()
    fault.plant(copy)
    found = red(copy)
    assert set(found) == set(fault.red), found
    said = "\n".join(found[fault.red[0]])
    assert re.search(fault.says, said), said


@pytest.mark.parametrize("fault", [*STORED, *SOURCE], ids=named)
def test_only_nbval_finds(
    fault: Fault, comparison: Comparison, copy_book: Callable[[], Path]
):
    copy = copy_book()
    fault.plant(copy)
    assert red(copy) == {}
    failed = comparison.failed[f"{folder_of(fault)}/{SECTION}"]
    assert set(failed) == {fault.cell}, failed
    assert re.search(fault.says, failed[fault.cell]), failed[fault.cell]
    assert comparison.status != 0


@pytest.mark.parametrize(
    "fault", [fault for fault in RUN if not fault.cell], ids=named
)
def test_nbval_alone_lets_pass(fault: Fault, comparison: Comparison):
    path = f"{folder_of(fault)}/{SECTION}"
    assert comparison.num_cells[path] == NUM_CELLS
    assert path not in comparison.failed
