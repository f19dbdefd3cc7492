"""The head of one page: which scripts, style sheets and meta tags it has."""

from __future__ import annotations

import re
from html import escape
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx.application import Sphinx

from . import publish

# Extensions give their files to every page: which pages need them, by what
# stands in the page's body.
NEEDED = {
    "sphinx-design": r'class="[^"]*\bsd-',
    "design-tabs": r'class="[^"]*\bsd-tab',
    "toggle": r'class="[^"]*\b(?:toggle|dropdown)\b',
    "mystnb": r'class="[^"]*\bcell\b',
    "clipboard": r"<pre",
    "copybutton": r"<pre",
    "css/widgets": r"\bdata-widget\b",
    "js/cutaway": r"\bdata-widget\b",
}
# The script or style sheet of one interactive figure.
WIDGET = re.compile(r"/widget-([a-z0-9-]+)\.(?:js|css)")


def drop_settings(app: Sphinx, doctree: nodes.document, docname: str) -> None:
    """Remove the settings that sphinx_thebe appends to every page.

    Jupyter Book always loads that extension. It is not used here, and it
    declares its script's constants twice: an error on every page.
    """
    for node in list(doctree.findall(nodes.raw)):
        text = node.astext().strip()
        if "text/x-thebe-config" in text or text.startswith("<script>kernelN"):
            node.parent.remove(node)


def unwanted(asset: Any, body: str, has_math: bool) -> bool:
    """Tell whether a page can do without a style sheet or script.

    Sphinx gives MathJax also to pages whose subpages have formulas.
    """
    name = str(getattr(asset, "filename", asset) or "")
    inline = str(getattr(asset, "attributes", {}).get("body") or "")
    text = (name or inline).lower()
    if "mathjax" in text:
        return not has_math
    if "thebe" in text:
        return True
    if of_widget := WIDGET.search(text):
        return f'data-widget="{of_widget[1]}"' not in body
    return any(
        part in text and not re.search(pattern, body)
        for part, pattern in NEEDED.items()
    )


def meta_tags(pagename: str, context: dict[str, Any]) -> str:
    """Return the page's meta tags, with those that it lacks."""
    tags = context.get("metatags", "")
    if 'name="description"' not in tags:
        text = f"{context.get('title', '')}: {publish.DESCRIPTION}"
        tags += f'<meta name="description" content="{escape(text)}" />\n'
    if pagename == "404":
        tags += '<meta name="robots" content="noindex" />\n'
    return tags + '<meta name="color-scheme" content="light dark" />\n'


def name_buttons(context: dict[str, Any]) -> None:
    """Give the launch buttons words and one icon, in place of logos."""
    for group in context.get("header_buttons", []):
        for button in group.get("buttons", []):
            if button.get("icon", "").startswith("_static/"):
                button["icon"] = "fas fa-arrow-up-right-from-square"
                button["text"] = f"Open in {button['text']}"


def name_toggles(context: dict[str, Any]) -> None:
    """Name the arrows that unfold the table of contents.

    The theme draws them as icons without words for a screen reader.
    """
    theme_toc = context.get("generate_toctree_html")
    if theme_toc is None:
        return

    def toc(*args: Any, **options: Any) -> Any:
        tree = theme_toc(*args, **options)
        if not tree:
            return tree
        soup = BeautifulSoup(str(tree), "html.parser")
        for summary in soup.find_all("summary"):
            link = summary.find_previous("a")
            name = link.get_text() if link else "this part"
            summary["aria-label"] = f"Pages of {name}"
        return soup

    context["generate_toctree_html"] = toc


def adapt(
    app: Sphinx,
    pagename: str,
    templatename: str,
    context: dict[str, Any],
    doctree: Any,
) -> None:
    """Drop what the page does not use and add what it lacks."""
    equations = app.env.get_domain("math").data["has_equations"]
    has_math = bool(equations.get(pagename))
    body = context.get("body") or ""
    for kind in ("script_files", "css_files"):
        files = context.get(kind, [])
        files[:] = [
            file for file in files if not unwanted(file, body, has_math)
        ]
    name_buttons(context)
    name_toggles(context)
    context["metatags"] = meta_tags(pagename, context)
