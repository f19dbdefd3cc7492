"""The checks of a built site, as functions of its folder.

``check_files`` reads the files; ``visit`` opens one page in a browser;
``check_behaviour`` uses the site as a reader does. Each returns findings:
an empty list is the aim. ``check_site`` runs all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from bookcheck.site_behaviour import BEHAVIOURS, check_behaviour
from bookcheck.site_browser import open_browser
from bookcheck.site_content import (
    check_alt_text,
    check_heads,
    check_ids,
    check_launchers,
    check_public_files,
    check_traceback,
)
from bookcheck.site_html import Finding, Site
from bookcheck.site_links import check_links, check_order, check_outside
from bookcheck.site_visit import visit

__all__ = [
    "BEHAVIOURS",
    "FILE_CHECKS",
    "Finding",
    "Site",
    "check_behaviour",
    "check_files",
    "check_site",
    "open_browser",
    "visit",
    "visited_pages",
]

FILE_CHECKS: dict[str, Callable[[Site], Iterator[Finding]]] = {
    "links": check_links,
    "order": check_order,
    "outside requests": check_outside,
    "alt text": check_alt_text,
    "heads": check_heads,
    "traceback": check_traceback,
    "ids": check_ids,
    "launch buttons": check_launchers,
    "public files": check_public_files,
}


def check_files(site: Site) -> list[Finding]:
    """Return the faults that can be read from a site's files.

    A folder without a page of text is itself a fault: a gate that looks
    at nothing must not be green.
    """
    if not site.text:
        message = f"no page of text in {site.folder}"
        return [Finding("index", "empty", message)]
    return [
        finding for check in FILE_CHECKS.values() for finding in check(site)
    ]


def visited_pages(site: Site) -> list[str]:
    """Return the pages that are opened one by one.

    The root page only leads on, and the page for lost addresses works only
    from a web server, where ``check_behaviour`` opens it.
    """
    return [name for name in site.pages if name not in ("index", "404")]


def check_site(folder: Path, *, axe: bool = True) -> list[Finding]:
    """Return all faults of a site.

    Args:
        folder: Folder of the built site.
        axe: Also look for barriers with axe (2 s a page).

    Raises:
        NoBrowserError: No Chromium was found.
    """
    site = Site(folder.resolve())
    findings = check_files(site)
    with open_browser() as browser:
        for name in visited_pages(site):
            findings += visit(browser, site.folder, name, axe=axe)
        findings += check_behaviour(browser, site)
    return findings
