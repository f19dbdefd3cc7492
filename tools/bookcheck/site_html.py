"""A built site read as files: its pages, their links and their ids."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bs4 import BeautifulSoup
from bs4.element import Tag

# Pages that are no part of the text.
APART = ("index", "search", "404")


@dataclass(frozen=True)
class Finding:
    """A fault of a site: on which page, which rule it breaks, and how."""

    page: str
    rule: str
    message: str

    def __str__(self) -> str:
        return f"{self.page}: {self.rule}: {self.message}"


@dataclass(frozen=True)
class Page:
    """One HTML file of a site; its name is its path without the suffix."""

    site: Path
    name: str

    @property
    def file(self) -> Path:
        """The page's file."""
        return self.site / f"{self.name}.html"

    @cached_property
    def soup(self) -> BeautifulSoup:
        """The page, parsed."""
        text = self.file.read_text(encoding="utf-8")
        return BeautifulSoup(text, "html.parser")

    @cached_property
    def ids(self) -> frozenset[str]:
        """Every id on the page."""
        return frozenset(str(tag["id"]) for tag in self.soup.find_all(id=True))

    @property
    def article(self) -> Tag | None:
        """The element that holds the text, without navigation."""
        return self.soup.find("article")

    def finding(self, rule: str, message: str) -> Finding:
        """Return a fault of this page."""
        return Finding(self.name, rule, message)


def attribute(tag: Tag | None, name: str) -> str:
    """Return an attribute as text; empty where there is none."""
    value = tag.get(name) if tag is not None else None
    return " ".join(value) if isinstance(value, list) else value or ""


@dataclass(frozen=True)
class Site:
    """A built site: its folder and its pages, each parsed once."""

    folder: Path

    @cached_property
    def pages(self) -> dict[str, Page]:
        """Every page by name, in the order of their names."""
        static = self.folder / "_static"
        names = sorted(
            file.relative_to(self.folder).with_suffix("").as_posix()
            for file in self.folder.rglob("*.html")
            if static not in file.parents
        )
        return {name: Page(self.folder, name) for name in names}

    @cached_property
    def text(self) -> dict[str, Page]:
        """The pages that hold the book's text."""
        return {
            name: page for name, page in self.pages.items() if name not in APART
        }
