"""Files that a build leaves in the site and that no page loads."""

from __future__ import annotations

import shutil
from pathlib import Path

from sphinx.application import Sphinx

# Relative to the site; FontAwesome is replaced by icons.py.
UNUSED = (
    "_static/vendor/fontawesome",
    "_static/**/*.map",
    "_static/locales",
    "_static/sbt-webpack-macros.html",
    "_static/webpack-macros.html",
    "_static/sphinx-thebe.*",
    "_static/sphinx_thebe*",
    "_static/images/logo_*",
    "objects.inv.tmp",
)


def stale_pages(app: Sphinx) -> list[Path]:
    """Return pages and sources of documents that the book no longer has."""
    site = Path(app.outdir)
    kept = {
        str(site / app.builder.get_target_uri(name))
        for name in app.env.found_docs
    }
    kept |= {str(site / name) for name in ("index.html", "404.html")}
    kept |= {str(site / name) for name in ("search.html", "genindex.html")}
    pages = [
        page
        for page in site.rglob("*.html")
        if page.relative_to(site).parts[0] != "_static"
        and str(page) not in kept
    ]
    sources = site / "_sources"
    names = {
        Path(app.env.doc2path(name)).relative_to(app.srcdir).as_posix()
        for name in app.env.found_docs
    }
    return pages + [
        file
        for file in sources.rglob("*")
        if file.is_file() and file.relative_to(sources).as_posix() not in names
    ]


def remove(app: Sphinx) -> None:
    """Remove what is stale or unused."""
    site = Path(app.outdir)
    unused = [path for pattern in UNUSED for path in site.glob(pattern)]
    for path in [*unused, *stale_pages(app)]:
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
