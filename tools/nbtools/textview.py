"""A notebook as MyST text, for editing, and back without losing outputs.

jupytext carries source, tags and metadata. The cell's id travels as one
more key of its metadata; outputs stay in the notebook and are found again
by that id.
"""

from __future__ import annotations

import copy
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import jupytext
import nbformat
from jupytext.myst import MystMetadataParsingError
from nbformat import NotebookNode

from nbtools.normal import NotebookError, normalise

SUFFIX = ".nb.md"
"""Ending of a text view: a plain ``.md`` beside ``.ipynb`` would be a
second document of the same name for Sphinx."""

_FORMAT = "md:myst"
_STAMP = "source"


def text_path(notebook: Path) -> Path:
    """Return where the text view of a notebook lies."""
    return notebook.with_name(notebook.stem + SUFFIX)


def notebook_path(text: Path) -> Path:
    """Return the notebook that a text view belongs to."""
    name = text.name
    for suffix in (SUFFIX, ".md"):
        if name.endswith(suffix):
            return text.with_name(name.removesuffix(suffix) + ".ipynb")
    raise NotebookError(f"{text}: expected a file named *{SUFFIX} or *.md")


def to_text(notebook: NotebookNode) -> str:
    """Return the MyST text of a notebook.

    Raises:
        NotebookError: The text would not give the same cells back, as
            when a markdown cell holds a ``+++`` line.
    """
    view = normalise(notebook)
    for cell in view.cells:
        _drop_stamp(cell.metadata)
        cell.metadata["id"] = cell.id
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    view.metadata.pop("language_info")
    text = jupytext.writes(view, fmt=_FORMAT)
    back = from_text(text, notebook)
    for before, after in zip(view.cells, back.cells, strict=False):
        if (before.id, before.source) != (after.id, after.source):
            raise NotebookError(
                f"cell {before.id}: its text would not survive the text "
                f"view; does it hold a +++ line or a {{code-cell}} fence?"
            )
    if len(view.cells) != len(back.cells):
        raise NotebookError("the text view would change the number of cells")
    return text


def from_text(text: str, existing: NotebookNode | None = None) -> NotebookNode:
    """Return the notebook that a text view describes.

    Args:
        text: MyST text with ``{code-cell}`` fences.
        existing: The notebook as it is. A cell of it is recognised by id,
            or by its place among unchanged neighbours where the text has
            no id; it keeps its id, and its outputs if its source is the
            same.

    Raises:
        NotebookError: The text is no notebook.
    """
    try:
        notebook = jupytext.reads(text, fmt=_FORMAT)
    except (MystMetadataParsingError, nbformat.ValidationError) as error:
        raise NotebookError(f"broken text view: {error}") from None
    known = normalise(existing).cells if existing is not None else []
    for cell in notebook.cells:
        identity = cell.metadata.pop("id", None)
        cell.pop("id", None)
        if identity is not None:
            cell["id"] = str(identity)
    for cell, old in _pairs(notebook.cells, known):
        cell["id"] = old.id
        if cell.source.strip() == old.source.strip():
            _keep_results(cell, old)
    return normalise(notebook)


def _pairs(
    cells: list[NotebookNode], known: list[NotebookNode]
) -> list[tuple[NotebookNode, NotebookNode]]:
    """Pair the cells of a text with the notebook's: by id, then by place."""
    by_id = {(old.cell_type, old.id): old for old in known}
    found: list[tuple[NotebookNode, NotebookNode]] = []
    nameless: list[NotebookNode] = []
    for cell in cells:
        old = by_id.pop((cell.cell_type, cell.get("id", "")), None)
        if old is not None:
            found.append((cell, old))
        elif "id" not in cell:
            nameless.append(cell)
    rest = list(by_id.values())
    matcher = SequenceMatcher(
        None, [_key(c) for c in nameless], [_key(c) for c in rest], False
    )
    for kind, a0, a1, b0, b1 in matcher.get_opcodes():
        if kind in ("equal", "replace"):
            found += [
                (cell, old)
                for cell, old in zip(nameless[a0:a1], rest[b0:b1], strict=False)
                if cell.cell_type == old.cell_type
            ]
    return found


def _key(cell: NotebookNode) -> tuple[str, str]:
    return cell.cell_type, cell.source.strip()


def _keep_results(cell: NotebookNode, old: NotebookNode) -> None:
    """Give an unchanged cell the outputs and the stamp it had."""
    if cell.cell_type != "code":
        return
    cell.outputs = copy.deepcopy(old.outputs)
    cell.execution_count = old.execution_count
    stamp = old.metadata.get("cutaway", {}).get(_STAMP)
    if stamp:
        cell.metadata.setdefault("cutaway", NotebookNode())
        cell.metadata["cutaway"][_STAMP] = stamp


def _drop_stamp(metadata: Any) -> None:
    """Remove the stamp of the last run: the text view is for people."""
    ours = metadata.get("cutaway", {})
    ours.pop(_STAMP, None)
    if not ours:
        metadata.pop("cutaway", None)
