"""The hygiene gate: what nbval would let pass in a notebook.

nbval compares the outputs it finds. It passes a notebook whose cells were
never run, skips pictures, and believes every tag. These rules close the
gaps; each has a test with a planted fault. They read the file as it lies
on disk, since reading it as a notebook would already repair it.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bookcheck.hygiene_outputs import output_problems, picture_ids
from bookcheck.hygiene_source import (
    IGNORING,
    source_of,
    source_problems,
    tag_problems,
    tags_of,
)
from nbtools.header import LINE

_DRAWS = re.compile(r"\b(?:figure\.show|trace\.emit)\(")
_ASSERTS = re.compile(r"^\s*assert\b", re.M)
MOST_SECONDS = 60
MOST_GIGABYTES = 2.0
_ID = re.compile(r"^[a-zA-Z0-9_-]{1,64}$")

Notebook = dict[str, Any]
Problems = Iterator[tuple[str, str]]


@dataclass(frozen=True)
class Finding:
    """A fault of a notebook: where it is, which rule it breaks, and how."""

    path: Path
    cell: str
    rule: str
    message: str

    def __str__(self) -> str:
        where = f" [{self.cell}]" if self.cell else ""
        return f"{self.path}{where}: {self.rule}: {self.message}"


def check_notebook(path: Path, *, section: bool = True) -> list[Finding]:
    """Return all faults of one notebook; none is the aim.

    Args:
        path: The notebook.
        section: Whether it is a section, which has a header cell; a page
            such as the ledger need not have one.
    """
    try:
        notebook = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return [Finding(path, "", "format", f"cannot be read: {error}")]
    findings = [
        Finding(path, "", rule, message)
        for check in (*_NOTEBOOK_RULES, *([_header] if section else []))
        for rule, message in check(notebook)
    ]
    for number, cell in enumerate(notebook.get("cells", [])):
        name = str(cell.get("id", f"cell {number}"))
        findings += [
            Finding(path, name, rule, message)
            for check in _CELL_RULES
            for rule, message in check(cell)
        ]
    return findings


def check_book(folder: Path) -> list[Finding]:
    """Return the faults of all notebooks below a folder.

    Those in a folder of a part are sections; those beside the parts not.
    A folder without notebooks is itself a fault: a gate that looks at
    nothing must not be green.
    """
    paths = notebooks(folder)
    if not paths:
        return [Finding(folder, "", "empty", "no notebook was found")]
    return [
        finding
        for path in paths
        for finding in check_notebook(path, section=path.parent != folder)
    ]


def notebooks(folder: Path) -> list[Path]:
    """Return the notebooks below a folder, hidden folders left out."""
    return sorted(
        path
        for path in folder.rglob("*.ipynb")
        if not any(
            part.startswith((".", "_"))
            for part in path.relative_to(folder).parts
        )
    )


def _code_cells(notebook: Notebook) -> list[dict[str, Any]]:
    return [
        cell
        for cell in notebook.get("cells", [])
        if cell.get("cell_type") == "code"
    ]


def _format(notebook: Notebook) -> Problems:
    """Format 4.5 stores cell ids; older ones are given new ids each time."""
    version = (notebook.get("nbformat"), notebook.get("nbformat_minor", 0))
    if version[0] != 4 or version[1] < 5:
        yield "format", f"got {version[0]}.{version[1]}, expected 4.5"
    metadata = notebook.get("metadata", {})
    kernel = metadata.get("kernelspec", {}).get("name")
    if kernel != "python3":
        yield "kernel", f"got kernelspec {kernel!r}, expected 'python3'"
    if "widgets" in metadata:
        yield "widget", "the metadata holds widget state"


def _ids(notebook: Notebook) -> Problems:
    """Every cell has one stable, unique id."""
    cells = notebook.get("cells", [])
    for number, cell in enumerate(cells):
        if not _ID.match(str(cell.get("id", ""))):
            yield "id", f"cell {number} has no valid id"
    counts = Counter(cell["id"] for cell in cells if "id" in cell)
    for name, count in counts.items():
        if count > 1:
            yield "id", f"{name!r} names {count} cells"


def _executed(notebook: Notebook) -> Problems:
    """All code cells were run once, in order."""
    counts = [cell.get("execution_count") for cell in _code_cells(notebook)]
    if None in counts:
        yield "executed", f"{counts.count(None)} code cells were not executed"
    elif counts != list(range(1, len(counts) + 1)):
        yield "executed", f"counts are {counts}, expected 1 to {len(counts)}"
    if not counts:
        yield "executed", "the notebook has no code cell"


def _ignored(notebook: Notebook) -> Problems:
    """At most two cells, or one in ten, are left out of the comparison."""
    code = _code_cells(notebook)
    ignored = sum(bool(IGNORING & tags_of(cell)) for cell in code)
    allowed = max(2, len(code) // 10)
    if ignored > allowed:
        yield (
            "ignored",
            f"{ignored} of {len(code)} code cells are ignored or skipped, "
            f"expected <= {allowed}",
        )


def _header(notebook: Notebook) -> Problems:
    """One cell says what the section costs, and it is affordable."""
    headers = [
        source_of(cell)
        for cell in notebook.get("cells", [])
        if cell.get("metadata", {}).get("cutaway", {}).get("header")
    ]
    if len(headers) != 1:
        yield "header", f"got {len(headers)} header cells, expected 1"
        return
    line = LINE.search(headers[0])
    if line is None or line["seconds"] is None:
        yield "header", "no measured times in it; run tools/nb.py run"
        return
    if int(line["seconds"]) >= MOST_SECONDS:
        yield "header", f"runs {line['seconds']} s, expected < {MOST_SECONDS}"
    if float(line["gigabytes"]) >= MOST_GIGABYTES:
        yield (
            "header",
            f"needs {line['gigabytes']} GB, expected < {MOST_GIGABYTES:g}",
        )


def _claims(notebook: Notebook) -> Problems:
    """What a picture shows is asserted, in its cell or in the next one.

    A next cell that draws has its asserts for its own picture.
    """
    cells = _code_cells(notebook)
    sources = ["".join(cell.get("source", "")) for cell in cells]
    for cell, here, after in zip(
        cells, sources, [*sources, ""][1:], strict=True
    ):
        claims = here if _DRAWS.search(after) else f"{here}\n{after}"
        if _DRAWS.search(here) and not _ASSERTS.search(claims):
            name = cell.get("id")
            yield "claim", f"the picture of {name!r} has no assert after it"


def _pictures(notebook: Notebook) -> Problems:
    """No id occurs twice on the page that the notebook becomes."""
    counts = Counter(
        name
        for cell in _code_cells(notebook)
        for output in cell.get("outputs", [])
        for name in picture_ids(output)
    )
    for name, count in counts.items():
        if count > 1:
            yield "picture", f"the id {name!r} occurs {count} times"


_NOTEBOOK_RULES: tuple[Callable[[Notebook], Problems], ...] = (
    _format,
    _ids,
    _executed,
    _ignored,
    _claims,
    _pictures,
)
_CELL_RULES: tuple[Callable[[dict[str, Any]], Problems], ...] = (
    tag_problems,
    source_problems,
    output_problems,
)
