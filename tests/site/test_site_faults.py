"""Faults planted in a built site: each turns its own check red."""

from __future__ import annotations

import base64
import random
import re
import shutil
from pathlib import Path

import pytest

from bookcheck.site import Site, check_behaviour, check_files, visit

pytestmark = [pytest.mark.browser, pytest.mark.tamper]

SECTION = "book/part/section"
NOISE = base64.b64encode(random.Random(1).randbytes(400_000)).decode()
INTO_FILES = {
    "link": '<a href="gone.html">gone</a>',
    "link to no id": '<a href="../words.html#gone">gone</a>',
    "link without https": '<a href="http://example.org/">plain</a>',
    "link to no host": '<a href="https://example">host</a>',
    "outside request": '<script src="https://example.org/a.js"></script>',
    "outside request of a picture": '<img alt="a" src="//example.org/a.png">',
    "alt text": '<img src="../../_static/favicon.svg">',
    "alt text for a picture of the text": (
        '<img alt="" src="../../_static/favicon.svg">'
    ),
    "alt text of a figure": '<svg viewBox="0 0 1 1"></svg>',
    "traceback": "<pre>Traceback (most recent call last):</pre>",
    "ids": '<p id="twice"></p><p id="twice"></p>',
}
INTO_PAGE = {
    "console": "<script>console.error('planted')</script>",
    "page error": "<script>throw new Error('planted')</script>",
    "failed request": '<img alt="a" src="gone.png">',
    "outside request": (
        "<script>fetch('https://example.org').catch(() => 0)</script>"
    ),
    "overflow": '<div style="width: 900px">wide</div>',
    "widget": '<script type="application/json" data-widget="w">{}</script>',
    "formula": r'<span class="math">\(\planted\)</span>',
    "weight": f"<template>{NOISE}</template>",
    "code width": "<style>.bd-article pre{font-size:17px!important}</style>",
    "axe": '<p style="color: #777; background: #888">faint</p>',
    "axe for a button": "<button></button>",
    "axe in dark mode": (
        "<style>[data-theme=dark] article p{color:#333!important}</style>"
    ),
}


@pytest.fixture
def copy(small_site: Site, tmp_path: Path) -> Site:
    """A copy of the small site, to be damaged."""
    shutil.copytree(small_site.folder, tmp_path / "site")
    return Site(tmp_path / "site")


def plant(site: Site, page: str, markup: str) -> None:
    """Put markup at the end of a page's article."""
    change(site, f"{page}.html", "</article>", f"{markup}</article>")


def change(site: Site, name: str, old: str, new: str) -> None:
    """Replace a text in a file of the site, which must contain it."""
    file = site.folder / name
    text = file.read_text(encoding="utf-8")
    assert old in text, f"{name} has no {old!r}"
    file.write_text(text.replace(old, new), encoding="utf-8")


def rules(findings) -> set[str]:
    return {finding.rule for finding in findings}


def rule_of(fault: str) -> str:
    """The rule that a fault breaks: its name without the detail."""
    return re.split(r" (?:to|without|of|for|in) ", fault)[0]


def test_site_without_faults_is_green(small_site, browser):
    assert check_files(small_site) == []
    assert visit(browser, small_site.folder, SECTION) == []
    assert check_behaviour(browser, small_site) == []


@pytest.mark.parametrize("fault", INTO_FILES)
def test_fault_in_a_file_turns_its_rule_red(copy, fault):
    plant(copy, SECTION, INTO_FILES[fault])
    findings = check_files(copy)
    assert rules(findings) == {rule_of(fault)}
    assert {finding.page for finding in findings} == {SECTION}


@pytest.mark.parametrize("fault", INTO_PAGE)
def test_fault_on_a_page_turns_its_rule_red(copy, browser, fault):
    plant(copy, SECTION, INTO_PAGE[fault])
    rule = rule_of(fault)
    found = rules(visit(browser, copy.folder, SECTION, axe=rule == "axe"))
    assert rule in found
    # A picture or request that fails is also said on the console.
    assert found <= {rule, "console", "failed request", "alt text"}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('<html lang="en"', "<html"),
        ("<title>What a pass costs", "<title>Words"),
        ('name="description"', 'name="other"'),
        ('property="og:title"', 'property="og:other"'),
        ('name="viewport"', 'name="other"'),
        ("<h1>", "<h1>Second</h1><h1>"),
    ],
)
def test_damaged_head_is_found(copy, old, new):
    change(copy, f"{SECTION}.html", old, new)
    assert rules(check_files(copy)) == {"head"}


def test_button_that_opens_another_notebook_is_found(copy):
    change(copy, f"{SECTION}.html", "part/section.ipynb", "part/other.ipynb")
    assert "launch" in rules(check_files(copy))


def test_missing_page_is_found(copy):
    (copy.folder / "book" / "words.html").unlink()
    found = rules(check_files(copy))
    assert {"link", "order", "public files"} <= found


def test_page_outside_the_order_is_found(copy):
    change(copy, "book/index.html", "right-next", "right-other")
    assert rules(check_files(copy)) == {"order"}


@pytest.mark.parametrize("name", ["robots.txt", "searchindex.js", "404.html"])
def test_missing_public_file_is_found(copy, name):
    (copy.folder / name).unlink()
    assert "public files" in rules(check_files(copy))


def test_page_missing_from_the_sitemap_is_found(copy):
    change(copy, "sitemap.xml", "section.html", "other.html")
    assert rules(check_files(copy)) == {"public files"}


def test_style_sheet_that_loads_a_font_from_a_host_is_found(copy):
    sheet = copy.folder / "_static" / "css" / "book.css"
    rule = '@import "https://example.org/font.css";'
    sheet.write_text(rule + sheet.read_text(encoding="utf-8"))
    assert rules(check_files(copy)) == {"outside request"}


def test_empty_site_is_not_green(tmp_path):
    assert rules(check_files(Site(tmp_path))) == {"empty"}


@pytest.mark.parametrize(
    ("behaviour", "name", "old", "new"),
    [
        ("search", "searchindex.js", '"titles"', '"nothing"'),
        ("copy", "_static/copybutton.js", "new ClipboardJS", "new Object"),
        ("theme", "_static/scripts/pydata-sphinx-theme.js", "theme", "them"),
        ("next and previous", "book/index.html", "part/section", "words"),
        ("citation", "_static/js/book.js", "citation-popover", "popover"),
        ("print", "_static/css/book.css", "@media print", "@media speech"),
        ("print", "_static/js/book.js", 'matchMedia("print")', "window"),
        ("menu", f"{SECTION}.html", "primary-toggle", "other-toggle"),
        ("lost page", "404.html", "/cutaway/_static", "/other/_static"),
        ("root page", "index.html", 'http-equiv="refresh"', "hidden"),
    ],
)
def test_broken_behaviour_is_found(copy, browser, behaviour, name, old, new):
    change(copy, name, old, new)
    if behaviour == "menu":
        for page in ("book/index", "book/words", "book/sources"):
            change(copy, f"{page}.html", old, new)
    assert rules(check_behaviour(browser, copy, behaviour)) == {behaviour}
