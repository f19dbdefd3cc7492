"""Bold terms become links to the glossary.

A section sets a term in bold where it first uses it, in plain Markdown that
reads well everywhere; on the site the bold words lead to their entry.
"""

from __future__ import annotations

from docutils import nodes
from sphinx.application import Sphinx

from bookcheck.glossary import is_form_of


def entries(app: Sphinx) -> dict[str, tuple[str, str]]:
    """Map each term of the glossary, lower case, to its page and anchor."""
    return {
        name.lower(): (page, anchor)
        for name, _, kind, page, anchor, _ in app.env.get_domain(
            "std"
        ).get_objects()
        if kind == "term"
    }


def link(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Make links of the bold terms of a page."""
    known = entries(app)
    for strong in list(doctree.findall(nodes.strong)):
        term = " ".join(strong.astext().split()).lower()
        found = next((known[e] for e in known if is_form_of(term, e)), None)
        if found is None or isinstance(strong.parent, nodes.reference):
            continue
        page, anchor = found
        uri = f"{app.builder.get_relative_uri(docname, page)}#{anchor}"
        reference = nodes.reference(
            "", "", internal=True, refuri=uri, classes=["term"]
        )
        strong.parent.replace(strong, reference)
        reference += strong
