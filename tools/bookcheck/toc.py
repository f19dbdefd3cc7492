"""The table of contents against the files: neither may miss one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from bookcheck.hygiene import notebooks

PAGE_SUFFIXES = (".ipynb", ".md")


def toc_entries(toc: Path) -> list[str]:
    """Return the documents that a ``_toc.yml`` lists, in reading order."""
    return list(_entries(yaml.safe_load(toc.read_text(encoding="utf-8"))))


def _entries(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        for key in ("root", "file"):
            if key in node:
                yield node[key]
        for value in node.values():
            if isinstance(value, list):
                yield from _entries(value)
    elif isinstance(node, list):
        for item in node:
            yield from _entries(item)


def toc_problems(root: Path, book: str = "book") -> list[str]:
    """Return entries without a file, notebooks and pages without an entry.

    Args:
        root: Folder of ``_toc.yml``, to which its entries are relative.
        book: Folder of the book below it.
    """
    entries = toc_entries(root / "_toc.yml")
    problems = [
        f"{entry} is listed twice"
        for entry in sorted(set(entries))
        if entries.count(entry) > 1
    ]
    for entry in entries:
        # "flow/v1.2" must not become "flow/v1": add the suffix, not swap it.
        found = [s for s in PAGE_SUFFIXES if (root / f"{entry}{s}").is_file()]
        if len(found) != 1:
            kind = "no file" if not found else "two files"
            problems.append(f"{entry}: {kind} ({' or '.join(PAGE_SUFFIXES)})")
    for path in pages(root / book):
        name = path.relative_to(root).with_suffix("").as_posix()
        if name not in entries:
            problems.append(f"{path.relative_to(root)} is not in _toc.yml")
    return problems


def pages(book: Path) -> list[Path]:
    """Return the notebooks and Markdown pages of a book.

    Text views (``*.nb.md``) are no pages, and hidden folders, as well as
    those that begin with an underscore, hold none.
    """
    return notebooks(book) + sorted(
        path
        for path in book.rglob("*.md")
        if not path.name.endswith(".nb.md")
        and not any(
            part.startswith((".", "_")) for part in path.relative_to(book).parts
        )
    )
