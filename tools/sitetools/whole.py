"""Whether a built site has every page that its table of contents names."""

from __future__ import annotations

from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import yaml

FEWEST_WORDS = 20
# Pages that no table of contents names.
OTHERS = ("index", "search", "404")


def names(node: object) -> Iterator[str]:
    """Yield every page that a part of a table of contents names."""
    if isinstance(node, dict):
        for key, value in node.items():
            if key in ("root", "file"):
                yield str(value).removesuffix(".md").removesuffix(".ipynb")
            else:
                yield from names(value)
    elif isinstance(node, list):
        for value in node:
            yield from names(value)


def toc_entries(root: Path) -> list[str]:
    """Return the pages that ``_toc.yml`` names, the first one first."""
    text = (root / "_toc.yml").read_text(encoding="utf-8")
    return list(names(yaml.safe_load(text)))


class ArticleText(HTMLParser):
    """Collects the words inside a page's article."""

    def __init__(self) -> None:
        super().__init__()
        self.depth = 0
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        """Enter an article."""
        self.depth += tag == "article"

    def handle_endtag(self, tag: str) -> None:
        """Leave an article."""
        self.depth -= tag == "article"

    def handle_data(self, data: str) -> None:
        """Keep words that stand in an article."""
        if self.depth:
            self.words += data.split()


def article_words(page: Path) -> int:
    """Count the words in a built page's article."""
    parser = ArticleText()
    parser.feed(page.read_text(encoding="utf-8"))
    return len(parser.words)


def missing_pages(root: Path, site: Path) -> list[str]:
    """Return what is missing from a built site, one line a fault."""
    entries = toc_entries(root)
    faults: list[str] = []
    if not entries:
        faults.append("_toc.yml: got no entries, expected pages")
    for name in [*entries, *OTHERS]:
        page = site / f"{name}.html"
        if not page.is_file():
            faults.append(f"{name}: got no page, expected {name}.html")
        elif name in entries and article_words(page) < FEWEST_WORDS:
            faults.append(
                f"{name}: got an article of {article_words(page)} words, "
                f"expected at least {FEWEST_WORDS}"
            )
    return faults
