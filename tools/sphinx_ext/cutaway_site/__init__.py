"""Sphinx extension: what the theme does not do for this book.

Loaded by _config.yml. Each module holds one concern:

- ``settings``: values that follow from others (addresses, MathJax options);
- ``head``: scripts, style sheets and meta tags of one page;
- ``references``: links to sources, with what they cite as a popover;
- ``terms``: bold terms, with links to the glossary;
- ``icons``: a subset of the theme's icon font, made from the icons in use;
- ``mathjax``: the four parts of MathJax that the book needs, from the wheel;
- ``publish``: root redirect, robots.txt and sitemap.xml;
- ``prune``: files that no page loads;
- ``api``: a directive that documents what a module exports.
"""

from __future__ import annotations

from typing import Any

from sphinx.application import Sphinx

from . import (
    api,
    head,
    icons,
    mathjax,
    prune,
    publish,
    references,
    settings,
    terms,
)

LATE = 900


def finish(app: Sphinx, exception: Exception | None) -> None:
    """Write and remove files once every page has been written."""
    if exception is not None or app.builder.format != "html":
        return
    icons.write(app)
    mathjax.copy(app)
    publish.write(app)
    prune.remove(app)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension's handlers."""
    app.add_directive("public", api.Public)
    app.connect("config-inited", settings.derive, priority=LATE)
    app.connect("env-updated", references.register_anchors, priority=LATE)
    app.connect("doctree-resolved", head.drop_settings, priority=LATE)
    app.connect("doctree-resolved", terms.link)
    app.connect("html-page-context", head.adapt, priority=LATE)
    app.connect("html-page-context", references.describe, priority=LATE)
    app.connect("build-finished", finish)
    return {
        "version": "1",
        "parallel_read_safe": True,
        "parallel_write_safe": True,
    }
