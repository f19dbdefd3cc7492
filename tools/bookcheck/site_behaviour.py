"""A built site used as a reader uses it: what should happen does happen."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from bookcheck.site_browser import ORIGIN, block_outside, serve
from bookcheck.site_content import meta
from bookcheck.site_html import Finding, Page, Site, attribute
from bookcheck.site_visit import NARROW, WIDE, follow, switch

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Browser
    from playwright.sync_api import Page as Tab

PATIENCE_MS = 5_000
HIDDEN_ON_PAPER = (
    ".bd-sidebar-primary",
    ".bd-sidebar-secondary",
    ".bd-header-article",
    ".prev-next-footer",
    ".copybtn",
)


@contextmanager
def opened(browser: Browser, site: Site, address: str) -> Iterator[Tab]:
    """Open an address of the site; yield the tab.

    Args:
        browser: The browser.
        site: The site.
        address: A path within the site, opened from disk; or an address of
            ``ORIGIN``, answered as a web server would.
    """
    served = address.startswith(ORIGIN)
    context = browser.new_context(
        viewport={"width": WIDE, "height": 900}, reduced_motion="reduce"
    )
    context.set_default_timeout(PATIENCE_MS)
    try:
        block_outside(context, [])
        if served:
            context.grant_permissions(
                ["clipboard-read", "clipboard-write"], origin=ORIGIN
            )
            serve(context, site.folder, public_path(site))
        tab = context.new_page()
        tab.goto(address if served else (site.folder / address).as_uri())
        yield tab
    finally:
        context.close()


def public_path(site: Site) -> str:
    """Return the folder under which the site is published, from its pages."""
    first = next(iter(site.text.values()))
    path = urlsplit(meta(first, "og:url", "property")).path
    return path.removesuffix(f"{first.name}.html")


def first_with(site: Site, selector: str) -> Page | None:
    """Return the first page of text that has an element."""
    for page in site.text.values():
        if page.soup.select_one(selector):
            return page
    return None


def frequent_word(page: Page) -> str:
    """Return a long word that stands often on a page."""
    text = page.article.get_text(" ") if page.article else ""
    words = Counter(re.findall(r"\b[a-z]{6,12}\b", text))
    return words.most_common(1)[0][0] if words else "inference"


def searching(browser: Browser, site: Site) -> Iterator[str]:
    """Searching finds a page by a word of it, from disk and from a host."""
    page = next(iter(site.text.values()))
    word = frequent_word(page)
    for address in ("", f"{ORIGIN}{public_path(site)}"):
        with opened(browser, site, f"{address}{page.name}.html") as tab:
            record = follow(tab)
            tab.keyboard.press("Control+k")
            tab.keyboard.type(word)
            tab.keyboard.press("Enter")
            tab.wait_for_url("**/search.html?q=*")
            result = f"#search-results li a[href*='{page.name}.html']"
            tab.wait_for_selector(result)
            if record.console or record.errors:
                yield f"console: {record.console + record.errors}"


def copying(browser: Browser, site: Site) -> Iterator[str]:
    """The button beside a code cell copies its code."""
    page = first_with(site, ".cell_input pre")
    if page is None:
        return
    address = f"{ORIGIN}{public_path(site)}{page.name}.html"
    with opened(browser, site, address) as tab:
        cell = tab.locator(".cell_input:visible").first
        cell.hover()
        cell.locator("button.copybtn").click()
        tab.wait_for_selector(".copybtn.success")
        got = tab.evaluate("navigator.clipboard.readText()").strip()
        code = cell.locator("pre").evaluate("pre => pre.textContent")
        if not got or not code.strip().startswith(got):
            yield f"{page.name}: got {got[:40]!r}, expected the cell's code"


def themes(browser: Browser, site: Site) -> Iterator[str]:
    """The theme button reaches light and dark, and the choice is kept."""
    page = next(iter(site.text.values()))
    with opened(browser, site, f"{page.name}.html") as tab:
        seen: dict[str, str] = {}
        color = "getComputedStyle(document.body).backgroundColor"
        for _ in range(3):
            tab.locator(".theme-switch-button:visible").first.click()
            mode = tab.evaluate("document.documentElement.dataset.mode")
            seen[mode] = tab.evaluate(color)
            if mode == "dark":
                tab.reload()
                kept = tab.evaluate("document.documentElement.dataset.theme")
                if kept != "dark":
                    yield f"after a reload: got {kept!r}, expected 'dark'"
        if not {"light", "dark"} <= set(seen):
            yield f"got modes {sorted(seen)}, expected light and dark"
        elif seen["light"] == seen["dark"]:
            yield f"both modes have the ground {seen['dark']}"


def leafing(browser: Browser, site: Site) -> Iterator[str]:
    """ "Next" leads to the page it names, and "previous" back."""
    page = first_with(site, "a.right-next")
    if page is None:
        return
    with opened(browser, site, f"{page.name}.html") as tab:
        link = tab.locator("a.right-next")
        title = link.locator(".prev-next-title").inner_text()
        link.click()
        heading = tab.locator("article h1").first.inner_text()
        if not heading.startswith(title):
            yield f"next: got {heading!r}, expected {title!r}"
        tab.locator("a.left-prev").click()
        if not tab.url.endswith(f"/{page.name}.html"):
            yield f"previous: got {tab.url}, expected {page.name}"


def citing(browser: Browser, site: Site) -> Iterator[str]:
    """A link to a source shows the source while it has the focus."""
    page = first_with(site, "article a[data-citation]")
    if page is None:
        return
    with opened(browser, site, f"{page.name}.html") as tab:
        link = tab.locator("a[data-citation]").first
        link.focus()
        shown = tab.locator("[role=tooltip].citation-popover")
        if shown.count() != 1:
            yield f"{page.name}: got {shown.count()} popovers, expected 1"
            return
        if shown.inner_text() != link.get_attribute("data-citation"):
            yield f"{page.name}: got {shown.inner_text()!r}"
        tab.keyboard.press("Escape")
        if shown.count():
            yield f"{page.name}: Escape does not close the popover"


def printing(browser: Browser, site: Site) -> Iterator[str]:
    """On paper the text stays and the navigation goes."""
    page = first_with(site, ".cell_input") or next(iter(site.text.values()))
    with opened(browser, site, f"{page.name}.html") as tab:
        switch(tab, "dark")
        tab.emulate_media(media="print")
        tab.wait_for_timeout(200)
        ground = tab.evaluate("getComputedStyle(document.body).backgroundColor")
        if ground != "rgb(255, 255, 255)":
            yield f"{page.name}: in dark mode the paper is {ground}"
        for selector in HIDDEN_ON_PAPER:
            if tab.locator(f"{selector}:visible").count():
                yield f"{page.name}: {selector} is printed"
        if not tab.locator("article p:visible").count():
            yield f"{page.name}: the text is not printed"


def menu(browser: Browser, site: Site) -> Iterator[str]:
    """On a phone the contents are one touch away."""
    page = next(iter(site.text.values()))
    with opened(browser, site, f"{page.name}.html") as tab:
        tab.set_viewport_size({"width": NARROW, "height": 844})
        tab.locator("button.primary-toggle:visible").first.click()
        link = tab.locator(".bd-sidebar-primary nav a").first
        link.wait_for(state="visible")
        if not link.bounding_box():
            yield "the contents do not appear"


def lost(browser: Browser, site: Site) -> Iterator[str]:
    """A wrong address at any depth shows a whole page that leads back."""
    base = f"{ORIGIN}{public_path(site)}"
    for path in ("nowhere.html", "book/part/nowhere.html"):
        with opened(browser, site, f"{base}search.html") as tab:
            tab.wait_for_load_state("networkidle")
            record = follow(tab)
            tab.goto(f"{base}{path}")
            tab.wait_for_load_state("networkidle")
            empty = tab.evaluate(
                "[...document.styleSheets].some(s => !s.cssRules.length)"
            )
            if record.failed or record.errors or empty:
                yield f"{path}: {record.failed or record.errors or 'no style'}"
            tab.locator(".bd-sidebar-primary nav a:visible").first.click()
            tab.wait_for_url(f"{base}book/**")
            tab.wait_for_selector("article h1")


def entering(browser: Browser, site: Site) -> Iterator[str]:
    """The root leads to the first page."""
    root = site.pages["index"]
    link = root.soup.find("a", href=True)
    with opened(browser, site, "index.html") as tab:
        tab.wait_for_selector("article h1")
        if not tab.url.endswith(attribute(link, "href")):
            yield f"got {tab.url}, expected {attribute(link, 'href')}"


BEHAVIOURS: dict[str, Callable[[Browser, Site], Iterator[str]]] = {
    "search": searching,
    "copy": copying,
    "theme": themes,
    "next and previous": leafing,
    "citation": citing,
    "print": printing,
    "menu": menu,
    "lost page": lost,
    "root page": entering,
}


def check_behaviour(
    browser: Browser, site: Site, only: str | None = None
) -> list[Finding]:
    """Use the site in every way, or in one; return what went wrong."""
    from playwright.sync_api import Error

    findings: list[Finding] = []
    for name, behaviour in BEHAVIOURS.items():
        if only not in (None, name):
            continue
        try:
            findings += [
                Finding("site", name, message)
                for message in behaviour(browser, site)
            ]
        except Error as error:
            findings.append(Finding("site", name, error.message[:300]))
    return findings
