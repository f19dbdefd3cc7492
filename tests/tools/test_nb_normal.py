"""One byte form: what is dropped, what is kept, and that it is stable."""

from __future__ import annotations

import json
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbformat.v4 import new_output as out

from nbtools.normal import (
    NotebookError,
    dumps,
    normalise,
    read,
    write_atomically,
)


def messy() -> nbformat.NotebookNode:
    code = new_code_cell(
        "\n\nprint(1)\n\n",
        id="one",
        execution_count=17,
        outputs=[
            out("stream", name="stdout", text="a\n"),
            out("stream", name="stdout", text="b\n"),
            out("stream", name="stderr", text="c\n"),
            out("stream", name="stdout", text="d\n"),
            out("execute_result", {"text/plain": "1"}, execution_count=17,
                metadata={"needs_background": "light"}),
        ],
        metadata={
            "collapsed": True,
            "execution": {"iopub.execute_input": "2026-01-31T12:00:00Z"},
            "tags": ["nbval-skip"],
            "reason": "why",
            "numbers": {},
            "trusted": True,
        },
    )  # fmt: skip
    return new_notebook(
        cells=[
            new_markdown_cell("# T\n", id="head"),
            code,
            new_code_cell("", id="empty"),
            new_code_cell("x = 1", id="unrun"),
            new_code_cell("y", id="late", execution_count=3),
        ],
        metadata={
            "kernelspec": {"name": "conda", "display_name": "Conda"},
            "language_info": {"name": "python", "version": "3.12.1"},
            "widgets": {"state": {}},
        },
    )


def test_form_is_idempotent_and_valid():
    text = dumps(messy())
    again = nbformat.reads(text, as_version=4)
    nbformat.validate(again)
    assert dumps(again) == text


def test_bytes_have_sorted_keys_one_space_and_a_newline():
    text = dumps(messy())
    assert text == (
        json.dumps(
            json.loads(text), sort_keys=True, indent=1, ensure_ascii=False
        )
        + "\n"
    )


def test_metadata_is_minimal():
    tidy = normalise(messy())
    assert tidy.metadata == {
        "kernelspec": {
            "display_name": "Python 3 (ipykernel)",
            "language": "python",
            "name": "python3",
        },
        "language_info": {"name": "python"},
    }
    assert tidy.cells[1].metadata == {"tags": ["nbval-skip"], "reason": "why"}
    assert tidy.cells[1].outputs[-1].metadata == {}


def test_neighbouring_streams_are_merged_and_others_not():
    outputs = normalise(messy()).cells[1].outputs
    assert [(o.get("name"), o.get("text")) for o in outputs[:3]] == [
        ("stdout", "a\nb\n"),
        ("stderr", "c\n"),
        ("stdout", "d\n"),
    ]


def test_counts_run_from_one_over_the_cells_that_ran():
    cells = [c for c in normalise(messy()).cells if c.cell_type == "code"]
    assert [c.execution_count for c in cells] == [1, None, 2]
    assert cells[0].outputs[-1].execution_count == 1


def test_blank_lines_around_a_source_and_empty_cells_go():
    cells = normalise(messy()).cells
    assert [c.source for c in cells] == ["# T", "print(1)", "x = 1", "y"]


def test_ids_stay_and_missing_ones_follow_from_the_content():
    notebook = messy()
    ids = [c.id for c in normalise(notebook).cells]
    assert ids == ["head", "one", "unrun", "late"]
    for cell in notebook.cells:
        cell.pop("id")
    first = [c.id for c in normalise(notebook).cells]
    assert first == [c.id for c in normalise(notebook).cells]
    assert len(set(first)) == 4


def test_equal_cells_get_different_ids():
    notebook = new_notebook()
    notebook.cells = [new_code_cell("x") for _ in range(3)]
    for cell in notebook.cells:
        cell.pop("id")
    ids = [c.id for c in normalise(notebook).cells]
    assert ids == [ids[0], f"{ids[0]}-2", f"{ids[0]}-3"]


def test_second_cell_with_an_id_gets_another():
    notebook = new_notebook()
    notebook.cells = [new_code_cell(source, id="a") for source in "xy"]
    ids = [c.id for c in normalise(notebook).cells]
    assert ids[0] == "a"
    assert ids[1] != "a"


def test_error_keeps_its_message_and_loses_the_paths_of_its_frames():
    cell = new_code_cell("f()", execution_count=1)
    cell.outputs = [
        out("error", ename="ValueError", evalue="no",
            traceback=["\x1b[31mFile /home/ada/x.py:3", "ValueError: no"])
    ]  # fmt: skip
    [tidy] = normalise(new_notebook(cells=[cell])).cells
    assert tidy.outputs[0].traceback == ["ValueError: no"]


def test_input_is_not_changed():
    notebook = messy()
    before = json.dumps(notebook)
    dumps(notebook)
    assert json.dumps(notebook) == before


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{", "not JSON"),
        ("[]", "format 4"),
        ('{"nbformat": 3, "cells": []}', "format 4"),
        ('{"nbformat": 4, "nbformat_minor": 5}', "broken"),
    ],
)
def test_what_is_no_notebook_is_refused(tmp_path: Path, text, reason):
    path = tmp_path / "a.ipynb"
    path.write_text(text)
    with pytest.raises(NotebookError, match=reason):
        read(path)


def test_missing_file_is_named(tmp_path: Path):
    with pytest.raises(NotebookError, match=r"gone\.ipynb: cannot read"):
        read(tmp_path / "gone.ipynb")


def test_write_tells_whether_it_changed_and_leaves_no_other_file(tmp_path):
    path = tmp_path / "new" / "a.ipynb"
    assert write_atomically(path, "one\n")
    stamp = path.stat().st_mtime_ns
    assert not write_atomically(path, "one\n")
    assert path.stat().st_mtime_ns == stamp
    assert write_atomically(path, "two\n")
    assert path.read_text() == "two\n"
    assert [p.name for p in path.parent.iterdir()] == ["a.ipynb"]
