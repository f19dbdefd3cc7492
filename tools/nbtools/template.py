"""A new section: the parts that every section of the book has."""

from __future__ import annotations

import re
from pathlib import Path

from nbtools.header import update_header
from nbtools.normal import NotebookError, dumps, write_atomically
from nbtools.textview import from_text

TEMPLATE = Path(__file__).with_name("section.md")
_SECTION = re.compile(r"^([a-z][a-z0-9_]*)/([a-z][a-z0-9_]*)$")


def new_section(book: Path, section: str, title: str | None = None) -> str:
    """Write the notebook of a new section; return what to do next.

    Args:
        book: Folder of the book.
        section: ``part/section``, in lower case with underscores.
        title: The heading; made from the section's name if None.

    Raises:
        NotebookError: The name is unfit, or the section exists.
    """
    match = _SECTION.match(section)
    if match is None:
        raise NotebookError(
            f"{section}: expected PART/SECTION in lower case, "
            "such as kv_cache/sizing"
        )
    path = book / f"{section}.ipynb"
    if path.exists():
        raise NotebookError(f"{path}: exists already")
    part, name = match.groups()
    values = {
        "title": title or name.replace("_", " ").capitalize(),
        "name": name.replace("_", "-"),
        "section": section,
        "module": f"{part}_{name}",
    }
    text = TEMPLATE.read_text(encoding="utf-8")
    for key, value in values.items():
        text = text.replace("{{" + key + "}}", value)
    notebook = from_text(text)
    update_header(notebook)
    write_atomically(path, dumps(notebook))
    return (
        f"{path}: written; next, add {book.name}/{section} to _toc.yml and "
        f"write the graders in exercises/{values['module']}.py"
    )
