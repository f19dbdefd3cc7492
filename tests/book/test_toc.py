"""The book as a whole: complete, normalised, and made of the package."""

from __future__ import annotations

from pathlib import Path

import pytest

import nb
from bookcheck.coverage import code_cells, names_used, unexercised
from bookcheck.hygiene import notebooks
from bookcheck.toc import toc_problems

ROOT = Path(__file__).resolve().parents[2]
BOOK = ROOT / "book"
NOTEBOOKS = notebooks(BOOK)

each_notebook = pytest.mark.parametrize(
    "path", NOTEBOOKS, ids=lambda p: p.relative_to(BOOK).as_posix()
)


def test_toc_and_files_are_the_same_set():
    assert NOTEBOOKS
    assert toc_problems(ROOT) == []


@each_notebook
def test_notebook_is_in_normal_form(path: Path):
    nb.check_one(path)


@each_notebook
def test_notebook_uses_the_package(path: Path):
    assert names_used(code_cells(path)), f"{path.name} uses nothing of cutaway"


def test_every_public_name_is_exercised():
    pages = [BOOK / "api.md", *sorted((BOOK / "api").glob("*.md"))]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    missing = unexercised(NOTEBOOKS, text)
    assert not missing, (
        "used by no chapter, and on the API page with no doctest: "
        + ", ".join(missing)
    )
