"""One visit to a page in a browser: loaded once, looked at in many ways."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

from bookcheck.site_browser import block_outside
from bookcheck.site_html import Finding
from bookcheck.site_scripts import (
    BROKEN_IMAGES,
    FORMULA_ERRORS,
    IDLE_WIDGETS,
    MARK_REPEATED_CODE,
    OVERFLOW,
    RAW_FORMULAS,
    SCROLLING_CODE,
    SETTLED,
)

if TYPE_CHECKING:
    from playwright.sync_api import Browser, ConsoleMessage
    from playwright.sync_api import Page as Tab

MOST_BYTES = 150_000
MOST_BYTES_WITH_MATH = 400_000
# Grows with the book, and only the search page loads it.
SEARCH_INDEX = "searchindex.js"
MOST_BYTES_OF_INDEX = 150_000
WIDE, NARROW = 1280, 390
AXE = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
    "resultTypes": ["violations"],
}
# Colours do not depend on the width, and take most of the time.
WITHOUT_COLOURS = {**AXE, "rules": {"color-contrast": {"enabled": False}}}
LOOKS = (
    ("light", WIDE, AXE),
    ("dark", WIDE, AXE),
    ("dark", NARROW, WITHOUT_COLOURS),
)


@dataclass
class Record:
    """What a browser reported while a page was open."""

    outside: list[str] = field(default_factory=list)
    console: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    failed: list[str] = field(default_factory=list)
    loaded: set[Path] = field(default_factory=set)


@cache
def compressed_bytes(file: Path) -> int:
    """Return how many bytes of a file a web server would send."""
    return len(gzip.compress(file.read_bytes(), 6))


def follow(tab: Tab) -> Record:
    """Note what happens in a tab from now on."""
    record = Record()

    def heard(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            record.console.append(f"{message.type}: {message.text}")

    def finished(url: str) -> None:
        if urlsplit(url).scheme == "file":
            path = url2pathname(unquote(urlsplit(url).path))
            record.loaded.add(Path(path))

    tab.on("console", heard)
    tab.on("pageerror", lambda error: record.errors.append(str(error)))
    tab.on("requestfailed", lambda request: record.failed.append(request.url))
    tab.on("requestfinished", lambda request: finished(request.url))
    return record


def visit(
    browser: Browser, site: Path, name: str, *, axe: bool = True
) -> list[Finding]:
    """Open a page from disk and return its faults.

    The page is loaded once; theme and width are switched in place.

    Args:
        browser: A browser of ``open_browser``.
        site: The site's folder.
        name: The page, without its suffix.
        axe: Also look for barriers with axe (2 s a page).
    """
    context = browser.new_context(
        viewport={"width": WIDE, "height": 900}, reduced_motion="reduce"
    )
    try:
        tab = context.new_page()
        record = follow(tab)
        block_outside(context, record.outside)
        tab.goto((site.resolve() / f"{name}.html").as_uri())
        tab.evaluate(SETTLED)
        tab.wait_for_load_state("networkidle")
        found = [*loading(record), *looks(tab)]
        if axe:
            found += barriers(tab)
    finally:
        context.close()
    return [Finding(name, rule, message) for rule, message in found]


def loading(record: Record) -> Iterator[tuple[str, str]]:
    """Yield the faults of loading; read before axe, which itself fetches."""
    for rule, messages in (
        ("outside request", record.outside),
        ("console", record.console),
        ("page error", record.errors),
        ("failed request", record.failed),
    ):
        for message in dict.fromkeys(messages):
            yield rule, message
    math = any("mathjax" in file.parts for file in record.loaded)
    most = MOST_BYTES_WITH_MATH if math else MOST_BYTES
    if any(file.name == SEARCH_INDEX for file in record.loaded):
        most += MOST_BYTES_OF_INDEX
    total = sum(compressed_bytes(file) for file in record.loaded)
    if total > most:
        largest = sorted(record.loaded, key=compressed_bytes)[-3:]
        names = ", ".join(
            f"{file.name} {compressed_bytes(file):,}" for file in largest
        )
        yield "weight", f"got {total:,} bytes, expected <= {most:,} ({names})"


def looks(tab: Tab) -> Iterator[tuple[str, str]]:
    """Yield what is wrong with a page's layout; leaves it narrow."""
    for rule, script in (
        ("alt text", BROKEN_IMAGES),
        ("formula", FORMULA_ERRORS),
        ("formula", RAW_FORMULAS),
        ("widget", IDLE_WIDGETS),
        ("code width", SCROLLING_CODE),
    ):
        for message in tab.evaluate(script):
            yield rule, message
    for width in (WIDE, NARROW):
        tab.set_viewport_size({"width": width, "height": 844})
        needed = tab.evaluate("document.documentElement.scrollWidth")
        beyond = tab.evaluate(OVERFLOW)
        if needed > width or beyond:
            shown = "; ".join(beyond)
            yield "overflow", f"{needed} px wide at {width} px: {shown}"


def barriers(tab: Tab) -> Iterator[tuple[str, str]]:
    """Yield what axe finds in both themes and at both widths."""
    from axe_playwright_python.sync_playwright import Axe

    seen: set[tuple[str, str]] = set()
    tab.evaluate(MARK_REPEATED_CODE)
    once = {"exclude": [["[data-repeated]"]]}
    for theme, width, options in LOOKS:
        switch(tab, theme)
        tab.set_viewport_size({"width": width, "height": 844})
        response = Axe().run(tab, once, options).response
        for violation in response["violations"]:
            key = (violation["id"], theme)
            if key not in seen:
                seen.add(key)
                yield "axe", f"{theme}, {width} px: {describe(violation)}"


def switch(tab: Tab, theme: str) -> None:
    """Set the theme as its button does."""
    tab.evaluate(
        "theme => { const data = document.documentElement.dataset;"
        " data.mode = theme; data.theme = theme; }",
        theme,
    )


def describe(violation: dict[str, Any]) -> str:
    """Return a violation with its first places."""
    places = [str(node["html"])[:150] for node in violation["nodes"][:3]]
    count = len(violation["nodes"])
    return f"{violation['id']} ({count} places): {' | '.join(places)}"
