"""Links to sources, with the cited entry as a popover.

A section cites a source by a plain Markdown link to its key on the page of
references, ``[Vaswani et al.](../references.md#vaswani2017)``: this reads
well in Jupyter and on Colab too. MyST only knows a page's headings as
anchors, so the keys of the bibliography are added to them here. The text of
the entry is put on each link, where the page's script shows it as a popover.
"""

from __future__ import annotations

import posixpath
import re
from html import escape, unescape
from typing import Any

from pybtex.plugin import find_plugin
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment
from sphinxcontrib.bibtex.domain import BibtexDomain, Citation

LINK = re.compile(r'<a class="([^"]*)" href="([^"#]*)#([^"]+)"')


def citations(env: BuildEnvironment) -> list[Citation]:
    """Return the entries of all bibliographies of the book."""
    domain = env.get_domain("cite")
    return domain.citations if isinstance(domain, BibtexDomain) else []


def register_anchors(app: Sphinx, env: BuildEnvironment) -> list[str]:
    """Let Markdown links reach the keys of the bibliography."""
    for citation in citations(env):
        page = citation.bibliography_key.docname
        anchors = env.metadata[page].setdefault("myst_slugs", {})
        anchors[citation.key] = (0, citation.citation_id, citation.key)
    return []


def entries(env: BuildEnvironment) -> dict[tuple[str, str], str]:
    """Map page and anchor of each bibliography entry to its plain text."""
    plain = find_plugin("pybtex.backends", "plaintext")()
    return {
        (
            citation.bibliography_key.docname,
            citation.citation_id,
        ): citation.formatted_entry.text.render(plain)
        for citation in citations(env)
    }


def describe(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: Any,
) -> None:
    """Put the text of the cited entry on every link to one; mend roles."""
    if doctree is None or not context.get("body"):
        return
    known = entries(app.env)
    folder = posixpath.dirname(pagename)

    def add(match: re.Match[str]) -> str:
        classes, path, anchor = match.groups()
        target = posixpath.normpath(posixpath.join(folder, unescape(path)))
        text = known.get((target.removesuffix(".html"), anchor))
        if text is None or not path:
            return match[0]
        return (
            f'<a class="{classes} citation" data-citation="{escape(text)}" '
            f'href="{path}#{anchor}"'
        )

    body = LINK.sub(add, context["body"])
    # Docutils' role for an entry is deprecated, and not allowed in a list.
    body = body.replace('role="doc-biblioentry"', 'role="listitem"')
    context["body"] = body
