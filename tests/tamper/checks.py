"""The checks that read a book, and nbval: each says what it finds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import do
import nb
import workbook
from bookcheck import glossary, hygiene, prose, toc
from cutaway.book import facts
from nbtools.normal import NotebookError
from tamper.copies import add_pytest


def _normal_form(root: Path) -> list[str]:
    found = []
    for path in hygiene.notebooks(root / "book"):
        try:
            nb.check_one(path)
        except NotebookError as error:
            found.append(str(error))
    return found


def _facts(root: Path) -> list[str]:
    try:
        facts.ledger_table(root / "book" / "facts.toml")
    except facts.FactsError as error:
        return [str(error)]
    return []


def _workbook(root: Path) -> list[str]:
    try:
        return workbook.stale(root / "book", root / "workbook")
    except NotebookError as error:
        return [str(error)]


def _hygiene(root: Path) -> list[str]:
    return [str(found) for found in hygiene.check_book(root / "book")]


def _prose(root: Path) -> list[str]:
    book = root / "book"
    return [str(found) for found in prose.check_book(book, book / "facts.toml")]


def _glossary(root: Path) -> list[str]:
    book = root / "book"
    return glossary.findings(hygiene.notebooks(book), book / "words.md")


READING: Mapping[str, Callable[[Path], list[str]]] = {
    "hygiene": _hygiene,
    "prose": _prose,
    "facts": _facts,
    "toc": toc.toc_problems,
    "normal form": _normal_form,
    "workbook": _workbook,
    "glossary": _glossary,
}


def red(root: Path) -> dict[str, list[str]]:
    """Run every check that only reads; return those that found something."""
    said = {name: check(root) for name, check in READING.items()}
    return {name: lines for name, lines in said.items() if lines}


@dataclass(frozen=True)
class Comparison:
    """What nbval said about the notebooks below a folder.

    Attributes:
        status: Its exit status.
        text: What it printed.
        num_cells: How many cells it ran, by the notebook's path.
        failed: What it said of each failed cell, by path and cell id.
    """

    status: int
    text: str
    num_cells: Mapping[str, int]
    failed: Mapping[str, Mapping[str, str]]


def compare(
    folder: Path, *, source: Path | None = None, processes: int = 1
) -> Comparison:
    """Run nbval as the project does, over all notebooks below a folder.

    Args:
        folder: Where the notebooks are; the root of this run.
        source: Folder to import ``cutaway`` from; None: the installed one.
        processes: How many notebooks run at a time.
    """
    add_pytest(folder)
    report = folder / "report.xml"
    _, *command = map(str, do.nbval_command("."))
    options = ["-p", "no:cacheprovider", "--color=no", "-o"]
    options += ["junit_family=xunit1", f"--junitxml={report}"]
    if processes > 1:
        options += [f"--numprocesses={processes}", "--dist=loadscope"]
    environment = os.environ | do.PINNED
    if source is not None:
        environment["PYTHONPATH"] = str(source)
    done = subprocess.run(
        [sys.executable, *command, *options],
        cwd=folder,
        env=environment,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    num_cells, failed = _read_report(folder, report)
    return Comparison(done.returncode, done.stdout, num_cells, failed)


def _read_report(
    folder: Path, report: Path
) -> tuple[dict[str, int], dict[str, dict[str, str]]]:
    """Return cells run, and what was said of failed ones."""
    num_cells: dict[str, int] = {}
    failed: dict[str, dict[str, str]] = {}
    names: dict[str, list[str]] = {}
    for case in ElementTree.parse(report).iter("testcase"):
        path = Path(case.get("file", "")).as_posix()
        if path not in names:
            cells = json.loads((folder / path).read_text("utf-8"))["cells"]
            code = [c for c in cells if c["cell_type"] == "code"]
            names[path] = [cell["id"] for cell in code]
        num_cells[path] = num_cells.get(path, 0) + 1
        for kind in ("failure", "error"):
            for verdict in case.iter(kind):
                number = int(case.get("name", "").rsplit(" ", 1)[-1])
                said = f"{verdict.get('message')}\n{verdict.text}"
                failed.setdefault(path, {})[names[path][number]] = said
    return num_cells, failed
