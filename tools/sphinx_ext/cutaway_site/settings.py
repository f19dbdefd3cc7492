"""Settings that follow from others, so that each is written down once."""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import urlsplit

from sphinx.application import Sphinx
from sphinx.config import Config

from . import mathjax

# A fork publishes under its own name: the workflow passes "owner/name".
REPOSITORY = "CUTAWAY_REPOSITORY"
TEMPLATES = Path(__file__).parent / "templates"


def for_repository(config: Config, name: str) -> None:
    """Point the book's addresses at another GitHub repository."""
    owner, slash, project = name.partition("/")
    if not (owner and slash and project) or "/" in project:
        raise ValueError(f"{REPOSITORY}: got {name!r}, expected 'owner/name'")
    config.html_baseurl = f"https://{owner.lower()}.github.io/{project}/"
    config.html_theme_options["repository_url"] = f"https://github.com/{name}"


def assets(root: Path, folder: str) -> list[str]:
    """Return the style sheets or scripts in a folder of static files."""
    suffix = f"*.{folder}"
    return sorted(
        file.relative_to(root).as_posix()
        for file in (root / folder).glob(suffix)
    )


def derive(app: Sphinx, config: Config) -> None:
    """Fill in addresses, templates, MathJax and our own static files."""
    if name := os.environ.get(REPOSITORY):
        for_repository(config, name)
    if not config.html_baseurl.endswith("/"):
        config.html_baseurl += "/"
    config.ogp_site_url = config.html_baseurl
    config.notfound_urls_prefix = urlsplit(config.html_baseurl).path
    config.templates_path.append(str(TEMPLATES))
    for static in config.html_static_path:
        root = Path(app.confdir or app.srcdir, static)
        config.html_css_files += [(name, {}) for name in assets(root, "css")]
        config.html_js_files += [
            (name, {"defer": "defer"}) for name in assets(root, "js")
        ]
    config.mathjax_path = mathjax.ENTRY
    config.mathjax3_config = {
        **mathjax.OPTIONS,
        **(config.mathjax3_config or {}),
    }
