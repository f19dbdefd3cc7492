"""The hygiene gate over the real book."""

from __future__ import annotations

from pathlib import Path

import pytest

from bookcheck.hygiene import check_notebook, notebooks

BOOK = Path(__file__).resolve().parents[2] / "book"
NOTEBOOKS = notebooks(BOOK)


def test_the_book_has_notebooks():
    assert NOTEBOOKS, f"no notebook below {BOOK.name}/ was collected"


@pytest.mark.parametrize(
    "path", NOTEBOOKS, ids=lambda p: p.relative_to(BOOK).as_posix()
)
def test_notebook_hides_nothing_from_nbval(path: Path):
    findings = check_notebook(path, section=path.parent != BOOK)
    assert not findings, "\n".join(map(str, findings))
