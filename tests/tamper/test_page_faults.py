"""Faults in the pages' sources, found on the built site, page by page."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from bookcheck.site import Site, check_files, visit
from bookcheck.site_html import Finding
from sitetools import SiteError, build
from tamper.copies import add_settings
from tamper.faults_site import SITE, PageFault

pytestmark = [pytest.mark.browser, pytest.mark.tamper]

SECTION = "book/part/section"
EMPTY = "book/empty"


def named(fault: PageFault) -> str:
    return fault.name


@pytest.fixture(scope="module")
def book(small_book: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the small book with the real book's settings and layout."""
    root = tmp_path_factory.mktemp("pages") / "copy"
    shutil.copytree(small_book, root)
    add_settings(root)
    return root


@pytest.fixture(scope="module")
def untouched(book: Path) -> Site:
    """The site of the untouched book."""
    return Site(build(book))


@pytest.fixture(scope="module")
def damaged(book: Path, tmp_path_factory: pytest.TempPathFactory) -> Site:
    """The site of a copy with one page more for every fault."""
    root = tmp_path_factory.mktemp("damaged") / "copy"
    shutil.copytree(book, root, ignore=shutil.ignore_patterns("_build"))
    sources = {fault.page: fault.source for fault in SITE}
    sources[EMPTY] = "# Empty\n\nFew words.\n"
    for name, text in sources.items():
        (root / f"{name}.md").write_text(text, encoding="utf-8")
    toc = (root / "_toc.yml").read_text(encoding="utf-8")
    toc += "".join(f"      - file: {name}\n" for name in sources)
    (root / "_toc.yml").write_text(toc, encoding="utf-8")
    with pytest.raises(SiteError) as caught:
        build(root)
    lines = str(caught.value).splitlines()
    assert len(lines) == 1, lines
    assert re.match(rf"{EMPTY}: got an article of \d+ words", lines[0])
    return Site(root / "_build" / "html")


@pytest.fixture(scope="module")
def in_files(damaged: Site) -> list[Finding]:
    """What the files of the damaged site say."""
    return check_files(damaged)


def test_untouched_site_is_green(untouched: Site, browser):
    assert check_files(untouched) == []
    for name in untouched.text:
        axe = name == SECTION
        assert visit(browser, untouched.folder, name, axe=axe) == []


def test_untouched_pages_of_the_damaged_site_are_green(
    untouched: Site, in_files: list[Finding]
):
    assert {finding.page for finding in in_files}.isdisjoint(untouched.text)


@pytest.mark.parametrize("fault", SITE, ids=named)
def test_site_check_finds(
    fault: PageFault, damaged: Site, in_files: list[Finding], browser
):
    found = [finding for finding in in_files if finding.page == fault.page]
    found += visit(browser, damaged.folder, fault.page, axe=fault.axe)
    rules = {finding.rule for finding in found}
    assert fault.rule in rules <= {fault.rule, *fault.also}, found
    said = "\n".join(f.message for f in found if f.rule == fault.rule)
    assert re.search(fault.says, said), said
