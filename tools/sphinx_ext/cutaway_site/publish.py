"""Files at the root of the site: redirect, robots.txt and sitemap.xml."""

from __future__ import annotations

from html import escape
from pathlib import Path

from sphinx.application import Sphinx

REDIRECT = """\
<!DOCTYPE html>
<html lang="{language}">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>{title}</title>
  <meta name="description" content="{description}">
  <meta http-equiv="refresh" content="0; url={first}">
  <link rel="canonical" href="{canonical}">
  <link rel="icon" href="{icon}">
</head>
<body>
  <main><h1>{title}</h1><p><a href="{first}">Open the book</a></p></main>
</body>
</html>
"""
DESCRIPTION = "A course on LLM inference whose every chapter runs."


def addresses(app: Sphinx) -> list[str]:
    """Return the public address of every page of the book, in order."""
    base = app.config.html_baseurl
    return sorted(
        base + app.builder.get_target_uri(page) for page in app.env.found_docs
    )


def sitemap(app: Sphinx) -> str:
    """Return sitemap.xml: every page, also those not rewritten this time."""
    lines = [f"  <url><loc>{escape(url)}</loc></url>" for url in addresses(app)]
    return "\n".join(
        [
            '<?xml version="1.0" encoding="utf-8"?>',
            '<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">',
            *lines,
            "</urlset>\n",
        ]
    )


def redirect(app: Sphinx) -> str:
    """Return the root page, which leads to the first page of the book."""
    first = app.builder.get_target_uri(app.config.root_doc)
    return REDIRECT.format(
        language=app.config.language,
        title=escape(app.config.html_title),
        description=escape(DESCRIPTION),
        first=first,
        canonical=app.config.html_baseurl + first,
        icon=f"_static/{Path(app.config.html_favicon).name}",
    )


def write(app: Sphinx) -> None:
    """Write the files."""
    site = Path(app.outdir)
    # Some hosts drop folders whose name starts with an underscore.
    (site / ".nojekyll").touch()
    robots = f"User-agent: *\nSitemap: {app.config.html_baseurl}sitemap.xml\n"
    (site / "sitemap.xml").write_text(sitemap(app), encoding="utf-8")
    (site / "robots.txt").write_text(robots, encoding="utf-8")
    if app.config.root_doc != "index":
        (site / "index.html").write_text(redirect(app), encoding="utf-8")
