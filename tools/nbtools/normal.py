"""One byte form for a notebook: reading, normalising, writing.

A normalised notebook has sorted keys, an indent of one space, a newline at
the end, a stable id for every cell, no metadata but what the book uses, no
timing, no widget state, merged streams and execution counts 1 to n. The
same content is always the same bytes, so a diff shows what changed.
"""

from __future__ import annotations

import copy
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import nbformat
from nbformat import NotebookNode

KEPT_CELL_METADATA = ("tags", "reason", "numbers", "cutaway", "mystnb")
"""Keys of a cell's metadata that the book uses; all others are dropped."""

IGNORING_TAGS = frozenset({"nbval-ignore-output", "nbval-skip"})
RAISES_TAG = "raises-exception"
_ID = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")
_KERNEL = {
    "kernelspec": {
        "display_name": "Python 3 (ipykernel)",
        "language": "python",
        "name": "python3",
    },
    "language_info": {"name": "python"},
}


class NotebookError(Exception):
    """A notebook or text view that cannot be used, with the reason."""


def read(path: Path) -> NotebookNode:
    """Read a notebook of format 4.

    Raises:
        NotebookError: The file is missing or is no such notebook.
    """
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise NotebookError(f"{path}: cannot read: {error.strerror}") from None
    except ValueError as error:
        raise NotebookError(f"{path}: not JSON: {error}") from None
    if not isinstance(raw, dict) or raw.get("nbformat") != 4:
        raise NotebookError(f"{path}: not a notebook of format 4")
    for cell in raw.get("cells", []):
        cell.setdefault("metadata", {})
    try:
        return nbformat.v4.reads(json.dumps(raw))
    except (KeyError, AttributeError, TypeError) as error:
        raise NotebookError(f"{path}: broken notebook: {error!r}") from None


def write_atomically(path: Path, text: str) -> bool:
    """Replace a file's text in one step; return whether it changed."""
    data = text.encode()
    if path.exists() and path.read_bytes() == data:
        return False
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    temporary = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o644
        temporary.chmod(mode)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return True


def dumps(notebook: NotebookNode) -> str:
    """Return the bytes of a normalised notebook, as text.

    Raises:
        NotebookError: The result is not a valid notebook.
    """
    tidy = normalise(notebook)
    try:
        nbformat.validate(tidy)
    except nbformat.ValidationError as error:
        raise NotebookError(f"invalid notebook: {error.message}") from None
    return nbformat.v4.writes(tidy, indent=1).rstrip("\n") + "\n"


def normalise(notebook: NotebookNode) -> NotebookNode:
    """Return a copy in the book's form; idempotent."""
    tidy = nbformat.v4.new_notebook(metadata=copy.deepcopy(_KERNEL))
    tidy.nbformat_minor = 5
    taken: set[str] = set()
    count = 0
    for original in notebook.cells:
        cell = copy.deepcopy(original)
        cell.source = _tidy_source(cell.source)
        if not cell.source:
            continue
        cell.metadata = _tidy_metadata(cell.metadata)
        cell.id = choose_id(cell, taken)
        taken.add(cell.id)
        cell.pop("attachments", None)
        if cell.cell_type == "code":
            if cell.get("execution_count") is not None or cell.outputs:
                count += 1
                cell.execution_count = count
            cell.outputs = _tidy_outputs(cell.outputs, cell.execution_count)
        tidy.cells.append(cell)
    return tidy


def choose_id(cell: NotebookNode, taken: Iterable[str]) -> str:
    """Return the cell's id, or a new one made from its content.

    A new id is the start of a hash of type and source, so that the same
    text always gets the same id; a second such cell gets a number behind.
    """
    wanted = str(cell.get("id", ""))
    taken = set(taken)
    if _ID.match(wanted) and wanted not in taken:
        return wanted
    content = f"{cell.cell_type}\n{cell.source}".encode()
    stem = hashlib.sha256(content).hexdigest()[:8]
    fresh, number = stem, 1
    while fresh in taken:
        number += 1
        fresh = f"{stem}-{number}"
    return fresh


def source_stamp(cell: NotebookNode) -> str:
    """Return a short hash of a cell's source.

    The stamp of an ignored cell is stored when it runs. nbval does not
    look at that cell's output, so this is what ties it to its source.
    """
    return hashlib.sha256(cell.source.encode()).hexdigest()[:12]


def tags(cell: NotebookNode) -> list[str]:
    """Return the cell's tags."""
    return list(cell.metadata.get("tags", []))


def _tidy_source(source: str) -> str:
    """Strip blanks at line ends' outside: leading and trailing blank lines."""
    lines = source.replace("\r\n", "\n").split("\n")
    while lines and not lines[0].strip():
        lines.pop(0)
    while lines and not lines[-1].strip():
        lines.pop()
    return "\n".join(lines).rstrip()


def _tidy_metadata(metadata: Any) -> NotebookNode:
    """Keep the keys that the book uses, and drop those that are empty."""
    kept = {
        key: metadata[key] for key in KEPT_CELL_METADATA if metadata.get(key)
    }
    return NotebookNode(kept)


def _tidy_outputs(
    outputs: list[NotebookNode], count: int | None
) -> list[NotebookNode]:
    """Merge neighbouring streams and drop what differs between runs."""
    merged: list[NotebookNode] = []
    for output in outputs:
        kind = output.output_type
        last = merged[-1] if merged else None
        if (
            kind == "stream"
            and last is not None
            and last.output_type == "stream"
            and last.name == output.name
        ):
            last.text += output.text
            continue
        if kind == "execute_result":
            output.execution_count = count
        if kind in ("execute_result", "display_data"):
            output.metadata = NotebookNode()
        output.pop("transient", None)
        if kind == "error":
            # The frames hold absolute paths; the message is what is taught.
            output.traceback = [f"{output.ename}: {output.evalue}"]
        merged.append(output)
    return merged
