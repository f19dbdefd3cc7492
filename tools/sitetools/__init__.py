"""Build the site and tell whether it is whole: used by tools/build_site.py."""

from __future__ import annotations

from .build import SiteError, build
from .whole import missing_pages, toc_entries

__all__ = ["SiteError", "build", "missing_pages", "toc_entries"]
