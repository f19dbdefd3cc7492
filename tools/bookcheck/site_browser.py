"""A browser for the checks of a built site, and the site seen from it."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urlsplit

from cutaway.cli.browser import find_browser

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Route

FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
)
# A host that does not exist: its pages are served from the site's folder.
ORIGIN = "https://cutaway.test"


@contextmanager
def open_browser() -> Iterator[Browser]:
    """Start a headless browser; it ends with the block."""
    from playwright.sync_api import sync_playwright

    executable = find_browser()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=executable, args=list(FLAGS)
        )
        try:
            yield browser
        finally:
            browser.close()


def block_outside(context: BrowserContext, requested: list[str]) -> None:
    """Refuse every request that leaves the disk, and note its address."""

    def refuse(route: Route) -> None:
        requested.append(route.request.url)
        route.abort()

    context.route(lambda url: urlsplit(url).scheme in ("http", "https"), refuse)
    context.route_web_socket(
        lambda url: True, lambda ws: requested.append(ws.url)
    )


def serve(context: BrowserContext, site: Path, prefix: str) -> None:
    """Answer requests to ``ORIGIN`` as a web server would.

    Addresses that lead to no file get the page ``404.html``, as on a
    public host. Nothing listens on the network.
    """

    def answer(route: Route) -> None:
        path = unquote(urlsplit(route.request.url).path)
        file = site / path.removeprefix(prefix).lstrip("/")
        if file.is_dir():
            file /= "index.html"
        status = 200
        if not path.startswith(prefix) or not file.is_file():
            file, status = site / "404.html", 404
        kind = mimetypes.guess_type(file.name)[0] or "text/plain"
        route.fulfill(status=status, content_type=kind, body=file.read_bytes())

    context.route(f"{ORIGIN}/**", answer)
