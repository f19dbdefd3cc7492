"""Faults of what belongs to a section: workbook and table of contents."""

from __future__ import annotations

from pathlib import Path

from nbformat import NotebookNode

from nbtools.normal import read
from tamper.copies import (
    SECTION,
    cell_named,
    in_cell,
    in_file,
    in_output,
    in_source,
    notebook,
)
from tamper.fault import Fault

PAGE = "workbook/part/section.ipynb"


def _leak(root: Path) -> None:
    solution = cell_named(read(root / SECTION), "exercise-solution")
    with notebook(root / PAGE) as content:
        cell_named(content, "exercise-answer").source = solution.source


def _as_exercise(cell: NotebookNode) -> None:
    cell.metadata["tags"] = ["exercise"]


def _stray(root: Path) -> None:
    (root / "workbook" / "gone.ipynb").write_bytes((root / PAGE).read_bytes())


def _new_page(root: Path) -> None:
    text = "# More\n\nA page that no table of contents names.\n"
    (root / "book" / "more.md").write_text(text, encoding="utf-8")


PARTS = (
    Fault(
        "a workbook older than its chapter",
        in_source("exercise", "the FLOPs of", "the exact FLOPs of"),
        ("workbook",),
        r"section\.ipynb: not what the chapter gives",
    ),
    Fault(
        "a solution leaked into the workbook",
        _leak,
        ("workbook",),
        r"section\.ipynb: not what the chapter gives",
    ),
    Fault(
        "a solution tagged as exercise",
        in_cell("exercise-solution", _as_exercise),
        ("workbook",),
        r"expected the stub 'def attention_flops\(num_layers, .* return \.\.\.'",
    ),
    Fault(
        "a solution that its grader rejected when it ran",
        in_output("exercise-solution", "  correct.*", "  not right yet"),
        ("workbook",),
        r"end_to_end:3: its solution .* expected 'correct'",
    ),
    Fault(
        "a workbook page missing",
        lambda root: (root / PAGE).unlink(),
        ("workbook",),
        r"section\.ipynb: missing",
    ),
    Fault(
        "a workbook page of a chapter that is gone",
        _stray,
        ("workbook",),
        r"gone\.ipynb: not of this book",
    ),
    Fault(
        "an exercise that no grader knows",
        in_source("exercise-answer", "end_to_end:3", "end_to_end:99"),
        ("workbook",),
        r"flow/end_to_end:99",
    ),
    Fault(
        "a page missing from the table of contents",
        _new_page,
        ("toc",),
        r"book/more\.md is not in _toc\.yml",
    ),
    Fault(
        "a section missing from the table of contents",
        in_file("_toc.yml", "part/section", "words"),
        ("toc",),
        r"book/part/section\.ipynb is not in _toc\.yml",
    ),
    Fault(
        "a page of the table of contents without a file",
        in_file("_toc.yml", "book/words", "book/word"),
        ("toc",),
        r"book/word: no file",
    ),
)
