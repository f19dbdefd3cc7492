"""The site under test.

``CUTAWAY_SITE`` names a built site to test in place of the book's own, which
is built first (a build without changes takes a second).
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bookcheck.site import Site
from sitebook.kv_calculator import calculator, calculator_page
from sitebook.make import make_book
from sitebook.widget_pages import open_page, widget_page
from sitetools import build, toc_entries

ROOT = Path(__file__).resolve().parents[2]
VARIABLE = "CUTAWAY_SITE"

__all__ = ["calculator", "calculator_page", "open_page", "widget_page"]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test once for each page that a reader can open."""
    if "page_name" in metafunc.fixturenames:
        named = os.environ.get(VARIABLE)
        if named:
            names = list(Site(Path(named).resolve()).text)
        else:
            names = toc_entries(ROOT)
        metafunc.parametrize("page_name", [*names, "search"])


@pytest.fixture(scope="session")
def site() -> Site:
    """The site under test."""
    named = os.environ.get(VARIABLE)
    return Site(Path(named).resolve() if named else build(ROOT))


@pytest.fixture(scope="session")
def small_book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small book with the real layout and settings, built once."""
    root = make_book(tmp_path_factory.mktemp("small") / "book")
    build(root)
    return root


@pytest.fixture(scope="session")
def small_site(small_book: Path) -> Site:
    """The small book's site: without a fault."""
    return Site(small_book / "_build" / "html")
