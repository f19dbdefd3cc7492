"""The small book, copies of it, and the tools that damage a copy."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat
from nbformat import NotebookNode

import nb
import workbook
from nbtools.normal import read, source_stamp

ROOT = Path(__file__).resolve().parents[2]
SMALLBOOK = Path(__file__).parent / "smallbook"
SECTION = "book/part/section.ipynb"

Plant = Callable[[Path], None]
New = str | Callable[[re.Match[str]], str]


def make_book(root: Path) -> Path:
    """Write the small book into a new folder, its section executed."""
    shutil.copytree(SMALLBOOK, root)
    text, section = root / "section.myst", str(root / SECTION)
    assert nb.main(["from-text", str(text), section]) == 0
    assert nb.main(["run", section]) == 0
    text.unlink()
    workbook.build(root / "book", root / "workbook")
    return root


def add_settings(root: Path) -> None:
    """Give a book the real book's settings and layout, as they are now."""
    settings = (ROOT / "_config.yml").read_text(encoding="utf-8")
    extension = (ROOT / "tools" / "sphinx_ext").as_posix()
    settings, count = re.subn(
        r"(cutaway_site: ).*", rf"\g<1>{extension}", settings
    )
    assert count == 1
    (root / "_config.yml").write_text(settings, encoding="utf-8")
    shutil.copytree(ROOT / "book" / "_static", root / "book" / "_static")


def add_pytest(root: Path) -> None:
    """Let pytest in this folder load what the repository's root loads."""
    shutil.copy(ROOT / "conftest.py", root)
    tools = json.dumps(str(ROOT / "tools"))
    settings = f"[tool.pytest.ini_options]\npythonpath = [{tools}]\n"
    (root / "pyproject.toml").write_text(settings, encoding="utf-8")


# --- Damage --------------------------------------------------------------


@contextmanager
def notebook(path: Path) -> Iterator[NotebookNode]:
    """Change a notebook; what is written is not put in order again."""
    content = read(path)
    before = nbformat.v4.writes(content, indent=1)
    yield content
    after = nbformat.v4.writes(content, indent=1)
    assert after != before, f"nothing was planted in {path.name}"
    path.write_text(after.rstrip("\n") + "\n", encoding="utf-8")


def cell_named(content: NotebookNode, name: str) -> NotebookNode:
    """Return the cell with an id."""
    [cell] = [cell for cell in content.cells if cell.id == name]
    return cell


def in_cell(name: str, change: Callable[[NotebookNode], object]) -> Plant:
    """Damage one cell of the section."""

    def plant(root: Path) -> None:
        with notebook(root / SECTION) as content:
            change(cell_named(content, name))

    return plant


def in_source(name: str, old: str, new: str) -> Plant:
    """Replace text in the source of a cell, where it stands once."""

    def change(cell: NotebookNode) -> None:
        assert cell.source.count(old) == 1, f"{old!r} in {name}"
        cell.source = cell.source.replace(old, new)

    return in_cell(name, change)


def in_output(name: str, pattern: str, new: New) -> Plant:
    """Replace the first match of a pattern in a cell's stored outputs."""
    return in_cell(name, lambda cell: replace_output(cell, pattern, new))


def replace_output(cell: NotebookNode, pattern: str, new: New) -> None:
    """Replace the first match of a pattern in stored outputs."""
    for output in cell.outputs:
        holder = output.get("data", output)
        for key in ("text", "text/html", "text/plain"):
            if re.search(pattern, holder.get(key, "")):
                holder[key] = re.sub(pattern, new, holder[key], count=1)
                return
    raise AssertionError(f"no output of {cell.id} matches {pattern!r}")


def in_file(name: str, old: str, new: str) -> Plant:
    """Replace text in a file, where it stands once."""

    def plant(root: Path) -> None:
        text = (root / name).read_text(encoding="utf-8")
        assert text.count(old) == 1, f"{old!r} in {name}"
        text = text.replace(old, new)
        (root / name).write_text(text, encoding="utf-8")

    return plant


def print_more(name: str, kind: str, text: str) -> Plant:
    """Store one more output in a cell: a stream, or data of a MIME type."""

    def change(cell: NotebookNode) -> None:
        if "/" in kind:
            output = nbformat.v4.new_output("display_data", {kind: text})
        else:
            output = nbformat.v4.new_output("stream", name=kind, text=text)
        cell.outputs.append(output)

    return in_cell(name, change)


def ignore(cell: NotebookNode) -> None:
    """Take a cell out of the comparison, as an author would."""
    cell.metadata["tags"] = ["nbval-ignore-output"]
    cell.metadata["reason"] = "it differs from run to run"
    cell.metadata["cutaway"] = {"source": source_stamp(cell)}


def strip_outputs(root: Path, name: str) -> None:
    """Leave a cell as an editor does that clears its output."""
    with notebook(root / SECTION) as content:
        cell = cell_named(content, name)
        cell.outputs, cell.execution_count = [], None
        code = [c for c in content.cells if c.cell_type == "code"]
        executed = [c for c in code if c.execution_count is not None]
        for count, cell in enumerate(executed, start=1):
            cell.execution_count = count
