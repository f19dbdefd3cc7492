"""Links of a built site: each leads to a file and an id that exist."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit

from bookcheck.site_html import Finding, Page, Site, attribute

# Attributes with which a page loads a file by itself.
LOADED = (
    ("script", "src"),
    ("img", "src"),
    ("source", "src"),
    ("iframe", "src"),
    ("video", "src"),
    ("audio", "src"),
    ("object", "data"),
)
LOADED_LINKS = {"stylesheet", "icon", "preload", "modulepreload", "manifest"}
IMPORTED = re.compile(r"""(?:url\(|@import)\s*["']?(https?:)?//[^"')\s]+""")
HOST = re.compile(r"^(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$")


def check_links(site: Site) -> Iterator[Finding]:
    """Check every link of every page; pages elsewhere are not requested."""
    known = site.pages
    for page in known.values():
        for tag in page.soup.find_all("a", href=True):
            href = attribute(tag, "href")
            fault = link_fault(page, href, known)
            if fault:
                yield page.finding("link", f"{href!r}: {fault}")


def link_fault(page: Page, href: str, known: dict[str, Page]) -> str:
    """Return what is wrong with a link, or an empty text."""
    parts = urlsplit(href)
    if parts.scheme == "mailto":
        return "" if "@" in parts.path else "expected an address"
    if parts.scheme or parts.netloc:
        good = parts.scheme == "https" and HOST.match(parts.hostname or "")
        return "" if good else "expected an https address of a host"
    if page.name == "404" and parts.path.startswith("/"):
        return absolute_fault(page, parts.path)
    return local_fault(
        page, unquote(parts.path), unquote(parts.fragment), known
    )


def local_fault(
    page: Page, path: str, anchor: str, known: dict[str, Page]
) -> str:
    """Return what is wrong with a link within the site."""
    here = posixpath.dirname(page.name)
    target = posixpath.normpath(posixpath.join(here, path)) if path else ""
    if target.startswith(".."):
        return "leaves the site"
    if path and not (page.site / target).is_file():
        return "leads to no file"
    aimed = known.get(target.removesuffix(".html")) if path else page
    # "#" alone is the top of the page, always there.
    if anchor and aimed is not None and anchor not in aimed.ids:
        return f"leads to no id {anchor!r}"
    return ""


def absolute_fault(page: Page, path: str) -> str:
    """Return what is wrong with a link of the page for lost addresses.

    It is shown at any depth, so its links start at the host and carry the
    folder in which the site is published.
    """
    parts = [part for part in unquote(path).split("/") if part]
    for first in range(min(2, len(parts)) + 1):
        if (page.site / "/".join(parts[first:])).exists():
            return ""
    return "leads to no file"


def check_outside(site: Site) -> Iterator[Finding]:
    """Find files of other hosts that a page or a style sheet would load."""
    for page in site.pages.values():
        for address in loaded_addresses(page):
            parts = urlsplit(address)
            if parts.netloc or parts.scheme not in ("", "data"):
                yield page.finding("outside request", address)
        for style in page.soup.find_all("style"):
            for match in IMPORTED.finditer(style.get_text()):
                yield page.finding("outside request", match[0])
    for sheet in sorted(site.folder.rglob("*.css")):
        text = sheet.read_text(encoding="utf-8")
        name = sheet.relative_to(site.folder).as_posix()
        for match in IMPORTED.finditer(text):
            yield Finding(name, "outside request", match[0])


def loaded_addresses(page: Page) -> Iterator[str]:
    """Yield what a page loads by itself, as written."""
    for name, key in LOADED:
        for tag in page.soup.find_all(name):
            if attribute(tag, key):
                yield attribute(tag, key)
    for tag in page.soup.find_all("link", href=True):
        if LOADED_LINKS & set(attribute(tag, "rel").split()):
            yield attribute(tag, "href")


def check_order(site: Site) -> Iterator[Finding]:
    """Check that the "next" links lead through all of the text."""
    known = site.text
    following: dict[str, str] = {}
    for page in known.values():
        link = page.soup.select_one("a.right-next")
        if link is not None:
            here = posixpath.dirname(page.name)
            path = posixpath.join(here, attribute(link, "href"))
            target = posixpath.normpath(path).removesuffix(".html")
            following[page.name] = target
    starts = set(known) - set(following.values())
    if len(starts) != 1:
        got = ", ".join(sorted(starts)) or "none"
        yield Finding("index", "order", f"first pages: got {got}, expected one")
        return
    at, seen = starts.pop(), set()
    while at in known and at not in seen:
        seen.add(at)
        at = following.get(at, "")
    for name in sorted(set(known) - seen):
        yield Finding(name, "order", 'no chain of "next" links leads here')
