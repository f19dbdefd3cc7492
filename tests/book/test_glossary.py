"""Every term is introduced by a section and explained in the glossary."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bookcheck import glossary

BOOK = Path(__file__).resolve().parents[2] / "book"
PAGE = BOOK / "glossary.md"


def test_terms_of_the_book_and_of_the_glossary_agree():
    notebooks = sorted(BOOK.glob("*/*.ipynb"))
    assert notebooks, "no notebook was collected"
    assert glossary.findings(notebooks, PAGE) == []


@pytest.fixture
def section(tmp_path):
    def write(*cells):
        path = tmp_path / "section.ipynb"
        cells = [{"cell_type": "markdown", "source": [cell]} for cell in cells]
        path.write_text(json.dumps({"cells": cells}))
        page = tmp_path / "glossary.md"
        page.write_text(
            "```{glossary}\n:sorted:\n\ntoken\n  A piece.\n\nquery\n  Asks.\n```\n"
        )
        return glossary.findings([path], page)

    return write


def test_a_bold_term_without_an_entry_is_found(section):
    found = section("A **token** and its **queries** make a **widget**.")
    assert len(found) == 1
    assert "widget" in found[0]


def test_an_entry_that_no_section_introduces_is_found(section):
    found = section("A **token** is not code: `**query**`.")
    assert len(found) == 1
    assert "'query'" in found[0]


def test_run_in_headings_are_not_terms(section):
    assert section("**The question.** A **token** has a **query**.") == []
