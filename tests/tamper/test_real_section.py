"""Faults planted on a copy of a real section, wherever they fit in it."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from nbformat import NotebookNode

from bookcheck import hygiene, prose
from bookcheck.hygiene_source import IGNORING
from nbtools.normal import read, tags
from tamper.checks import Comparison, compare
from tamper.copies import ROOT, notebook, replace_output
from tamper.source import comment, copy_package

pytestmark = [pytest.mark.tamper, pytest.mark.model]

NAME = "book/flow/end_to_end.ipynb"
REAL = ROOT / NAME
FACTS = ROOT / "book" / "facts.toml"
SHOWN = re.compile(
    r"<code>([\w.]+)</code> in <code>cutaway/([\w/]+\.py)</code>"
)
FLOAT = re.compile(r"(?<![\w.,-])[1-9]\d*\.\d{3,}(?![\w.])")


@dataclass
class Planted:
    """What nbval says, and which cell each fault was planted in."""

    comparison: Comparison
    cells: dict[str, str] = field(default_factory=dict)


def html_of(cell: NotebookNode) -> str:
    return "".join(o.get("data", {}).get("text/html", "") for o in cell.outputs)


def printed_by(cell: NotebookNode) -> str:
    return "".join(output.get("text", "") for output in cell.outputs)


def compared_cells(content: NotebookNode) -> list[NotebookNode]:
    return [
        cell
        for cell in content.cells
        if cell.cell_type == "code" and not IGNORING.intersection(tags(cell))
    ]


def plant_in_outputs(path: Path) -> dict[str, str]:
    """Change a float, a plot and a trace; return the cells, by the fault."""
    with notebook(path) as content:
        code = compared_cells(content)
        number = next(c for c in code if FLOAT.search(printed_by(c)))
        found = FLOAT.search(printed_by(number))
        assert found is not None
        wrong = f"{1.01 * float(found[0]):.{len(found[0].split('.')[1])}f}"
        replace_output(number, FLOAT.pattern, wrong)
        plot = next(
            cell
            for cell in code
            if "<svg" in html_of(cell) and "<script" not in html_of(cell)
        )
        replace_output(plot, r'<path d="M \d', '<path d="M 9')
        trace = next(c for c in code if "data-widget" in html_of(c))
        replace_output(trace, r'"p":0\.\d', '"p":0.0')
        return {"a number": number.id, "a plot": plot.id, "a trace": trace.id}


def plant_in_source(path: Path, package: Path) -> str:
    """Edit a function of the package that the section shows."""
    for cell in compared_cells(read(path)):
        shown = SHOWN.search(html_of(cell))
        if shown:
            comment(package / shown[2], shown[1])
            return cell.id
    raise AssertionError("the section shows no source")


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Planted:
    """One run of the damaged section against an edited package."""
    folder = tmp_path_factory.mktemp("real")
    section = folder / "nbval" / NAME
    section.parent.mkdir(parents=True)
    shutil.copy(REAL, section)
    source = copy_package(folder / "src")
    cells = plant_in_outputs(section)
    cells["a shown function"] = plant_in_source(section, source / "cutaway")
    return Planted(compare(folder / "nbval", source=source), cells)


def test_nothing_else_turns_red(planted: Planted):
    failed = planted.comparison.failed
    assert set(failed) == {NAME}
    assert set(failed[NAME]) == set(planted.cells.values()), failed
    assert len(set(planted.cells.values())) == len(planted.cells)


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        ("a number", r"stdout: line \d+: stored '[\d.]+', now '[\d.]+'"),
        ("a plot", r"text/html: stored <path d=\"M 9"),
        ("a trace", r"text/html: stored <script .*now <script"),
        ("a shown function", r"shown source: .*now ' +# edited'"),
    ],
)
def test_nbval_finds(fault: str, says: str, planted: Planted):
    said = planted.comparison.failed[NAME][planted.cells[fault]]
    assert re.search(says, said), said


def test_prose_check_finds_a_number_with_a_wrong_last_digit(tmp_path: Path):
    assert prose.check_notebook(REAL, FACTS) == []
    copy = Path(shutil.copy(REAL, tmp_path))
    with notebook(copy) as content:
        numbers = [
            (number.digits, cell, number)
            for cell in content.cells
            if cell.cell_type == "markdown" and not cell.metadata.get("numbers")
            for number in prose.numbers_to_check(cell.source)
        ]
        _, cell, number = max(numbers, key=lambda found: found[0])
        digit = re.search(r"\d(?=\D*$)", number.text)
        assert digit is not None
        at = number.start + digit.start()
        changed = str((int(digit[0]) + 1) % 10)
        cell.source = cell.source[:at] + changed + cell.source[at + 1 :]
    [finding] = prose.check_notebook(copy, FACTS)
    assert finding.cell == cell.id
    assert "no output and no cited fact says" in finding.why


def test_hygiene_finds_a_stripped_output(tmp_path: Path):
    assert hygiene.check_notebook(REAL) == []
    content = json.loads(REAL.read_text(encoding="utf-8"))
    code = [cell for cell in content["cells"] if cell["cell_type"] == "code"]
    cell = next(cell for cell in reversed(code) if cell["outputs"])
    cell.update(outputs=[], execution_count=None)
    copy = tmp_path / "section.ipynb"
    copy.write_text(json.dumps(content), encoding="utf-8")
    [finding] = hygiene.check_notebook(copy)
    assert finding.rule == "executed"
    assert finding.message == "1 code cells were not executed"
