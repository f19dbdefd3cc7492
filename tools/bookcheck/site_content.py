"""What stands on the pages of a built site, read without a browser."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from urllib.parse import unquote, urlsplit
from xml.etree import ElementTree

from bs4.element import Tag

from bookcheck.site_html import Finding, Page, Site, attribute

TRACEBACK = re.compile(r"Traceback \(most recent call last\)")
LAUNCHERS = ("colab.research.google.com", "mybinder.org")
SHORTEST_DESCRIPTION = 30
GRAPH = ("og:title", "og:url", "og:description", "og:site_name")
LOC = "{http://www.sitemaps.org/schemas/sitemap/0.9}loc"


def check_alt_text(site: Site) -> Iterator[Finding]:
    """Find pictures that say nothing to a reader who cannot see them."""
    for page in site.pages.values():
        for image in page.soup.find_all("img"):
            source = attribute(image, "src")
            if not image.has_attr("alt"):
                yield page.finding("alt text", f"img {source!r} has no alt")
            # What ![](picture.svg) becomes: no picture of the text is idle.
            elif not image["alt"] and image.find_parent("article"):
                message = f"img {source!r} has an empty alt"
                yield page.finding("alt text", message)
        for number, svg in enumerate(page.soup.find_all("svg")):
            if attribute(svg, "aria-hidden") == "true" or svg.find_parent(
                "svg"
            ):
                continue
            title = svg.find("title", recursive=False)
            said = attribute(svg, "aria-label")
            if isinstance(title, Tag):
                said += title.get_text()
            if attribute(svg, "role") != "img" or not said.strip():
                name = attribute(svg, "id") or f"number {number}"
                message = f"svg {name} lacks role=img with a label"
                yield page.finding("alt text", message)


def check_heads(site: Site) -> Iterator[Finding]:
    """Check language, title, description and first heading of each page."""
    known = site.pages
    titles = Counter(page_title(page) for page in known.values())
    for page in known.values():
        if not attribute(page.soup.find("html"), "lang"):
            yield page.finding("head", "html has no lang")
        title = page_title(page)
        if not title or (titles[title] > 1 and page.name != "index"):
            yield page.finding(
                "head", f"title {title!r} is empty or not unique"
            )
        text = meta(page, "description", "name")
        if len(text) < SHORTEST_DESCRIPTION:
            yield page.finding("head", f"description is {text!r}")
        if not meta(page, "viewport", "name"):
            yield page.finding("head", "no viewport: phones would zoom out")
    for page in site.text.values():
        headings = page.article.find_all("h1") if page.article else []
        if len(headings) != 1:
            yield page.finding("head", f"got {len(headings)} h1, expected 1")
        for name in GRAPH:
            if not meta(page, name, "property"):
                yield page.finding("head", f"no {name}")


def page_title(page: Page) -> str:
    """Return the page's title."""
    title = page.soup.select_one("head > title")
    return title.get_text().strip() if title else ""


def meta(page: Page, name: str, key: str) -> str:
    """Return the content of a meta tag; empty where there is none."""
    return attribute(page.soup.find("meta", {key: name}), "content")


def check_traceback(site: Site) -> Iterator[Finding]:
    """Find error messages that no cell announces by its tag."""
    for page in site.text.values():
        for text in page.soup.find_all(string=TRACEBACK):
            if text.find_parent("div", class_="doctest"):
                continue
            cells = text.find_parents("div", class_="cell")
            tags = " ".join(attribute(cell, "class") for cell in cells)
            if "tag_raises-exception" not in tags:
                yield page.finding("traceback", "an error stands on the page")


def check_ids(site: Site) -> Iterator[Finding]:
    """Find ids that stand twice in the text, such as those of two figures."""
    for page in site.text.values():
        tags = page.article.find_all(id=True) if page.article else []
        for name, count in Counter(str(tag["id"]) for tag in tags).items():
            if count > 1:
                yield page.finding("ids", f"id {name!r} stands {count} times")


def check_launchers(site: Site) -> Iterator[Finding]:
    """Check that Colab and Binder open the notebook of the page itself."""
    for page in site.text.values():
        if not (site.folder / "_sources" / f"{page.name}.ipynb").exists():
            continue
        for host in LAUNCHERS:
            links = [
                link
                for link in page.soup.find_all("a", href=True)
                if urlsplit(attribute(link, "href")).hostname == host
            ]
            wrong = [link for link in links if not opens(link, page.name)]
            if not links or wrong:
                got = [attribute(link, "href") for link in wrong] or "none"
                expected = f"a link that opens {page.name}.ipynb"
                message = f"{host}: got {got}, expected {expected}"
                yield page.finding("launch", message)


def opens(link: Tag, name: str) -> bool:
    """Tell whether a link of a launch button names a page's notebook."""
    address = unquote(attribute(link, "href"))
    return address.endswith(f"/{name}.ipynb")


def check_public_files(site: Site) -> Iterator[Finding]:
    """Check robots.txt, sitemap.xml, the root page and the lost page."""
    known = site.pages
    for name in ("index", "search", "404"):
        if name not in known:
            yield Finding(name, "public files", "the page is missing")
    for name in ("robots.txt", "sitemap.xml", "searchindex.js"):
        if not (site.folder / name).is_file():
            yield Finding(name, "public files", "the file is missing")
            return
    tree = ElementTree.parse(site.folder / "sitemap.xml")
    listed = [loc.text or "" for loc in tree.iter(LOC)]
    for page in site.text.values():
        address = meta(page, "og:url", "property")
        if listed.count(address) != 1:
            message = f"{address!r} stands {listed.count(address)} times"
            yield page.finding("public files", f"sitemap.xml: {message}")
    if len(listed) != len(site.text):
        message = f"got {len(listed)} pages, expected {len(site.text)}"
        yield Finding("sitemap.xml", "public files", message)
    if "Sitemap: https://" not in (site.folder / "robots.txt").read_text():
        yield Finding("robots.txt", "public files", "names no sitemap")
