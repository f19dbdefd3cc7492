"""What a site is made of, as hashes: tells what a second build may reuse."""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

TOOLS = Path(__file__).resolve().parent.parent
EXTENSIONS = TOOLS / "sphinx_ext"
# What the extensions import from the checks of the book.
IMPORTED = (TOOLS / "bookcheck" / "glossary.py",)
# A change in these can change every page.
LAYOUT = ("_config.yml", "_toc.yml", "book/_static", "requirements.lock")
# A change in these changes the pages that Sphinx finds out of date.
PAGES = ("book", "src")
SKIPPED = {"__pycache__", ".ipynb_checkpoints", "_static"}


def files(path: Path) -> Iterator[Path]:
    """Yield every file at or below a path, in a fixed order."""
    if path.is_file():
        yield path
    for file in sorted(path.rglob("*")):
        if file.is_file() and not SKIPPED & set(file.relative_to(path).parts):
            yield file


def digest(*paths: Path) -> str:
    """Hash the relative names and the contents of the files below paths."""
    result = hashlib.sha256()
    for path in paths:
        for file in files(path):
            name = f"{path.name}/{file.relative_to(path).as_posix()}"
            result.update(f"{name}\0".encode())
            result.update(hashlib.sha256(file.read_bytes()).digest())
    return result.hexdigest()


def fingerprint(root: Path) -> dict[str, str]:
    """Hash the inputs of a book's site by what they can change."""
    layout = [root / name for name in LAYOUT]
    repository = os.environ.get("CUTAWAY_REPOSITORY", "")
    return {
        "layout": digest(*layout, EXTENSIONS, *IMPORTED, Path(__file__).parent),
        "settings": f"{sys.version_info[:3]} {repository}",
        "pages": digest(*[root / name for name in PAGES]),
    }
