"""The text view keeps every cell, and from-text every output."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import (
    new_code_cell,
    new_markdown_cell,
    new_notebook,
    new_output,
)

from nbtools.normal import NotebookError, dumps, normalise
from nbtools.textview import from_text, notebook_path, text_path, to_text


def ran(name: str, source: str, text: str, **metadata) -> nbformat.NotebookNode:
    return new_code_cell(
        source,
        id=name,
        execution_count=1,
        metadata=metadata,
        outputs=[new_output("stream", name="stdout", text=text)],
    )


def sample() -> nbformat.NotebookNode:
    return normalise(
        new_notebook(
            cells=[
                new_markdown_cell(
                    "# T\n\n$x_1 \\le 2$ and `code`\n\n```{note}\nhello\n```",
                    id="head",
                    metadata={"cutaway": {"header": True}},
                ),
                ran("first", "print(1)", "1\n"),
                new_markdown_cell("Zwei Absätze\n\n\nund {cite:p}`a2020`."),
                new_markdown_cell("```python\nx = 1\n```\n\n- a\n  - b"),
                ran(
                    "timed",
                    "%timeit f()\n\n\n# the end",
                    "2\n",
                    tags=["nbval-ignore-output", "hide-input"],
                    reason="times: they 'differ' · everywhere, always, and "
                    "the line is long enough for YAML to fold it",
                    numbers={"512": "a power of two"},
                    cutaway={"source": "0123456789ab", "long": "why"},
                ),
                ran("fence", "s = '''\n```\n---\n:x: 1\n'''", "3\n"),
                ran("colon", ":a", "4\n"),
                ran("12345678", "if x:\n    y\n\n\n\nz", "5\n"),
                ran("1e5", "x", "6\n"),
            ]
        )
    )


def test_round_trip_is_the_same_bytes():
    notebook = sample()
    assert dumps(from_text(to_text(notebook), notebook)) == dumps(notebook)


def test_text_alone_gives_the_same_cells_without_outputs():
    notebook = sample()
    back = from_text(to_text(notebook))
    for before, after in zip(notebook.cells, back.cells, strict=True):
        assert (before.id, before.cell_type) == (after.id, after.cell_type)
        assert before.source == after.source
        assert not after.get("outputs")


def test_text_shows_no_stamp_and_the_same_text_follows():
    text = to_text(sample())
    assert "0123456789ab" not in text
    assert to_text(from_text(text, sample())) == text


def test_changed_cell_loses_its_output_and_keeps_its_id():
    notebook = sample()
    text = to_text(notebook).replace("print(1)", "print(2)")
    back = from_text(text, notebook)
    [first] = [c for c in back.cells if c.id == "first"]
    assert first.source == "print(2)"
    assert first.outputs == []
    assert first.execution_count is None
    kept = [c.id for c in back.cells if c.get("outputs")]
    assert kept == ["timed", "fence", "colon", "12345678", "1e5"]


def test_changed_ignored_cell_keeps_no_stamp_of_its_old_output():
    notebook = sample()
    text = to_text(notebook).replace("%timeit f()", "%timeit g()")
    [timed] = [c for c in from_text(text, notebook).cells if c.id == "timed"]
    assert timed.metadata["cutaway"] == {"long": "why"}


def test_tags_of_the_text_win():
    notebook = sample()
    text = to_text(notebook).replace("hide-input", "hide-output")
    [timed] = [c for c in from_text(text, notebook).cells if c.id == "timed"]
    assert timed.metadata["tags"] == ["nbval-ignore-output", "hide-output"]
    assert timed.outputs


def test_moved_cell_keeps_id_and_output():
    notebook = sample()
    cells = to_text(notebook).split("```{code-cell}\n:id: first")
    moved = cells[0] + cells[1].split("```\n", 1)[1]
    moved += "\n```{code-cell}\n:id: first\n\nprint(1)\n```\n"
    back = from_text(moved, notebook)
    assert back.cells[-1].id == "first"
    assert back.cells[-1].outputs[0].text == "1\n"


def test_text_without_ids_finds_its_cells_again():
    notebook = sample()
    text = re.sub(r"(?m)^:?id: .*\n", "", to_text(notebook))
    text = re.sub(r'(, )?"id": "[^"]*"', "", text).replace("+++ {}", "+++")
    back = from_text(text.replace("print(1)", "print(3)"), notebook)
    assert [c.id for c in back.cells] == [c.id for c in notebook.cells]
    assert back.cells[1].source == "print(3)"
    assert back.cells[1].outputs == []
    assert back.cells[4].outputs


def test_new_cell_between_old_ones_gets_an_id_of_its_own():
    notebook = sample()
    text = to_text(notebook).replace(
        "```{code-cell}\n:id: first", "```{code-cell}\nnew()\n```\n\n"
        "```{code-cell}\n:id: first",
    )  # fmt: skip
    back = from_text(text, notebook)
    ids = [c.id for c in back.cells]
    assert ids[0] == "head"
    assert ids[2:] == [c.id for c in notebook.cells][1:]
    assert from_text(text, notebook).cells[1].id == ids[1]


def test_copied_cell_gets_another_id():
    notebook = sample()
    text = to_text(notebook) + "\n```{code-cell}\n:id: first\n\ncopy()\n```\n"
    back = from_text(text, notebook)
    assert [c.id for c in back.cells].count("first") == 1
    assert back.cells[1].id == "first"
    assert back.cells[1].outputs


def test_same_id_on_another_kind_of_cell_takes_no_output():
    notebook = sample()
    text = '+++ {"id": "first"}\n\nprint(1)\n'
    [cell] = from_text(text, notebook).cells
    assert cell.cell_type == "markdown"


@pytest.mark.parametrize("source", ["a\n\n+++\n\nb", "```{code-cell}\nx\n```"])
def test_markdown_that_would_be_split_is_refused(source):
    notebook = new_notebook(cells=[new_markdown_cell(source)])
    with pytest.raises(NotebookError):
        to_text(notebook)


def test_code_taken_for_options_is_an_error():
    with pytest.raises(NotebookError, match="broken text view"):
        from_text("```{code-cell}\n:a\n```\n")


@pytest.mark.parametrize(
    "text", ["+++ {not json}\n\nx\n", "```{code-cell}\n---\na: [\n---\n```\n"]
)
def test_broken_metadata_is_an_error_with_its_line(text):
    with pytest.raises(NotebookError, match="line"):
        from_text(text)


def test_paths_of_the_two_forms_belong_together():
    notebook = Path("book/flow/end_to_end.ipynb")
    assert text_path(notebook) == Path("book/flow/end_to_end.nb.md")
    assert notebook_path(text_path(notebook)) == notebook
    assert notebook_path(Path("a/b.md")) == Path("a/b.ipynb")
    with pytest.raises(NotebookError):
        notebook_path(Path("a/b.txt"))
