"""Pages with one interactive figure, opened in a real browser.

Imported by ``conftest.py``: a widget's tests ask for ``widget_page`` to
write its page and for ``open_page`` to open one. The ``check_...`` below hold
for every widget; each has a test for them.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bookcheck.site_browser import block_outside
from bookcheck.site_visit import barriers, follow, switch
from cutaway.book import trace

PICTURE = ".cutaway-static svg[role=img]"
STATIC = Path(__file__).resolve().parents[2] / "book" / "_static"
PAGE = """<!doctype html>
<html lang="en" data-theme="light"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Widgets</title>
{styles}
<style>
body {{ max-width: 46rem; margin: 1rem auto; padding: 0 1rem;
  font-family: system-ui, sans-serif; background: #fff; color: #222832; }}
html[data-theme="dark"] body {{ background: #14181e; color: #ced6dd; }}
</style>
{scripts}</head>
<body><main><h1>Widgets</h1>{body}</main></body></html>
"""


def assets(widget: str) -> list[Path]:
    """The scripts and style sheets of a page with this widget."""
    names = [
        "js/cutaway.js",
        f"js/widget-{widget}.js",
        "css/widgets.css",
        f"css/widget-{widget}.css",
    ]
    return [path for name in names if (path := STATIC / name).exists()]


def head(files: list[Path]) -> dict[str, str]:
    """The elements that load them."""
    return {
        "styles": "".join(
            f'<link rel="stylesheet" href="{file.name}">\n'
            for file in files
            if file.suffix == ".css"
        ),
        "scripts": "".join(
            f'<script defer src="{file.name}"></script>\n'
            for file in files
            if file.suffix == ".js"
        ),
    }


@pytest.fixture(scope="session")
def widget_page(tmp_path_factory):
    """Write the page that ``trace.emit`` would put on the site."""

    def write(name: str, data, *, widget: str, **options) -> Path:
        folder = tmp_path_factory.mktemp("widgets")
        files = assets(widget)
        for file in files:
            shutil.copy(file, folder)
        shown: list[str] = []
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(
                trace, "show_html", lambda markup, _: shown.append(markup)
            )
            trace.emit(name, data, widget=widget, **options)
        page = folder / "page.html"
        page.write_text(PAGE.format(body=shown[0], **head(files)), "utf-8")
        return page

    return write


@pytest.fixture
def open_page(browser):
    """Open a page; at the end, no error and no request may be left."""
    opened = []

    def open_it(file: Path, **options):
        options = {"reduced_motion": "reduce", **options}
        context = browser.new_context(**options)
        tab = context.new_page()
        record = follow(tab)
        block_outside(context, record.outside)
        tab.goto(file.as_uri())
        opened.append((context, record))
        return tab

    yield open_it
    for context, record in opened:
        context.close()
        assert record.outside == []
        assert record.errors == []
        assert record.failed == []
        assert record.console == []


def check_replaced(tab, page_file: Path, open_page) -> None:
    """The widget is on the page, its picture in print and without scripts."""
    assert tab.locator(".cw").is_visible()
    assert not tab.locator(".cutaway-static").is_visible()
    assert tab.locator("figure.cutaway-widget[data-ready]").count() == 1
    tab.emulate_media(media="print")
    assert not tab.locator(".cw").is_visible()
    assert tab.locator(PICTURE).is_visible()
    still = open_page(page_file, java_script_enabled=False)
    assert still.locator(PICTURE).is_visible()
    assert still.locator(".cw").count() == 0


def check_width(tab, width: int) -> None:
    """The page is no wider than its window."""
    assert tab.evaluate("document.documentElement.scrollWidth") == width


def check_letters(tab) -> None:
    """No text is below 12 pixels; that of a chart scales with the chart."""
    sizes = tab.evaluate(
        """() => [...document.querySelectorAll(".cw *")]
          .filter(n => n.textContent && !n.children.length)
          .filter(n => !n.closest("svg"))
          .map(n => parseFloat(getComputedStyle(n).fontSize))"""
    )
    assert min(sizes) >= 12


def check_targets(open_page, page_file: Path):
    """Whatever a finger may touch is 40 pixels high and wide.

    Returns:
        The tab, which has a touch screen.
    """
    tab = open_page(
        page_file, viewport={"width": 390, "height": 900}, has_touch=True
    )
    targets = tab.locator(".cw").locator("button, input, select, textarea")
    assert targets.count() > 0
    for target in targets.all():
        box = target.bounding_box()
        assert min(box["height"], box["width"]) >= 40
    return tab


def check_barriers(browser, page_file: Path, prepare=None) -> None:
    """axe finds no barrier, in light and in dark."""
    tab = browser.new_page(reduced_motion="reduce")  # axe asks for more files
    tab.goto(page_file.as_uri())
    if prepare is not None:
        prepare(tab)
    assert list(barriers(tab)) == []
    tab.close()


def check_dark(tab, selector: str = ".cw", name: str = "backgroundColor"):
    """Dark mode changes a colour."""
    colour = f"getComputedStyle(document.querySelector({selector!r})).{name}"
    light = tab.evaluate(colour)
    switch(tab, "dark")
    assert tab.evaluate(colour) != light
