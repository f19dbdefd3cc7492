"""Edit, run and tidy the book's notebooks.

    python tools/nb.py text book/flow/end_to_end.ipynb
    python tools/nb.py from-text book/flow/end_to_end.nb.md
    python tools/nb.py run book/flow/end_to_end.ipynb
    python tools/nb.py check book/*/*.ipynb

Exit code 0: all is well; 1: a notebook failed or is not in normal form;
2: the command line makes no sense.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from nbtools.execute import execute
from nbtools.header import header_cell, keep_measures, update_header
from nbtools.normal import (
    NotebookError,
    dumps,
    normalise,
    read,
    write_atomically,
)
from nbtools.template import new_section
from nbtools.textview import from_text, notebook_path, text_path, to_text

BOOK = Path(__file__).resolve().parent.parent / "book"


def text(args: argparse.Namespace) -> None:
    """Write the text view of a notebook."""
    view = to_text(read(args.notebook))
    if args.output == "-":
        sys.stdout.write(view)
        return
    target = Path(args.output) if args.output else text_path(args.notebook)
    write_atomically(target, view)
    print(target)


def from_text_command(args: argparse.Namespace) -> None:
    """Write the notebook that a text view describes."""
    target = args.notebook or notebook_path(args.text)
    if target.suffix != ".ipynb":
        raise NotebookError(f"{target}: expected a path that ends in .ipynb")
    existing = read(target) if target.exists() else None
    try:
        source = args.text.read_text(encoding="utf-8")
    except OSError as error:
        raise NotebookError(f"{args.text}: {error.strerror}") from None
    notebook = from_text(source, existing)
    keep_measures(notebook, existing)
    update_header(notebook)
    write_atomically(target, dumps(notebook))
    stale = sum(
        cell.cell_type == "code" and cell.execution_count is None
        for cell in notebook.cells
    )
    print(f"{target}: {len(notebook.cells)} cells, {stale} to be run")


def run(path: Path, refresh: bool) -> None:
    """Execute one notebook and write it if every cell succeeded."""
    result = execute(read(path), path.resolve().parent, refresh=refresh)
    update_header(result.notebook, result.wall_s, result.peak_bytes)
    changed = write_atomically(path, dumps(result.notebook))
    gigabytes = result.peak_bytes / 1e9
    state = "written" if changed else "unchanged"
    print(f"{path}: {result.wall_s:.1f} s, {gigabytes:.2f} GB, {state}")
    if header_cell(result.notebook) is None:
        print(f"{path}: note: no header cell to write this into")


def normalise_one(path: Path) -> None:
    """Bring one notebook into the book's byte form."""
    notebook = normalise(read(path))
    update_header(notebook)
    changed = write_atomically(path, dumps(notebook))
    print(f"{path}: {'normalised' if changed else 'unchanged'}")


def check_one(path: Path) -> None:
    """Raise unless a notebook is in the book's byte form."""
    notebook = normalise(read(path))
    update_header(notebook)
    if path.read_bytes() != dumps(notebook).encode():
        raise NotebookError(
            f"{path}: not in normal form; run tools/nb.py normalise {path}"
        )


def each(paths: list[Path], work: Callable[[Path], None]) -> int:
    """Do the work for all paths, report each failure, return a code."""
    failures = 0
    for path in paths:
        try:
            work(path)
        except NotebookError as error:
            message = str(error)
            if not message.startswith(str(path)):
                message = f"{path}: {message}"
            print(message, file=sys.stderr)
            failures += 1
    if failures and len(paths) > 1:
        print(f"{failures} of {len(paths)} failed", file=sys.stderr)
    return int(failures > 0)


def parser() -> argparse.ArgumentParser:
    """Return the command line's grammar."""
    top = argparse.ArgumentParser(
        prog="nb.py",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    commands = top.add_subparsers(dest="command", required=True)
    one = commands.add_parser("text", help="write the MyST text view")
    one.add_argument("notebook", type=Path)
    one.add_argument(
        "-o", "--output", help="where to; - is the screen (beside it: *.nb.md)"
    )
    one = commands.add_parser("from-text", help="write the notebook of a text")
    one.add_argument("text", type=Path)
    one.add_argument("notebook", type=Path, nargs="?")
    one = commands.add_parser("run", help="execute in a fresh kernel")
    one.add_argument("notebooks", type=Path, nargs="+")
    one.add_argument(
        "--refresh",
        action="store_true",
        help="replace the stored outputs of ignored cells too",
    )
    for name, what in (
        ("normalise", "rewrite in the book's byte form"),
        ("check", "fail unless in the book's byte form"),
    ):
        one = commands.add_parser(name, help=what)
        one.add_argument("notebooks", type=Path, nargs="+")
    one = commands.add_parser("new", help="start a section from the template")
    one.add_argument("section", metavar="PART/SECTION")
    one.add_argument("--title", help="the heading (from the name)")
    return top


def main(arguments: list[str] | None = None) -> int:
    """Run one command; return the exit code."""
    args = parser().parse_args(arguments)
    if args.command == "text":
        return each([args.notebook], lambda _: text(args))
    if args.command == "from-text":
        return each([args.text], lambda _: from_text_command(args))
    if args.command == "new":
        return each(
            [Path(args.section)],
            lambda _: print(new_section(BOOK, args.section, args.title)),
        )
    work = {
        "run": lambda path: run(path, args.refresh),
        "normalise": normalise_one,
        "check": check_one,
    }[args.command]
    return each(args.notebooks, work)


if __name__ == "__main__":
    sys.exit(main())
