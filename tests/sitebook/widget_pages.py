"""Pages with one interactive figure, opened in a real browser.

Imported by ``conftest.py``: a widget's tests ask for ``widget_page`` to
write its page and for ``open_page`` to open one.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from bookcheck.site_browser import block_outside
from bookcheck.site_visit import follow
from cutaway.book import trace

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
