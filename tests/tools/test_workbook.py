"""The workbook holds the exercises, runs, and follows the chapter."""

from __future__ import annotations

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

import workbook
from cutaway.book.exercises import section_exercises
from nbtools.execute import execute
from nbtools.normal import NotebookError, dumps, read

EXERCISES = section_exercises("flow/end_to_end")
SETUP = "import numpy as np\n\nfrom cutaway.book import grade"


def exercise_cells(exercise):
    """Return the four cells of the convention."""
    names = ", ".join(exercise.parameters)
    name, number = exercise.function, exercise.id[-1]
    check = f'grade.check("{exercise.id}", {name})'
    statement = (
        f"### Exercise {number}: {exercise.title}\n\nSee "
        "[the loop](#the-loop), [words](../glossary.md#token), "
        "[sizing](../kv_cache/sizing.ipynb), [a page](https://example.org)."
    )
    stub = f"def {name}({names}):\n    return ...\n\n\n{check}"
    solution = f"{name} = solutions.{name}\n\n{check}"
    return [
        tagged(new_markdown_cell(statement), "exercise"),
        tagged(new_code_cell(stub), "exercise"),
        tagged(new_code_cell(f'grade.hint("{exercise.id}")'), "exercise"),
        tagged(new_code_cell(solution), "solution", "hide-cell"),
    ]


def tagged(cell, *names):
    cell.metadata["tags"] = list(names)
    return cell


@pytest.fixture
def chapter():
    headings = sorted({exercise.reread for exercise in EXERCISES})
    cells = [
        new_markdown_cell("# From a prompt to an answer\n\nText."),
        tagged(new_code_cell(SETUP), "setup", "hide-input"),
        *[new_markdown_cell(f"## {heading}\n\nText.") for heading in headings],
        new_code_cell("secret = 42"),
    ]
    for exercise in EXERCISES:
        cells += exercise_cells(exercise)
    notebook = new_notebook(cells=cells)
    for number, cell in enumerate(notebook.cells):
        cell.id = f"cell-{number}"
    return notebook


@pytest.fixture
def book(tmp_path, chapter):
    """Write the chapter; return the folders of book and workbook."""
    path = tmp_path / "book" / "flow" / "end_to_end.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text(dumps(chapter), encoding="utf-8")
    return tmp_path / "book", tmp_path / "workbook"


def code(notebook):
    return [c.source for c in notebook.cells if c.cell_type == "code"]


def test_a_chapter_that_follows_the_convention_has_no_problems(chapter):
    assert workbook.problems(chapter, "flow/end_to_end") == []


def test_the_page_has_exercises_and_setup_but_no_solutions(book):
    [path] = workbook.build(*book)
    assert path == book[1] / "flow" / "end_to_end.ipynb"
    page = read(path)
    text = "\n".join(cell.source for cell in page.cells)
    assert code(page)[0] == SETUP
    assert code(page)[-1] == "grade.status()"
    for exercise in EXERCISES:
        assert text.count(f'grade.check("{exercise.id}"') == 1
        assert text.count(f'grade.hint("{exercise.id}")') == 1
        assert f": {exercise.title}" in text
    assert "= solutions" not in text
    assert "secret" not in text
    assert all(not c.outputs for c in page.cells if c.cell_type == "code")


def test_links_point_into_the_book(book):
    [path] = workbook.build(*book)
    text = "\n".join(cell.source for cell in read(path).cells)
    assert "(../../book/flow/end_to_end.ipynb)" in text
    assert "(../../book/flow/end_to_end.ipynb#the-loop)" in text
    assert "(../../book/glossary.md#token)" in text
    assert "(../../book/kv_cache/sizing.ipynb)" in text
    assert "(https://example.org)" in text


def test_building_twice_gives_the_same_bytes_and_changes_nothing(book):
    [path] = workbook.build(*book)
    first = path.read_bytes()
    assert workbook.build(*book) == []
    path.unlink()
    workbook.build(*book)
    assert path.read_bytes() == first


def test_the_page_runs_and_every_exercise_is_open(book):
    [path] = workbook.build(*book)
    ran = execute(read(path), path.parent).notebook
    printed = "".join(
        output.get("text", "")
        for cell in ran.cells
        if cell.cell_type == "code"
        for output in cell.outputs
    )
    for exercise in EXERCISES:
        assert f"{exercise.id}  not answered yet\n" in printed
    assert "not right" not in printed
    assert "correct" not in printed


def test_check_accepts_what_build_wrote(book):
    workbook.build(*book)
    assert workbook.stale(*book) == []


def test_check_finds_missing_changed_and_stray_pages(book, capsys):
    options = ["check", "--book", str(book[0]), "--workbook", str(book[1])]
    assert workbook.main(options) == 1
    assert "missing" in capsys.readouterr().err
    [path] = workbook.build(*book)
    assert workbook.main(options) == 0
    path.write_text(path.read_text("utf-8") + "\n", "utf-8")
    assert workbook.main(options) == 1
    assert "not what the chapter gives" in capsys.readouterr().err
    workbook.build(*book)
    stray = book[1] / "flow" / "gone.ipynb"
    stray.write_text("{}")
    assert workbook.main(options) == 1
    assert "not of this book" in capsys.readouterr().err
    workbook.build(*book)
    assert not stray.exists()


def test_check_notices_an_edited_chapter(book, chapter):
    workbook.build(*book)
    chapter.cells[-4].source += " One more word."
    path = book[0] / "flow" / "end_to_end.ipynb"
    path.write_text(dumps(chapter), encoding="utf-8")
    assert len(workbook.stale(*book)) == 1


def solve(cell):
    cell.source = cell.source.replace("return ...", "return 42")


def rename(cell):
    cell.source = cell.source.replace("(num_", "(number_of_")


def unknown(cell):
    cell.source = cell.source.replace("end_to_end:4", "end_to_end:9")


@pytest.mark.parametrize(
    ("offset", "edit", "says"),
    [
        (-3, solve, "flow/end_to_end:4: expected the stub"),
        (-7, rename, "flow/end_to_end:3: expected the stub"),
        (-3, unknown, "exercise_id: got 'flow/end_to_end:9'"),
        (-3, unknown, "flow/end_to_end:4: not in the chapter"),
        (-2, unknown, "flow/end_to_end:4: no hint"),
        (-1, unknown, "flow/end_to_end:4: no solution"),
        (1, tagged, "no cell is tagged setup"),
        (2, lambda cell: setattr(cell, "source", "## x"), "no heading 'From"),
    ],
)
def test_a_broken_convention_is_reported(book, chapter, offset, edit, says):
    edit(chapter.cells[offset])
    found = workbook.problems(chapter, "flow/end_to_end")
    assert any(says in problem for problem in found), found
    path = book[0] / "flow" / "end_to_end.ipynb"
    path.write_text(dumps(chapter), encoding="utf-8")
    with pytest.raises(NotebookError, match="end_to_end"):
        workbook.build(*book)
    assert not book[1].exists()


def test_a_chapter_without_exercises_has_no_page(tmp_path):
    path = tmp_path / "book" / "flow" / "plain.ipynb"
    path.parent.mkdir(parents=True)
    notebook = new_notebook(cells=[new_markdown_cell("# Plain")])
    path.write_text(dumps(notebook), encoding="utf-8")
    assert workbook.build(tmp_path / "book", tmp_path / "workbook") == []
