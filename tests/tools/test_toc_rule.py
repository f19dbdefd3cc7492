"""A page without an entry and an entry without a page are both found."""

from __future__ import annotations

from pathlib import Path

import pytest

from bookcheck.toc import pages, toc_entries, toc_problems

TOC = """\
format: jb-book
root: book/index
parts:
  - caption: One
    chapters:
      - file: book/one/first
        sections:
          - file: book/one/deeper
  - caption: Two
    chapters:
      - file: book/glossary
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "_toc.yml").write_text(TOC)
    for name in (
        "index.md",
        "glossary.md",
        "one/first.ipynb",
        "one/deeper.ipynb",
        "one/first.nb.md",
        "_static/notes.md",
        "one/.ipynb_checkpoints/first.ipynb",
    ):
        path = tmp_path / "book" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return tmp_path


def test_entries_come_in_reading_order(root):
    assert toc_entries(root / "_toc.yml") == [
        "book/index",
        "book/one/first",
        "book/one/deeper",
        "book/glossary",
    ]


def test_complete_toc_has_no_problem(root):
    assert toc_problems(root) == []


def test_text_views_and_hidden_folders_hold_no_pages(root):
    names = [
        p.relative_to(root / "book").as_posix() for p in pages(root / "book")
    ]
    assert names == [
        "one/deeper.ipynb",
        "one/first.ipynb",
        "glossary.md",
        "index.md",
    ]


@pytest.mark.parametrize("name", ["one/second.ipynb", "extra.md"])
def test_page_without_an_entry_is_found(root, name):
    (root / "book" / name).touch()
    assert toc_problems(root) == [f"book/{name} is not in _toc.yml"]


def test_entry_without_a_page_is_found(root):
    (root / "book/one/first.ipynb").unlink()
    [problem] = toc_problems(root)
    assert problem.startswith("book/one/first: no file")


def test_two_files_for_one_entry_are_found(root):
    (root / "book/one/first.md").touch()
    [problem] = toc_problems(root)
    assert problem.startswith("book/one/first: two files")


def test_entry_listed_twice_is_found(root):
    toc = root / "_toc.yml"
    toc.write_text(toc.read_text() + "      - file: book/one/first\n")
    assert toc_problems(root) == ["book/one/first is listed twice"]
