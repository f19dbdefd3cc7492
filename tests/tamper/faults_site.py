"""Faults of pages that only the built site shows, a page each."""

from __future__ import annotations

import re
from dataclasses import dataclass

TEXT = """\
# {title}

This page has exactly one fault, planted on purpose, and nothing else that a
check could find. The words before it are only there to make it long enough.

{markup}
"""


@dataclass(frozen=True)
class PageFault:
    """One fault of a page.

    Attributes:
        name: What is wrong; the page is named after it.
        markup: What an author wrote, as Markdown.
        rule: The rule of the site's checks that must find it.
        says: A pattern that the finding matches.
        also: Other rules that see a consequence of it.
        axe: Whether axe looks at the page.
    """

    name: str
    markup: str
    rule: str
    says: str
    also: tuple[str, ...] = ()
    axe: bool = False

    @property
    def page(self) -> str:
        """The page's name on the site."""
        return "book/" + re.sub(r"\W+", "-", self.name)

    @property
    def source(self) -> str:
        """The page's Markdown."""
        title = self.name.capitalize()
        return TEXT.format(title=title, markup=self.markup)


# What a browser says when the checks refuse a request.
REFUSED = ("failed request", "console")

SITE = (
    PageFault(
        "a broken link",
        '<a href="gone.html">gone</a>',
        "link",
        r"'gone\.html': leads to no file",
    ),
    PageFault(
        "a dead anchor",
        '<a href="words.html#gone">gone</a>',
        "link",
        r"leads to no id 'gone'",
    ),
    PageFault(
        "a picture of another host",
        "![A picture](https://example.org/a.png)",
        "outside request",
        r"https://example\.org/a\.png",
        (*REFUSED, "alt text"),
    ),
    PageFault(
        "a script of another host",
        '<script src="https://example.org/a.js"></script>',
        "outside request",
        r"https://example\.org/a\.js",
        REFUSED,
    ),
    PageFault(
        "a request that a script makes",
        '<script>fetch("https://example.org/b").catch(() => 0)</script>',
        "outside request",
        r"https://example\.org/b",
        REFUSED,
    ),
    PageFault(
        "a picture without alt",
        '<img src="../_static/favicon.svg" width="64">',
        "alt text",
        r"favicon\.svg' has no alt",
    ),
    PageFault(
        "a picture without words",
        "![](_static/favicon.svg)",
        "alt text",
        r"favicon\.svg' has an empty alt",
    ),
    PageFault(
        "an error on the console",
        '<script>console.error("planted")</script>',
        "console",
        r"error: planted",
    ),
    PageFault(
        "an exception in a script",
        '<script>throw new Error("planted")</script>',
        "page error",
        r"planted",
    ),
    PageFault(
        "an element wider than a phone",
        '<p style="width: 500px; white-space: nowrap">wide</p>',
        "overflow",
        r"at 390 px: <p style=\"width: 500px",
    ),
    PageFault(
        "text that is hardly visible",
        '<p style="color: #777; background: #888">faint</p>',
        "axe",
        r"light, .*color-contrast",
        axe=True,
    ),
    PageFault(
        "the text of a traceback",
        "```text\nTraceback (most recent call last):\n  no line\n```",
        "traceback",
        r"an error stands on the page",
    ),
    PageFault(
        "a widget that does nothing",
        '<figure><script type="application/json" data-widget="unknown">{}'
        "</script></figure>",
        "widget",
        r"unknown",
        ("console",),
    ),
    PageFault(
        "an id that stands twice",
        '<p id="twice">one</p>\n\n<p id="twice">two</p>',
        "ids",
        r"id 'twice' stands 2 times",
    ),
    PageFault(
        "a formula that does not typeset",
        r"$\planted{x}$",
        "formula",
        r"planted",
    ),
)
