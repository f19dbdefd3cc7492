"""The workbook: the book's exercises, without their solutions.

    python tools/workbook.py build      write workbook/<part>/<section>.ipynb
    python tools/workbook.py check      fail unless it is what build writes

How a chapter writes an exercise: four cells, in this order.

1. markdown, tag ``exercise``: the statement, under a heading of its own.
2. code, tag ``exercise``: a function that returns ``...``, and its check::

       def next_token_probs(logits, temperature):
           return ...


       grade.check("flow/end_to_end:1", next_token_probs)

3. code, tag ``exercise``: ``grade.hint("flow/end_to_end:1")``.
4. code, tags ``solution`` and ``hide-cell``: the function as it should be,
   and the same check, which then prints "correct".

The workbook takes the cells tagged ``setup`` (imports) and ``exercise``
and nothing else; only ``exercise`` cells may use what ``setup`` cells
define. It is a function of the chapter: same chapter, same bytes.
"""

from __future__ import annotations

import argparse
import ast
import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from cutaway.book.exercise import Exercise
from cutaway.book.exercises import find, section_exercises, sections
from cutaway.core.errors import ArgumentError
from nbtools.normal import NotebookError, dumps, read, tags, write_atomically

ROOT = Path(__file__).resolve().parent.parent
CHECK = re.compile(r"""grade\.check\(\s*["']([^"']+)["']""")
HINT = re.compile(r"""grade\.hint\(\s*["']([^"']+)["']""")
_LINK = re.compile(r"(?<=\]\()(?![a-z]+:|/)([^)\s]+)")
_HEADING = re.compile(r"^#+ +(.+?) *$", re.M)

INTRO = """\
# Workbook: {title}

The exercises of [{title}]({chapter}), without the solutions. Replace each
`...` by an answer and run the cell: it is graded on the spot, offline. Every
exercise has hints, from a nudge to nearly the answer."""


def build(book: Path, workbook: Path) -> list[Path]:
    """Write the workbook; return the files that changed."""
    wanted = dict(pages(book, workbook))
    for path in _strays(wanted, workbook):
        path.unlink()
    return [p for p, text in wanted.items() if write_atomically(p, text)]


def stale(book: Path, workbook: Path) -> list[str]:
    """List what differs between the workbook and what ``build`` writes."""
    wanted = dict(pages(book, workbook))
    found = [f"{path}: not of this book" for path in _strays(wanted, workbook)]
    for path, text in wanted.items():
        if not path.is_file():
            found.append(f"{path}: missing")
        elif path.read_bytes() != text.encode():
            found.append(f"{path}: not what the chapter gives")
    return found


def pages(book: Path, workbook: Path) -> Iterator[tuple[Path, str]]:
    """Yield each file of the workbook and its text.

    Raises:
        NotebookError: A chapter does not follow the convention above.
    """
    for path in sorted(book.glob("*/*.ipynb")):
        chapter = read(path)
        if not any("exercise" in tags(cell) for cell in chapter.cells):
            continue
        section = f"{path.parent.name}/{path.stem}"
        found = problems(chapter, section)
        if found:
            raise NotebookError("\n".join(f"{path}: {p}" for p in found))
        target = workbook / path.parent.name / path.name
        link = posixpath.join("..", "..", book.name, f"{section}.ipynb")
        yield target, dumps(page(chapter, link))


def page(chapter: NotebookNode, link: str) -> NotebookNode:
    """Return the workbook page of a chapter.

    Args:
        chapter: The chapter's notebook; it is not changed.
        link: The chapter's path as seen from the page.
    """
    title = _HEADING.search(_prose(chapter))
    name = title[1] if title else "this section"
    intro = new_markdown_cell(INTRO.format(title=name, chapter=link))
    cells = [_with_id(intro, "workbook-intro")]
    for wanted in ("setup", "exercise"):
        cells += [
            _blank(cell, link)
            for cell in chapter.cells
            if wanted in tags(cell) and "solution" not in tags(cell)
        ]
    done = new_code_cell("grade.status()")
    cells.append(_with_id(done, "workbook-status"))
    return new_notebook(cells=cells)


def problems(chapter: NotebookNode, section: str) -> list[str]:
    """List where a chapter leaves the convention, or its graders."""
    found: list[str] = []
    checked: list[str] = []
    solved: set[str] = set()
    hinted: set[str] = set()
    for cell in chapter.cells:
        ids = CHECK.findall(cell.source)
        if "solution" in tags(cell):
            solved.update(ids)
            found += _rejected(cell, ids)
        elif "exercise" in tags(cell) and cell.cell_type == "code":
            hinted.update(HINT.findall(cell.source))
            checked += ids
            found += _stub_problems(cell, ids)
    found += [f"{i}: no solution" for i in checked if i not in solved]
    found += [f"{i}: no hint" for i in checked if i not in hinted]
    if not any("setup" in tags(cell) for cell in chapter.cells):
        found.append("no cell is tagged setup")
    known = section_exercises(section) if section in sections() else ()
    headings = {h.casefold() for h in _HEADING.findall(_prose(chapter))}
    for exercise in known:
        if exercise.id not in checked:
            found.append(f"{exercise.id}: not in the chapter")
        if exercise.reread.casefold() not in headings:
            found.append(f"{exercise.id}: no heading {exercise.reread!r}")
    return found


def _rejected(cell: NotebookNode, ids: list[str]) -> list[str]:
    """Complain if a solution was run and its grader did not accept it."""
    said = "".join(output.get("text", "") for output in cell.outputs)
    return [
        f"{i}: its solution printed {said!r}, expected 'correct'"
        for i in ids
        if cell.outputs and f"{i}  correct" not in said
    ]


def _stub_problems(cell: NotebookNode, ids: list[str]) -> list[str]:
    """Check that a cell leaves its exercise open, in the right signature."""
    found: list[str] = []
    for exercise_id in ids:
        try:
            exercise = find(exercise_id)
        except ArgumentError as error:
            found.append(str(error))
            continue
        if not _is_open(cell.source, exercise):
            names = ", ".join(exercise.parameters)
            found.append(
                f"{exercise_id}: expected the stub "
                f"'def {exercise.function}({names}): ... return ...'"
            )
    return found


def _is_open(source: str, exercise: Exercise) -> bool:
    """Whether a cell defines the function and has it return ``...``."""
    for node in ast.parse(source).body:
        if isinstance(node, ast.FunctionDef) and node.name == exercise.function:
            names = tuple(argument.arg for argument in node.args.args)
            last = ast.unparse(node.body[-1])
            return names == exercise.parameters and last == "return ..."
    return False


def _prose(chapter: NotebookNode) -> str:
    cells = (c.source for c in chapter.cells if c.cell_type == "markdown")
    return "\n".join(cells)


def _blank(cell: NotebookNode, link: str) -> NotebookNode:
    """Return a cell without outputs, its links turned to the book."""
    if cell.cell_type == "code":
        return _with_id(new_code_cell(cell.source), cell.id)
    folder = posixpath.dirname(link)

    def turn(match: re.Match[str]) -> str:
        target = match[0]
        if target.startswith("#"):
            return link + target
        return posixpath.normpath(posixpath.join(folder, target))

    return _with_id(new_markdown_cell(_LINK.sub(turn, cell.source)), cell.id)


def _with_id(cell: NotebookNode, cell_id: str) -> NotebookNode:
    cell.id = cell_id
    return cell


def _strays(wanted: dict[Path, str], workbook: Path) -> list[Path]:
    found = sorted(workbook.glob("**/*.ipynb"))
    hidden = ".ipynb_checkpoints"
    return [p for p in found if p not in wanted and hidden not in p.parts]


def main(arguments: list[str] | None = None) -> int:
    """Run one command; return the exit code."""
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("command", choices=("build", "check"))
    parser.add_argument("--book", type=Path, default=ROOT / "book")
    parser.add_argument("--workbook", type=Path, default=ROOT / "workbook")
    args = parser.parse_args(arguments)
    try:
        if args.command == "build":
            for path in build(args.book, args.workbook):
                print(path)
            return 0
        found = stale(args.book, args.workbook)
    except NotebookError as error:
        print(error, file=sys.stderr)
        return 1
    for problem in found:
        print(f"{problem}; run tools/workbook.py build", file=sys.stderr)
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
