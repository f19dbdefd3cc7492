"""The line of a section that says how long it takes and what it needs.

A section's first markdown cell carries the metadata
``cutaway: {"header": true}`` and one line such as
``*18 minutes to read · runs in about 20 s · 1.2 GB of memory*``.
Minutes follow from the text; seconds and memory come from the last run.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from nbformat import NotebookNode

WORDS_PER_MINUTE = 200
CODE_LINES_PER_MINUTE = 40
TOLERANCE = 0.25
"""A stored value stays while a new measurement is this near to it."""

LINE = re.compile(
    r"^\*(?P<minutes>\d+) minutes? to read"
    r"(?: · runs in about (?P<seconds>\d+) s"
    r" · (?P<gigabytes>\d+\.\d) GB of memory)?\*$",
    re.M,
)
_WORD = re.compile(r"[^\W_]+(?:['’.,-][^\W_]+)*")
_TAG = re.compile(r"<[^>]*>")
_FOLDED = re.compile(r"<details>.*?</details>", re.S)
_MOST_LINES = 40


def header_cell(notebook: NotebookNode) -> NotebookNode | None:
    """Return the header cell, or None where there is none."""
    for cell in notebook.cells:
        ours = cell.metadata.get("cutaway", {})
        if cell.cell_type == "markdown" and ours.get("header"):
            return cell
    return None


def reading_minutes(notebook: NotebookNode) -> int:
    """Return the minutes it takes to read the prose and the code.

    Prose counts 200 words a minute; code, and outputs of up to 40 lines,
    count 40 lines a minute; a figure counts as ten lines. Exercises are
    work, not reading, and do not count; nor do folded docstrings.
    """
    words, lines = 0, 0
    for cell in notebook.cells:
        if {"exercise", "solution"} & set(cell.metadata.get("tags", [])):
            continue
        if cell.cell_type == "markdown":
            prose = LINE.sub("", cell.source)
            words += len(_WORD.findall(_TAG.sub(" ", prose)))
        elif cell.cell_type == "code":
            if {"remove-cell", "remove-input"} & set(
                cell.metadata.get("tags", [])
            ):
                continue
            lines += len(cell.source.splitlines())
            lines += sum(_output_lines(output) for output in cell.outputs)
    minutes = words / WORDS_PER_MINUTE + lines / CODE_LINES_PER_MINUTE
    return max(1, round(minutes))


def _output_lines(output: NotebookNode) -> int:
    """Return how many lines of reading an output is."""
    if output.output_type == "stream":
        return min(_MOST_LINES, len(output.text.splitlines()))
    data = output.get("data", {})
    markup = data.get("text/html", "")
    if "<svg" in markup:
        return 10
    if 'class="cutaway-source"' in markup:  # docstrings are folded away
        return min(_MOST_LINES, len(_FOLDED.sub("", markup).splitlines()))
    return min(_MOST_LINES, len(data.get("text/plain", "").splitlines()))


def keep_measures(notebook: NotebookNode, old: NotebookNode | None) -> None:
    """Copy the line of an older version where the new header measures nothing.

    An author's text need not repeat what ``nb.py run`` measured.
    """
    before = header_cell(old) if old is not None else None
    cell = header_cell(notebook)
    if before is None or cell is None:
        return
    line, here = LINE.search(before.source), LINE.search(cell.source)
    if line is None or (here is not None and here["seconds"]):
        return
    if here is not None:
        cell.source = LINE.sub(lambda _: line[0], cell.source)
    else:
        cell.source = _insert_line(cell.source, line[0])


def update_header(
    notebook: NotebookNode,
    wall_s: float | None = None,
    peak_bytes: int | None = None,
) -> None:
    """Write minutes, and seconds and memory if given, into the header.

    Changes the header cell in place; without such a cell, does nothing.
    The stored seconds and memory stay while they are within 25 % of the
    measured ones, so that a second run changes no byte.
    """
    cell = header_cell(notebook)
    if cell is None:
        return
    found = LINE.search(cell.source)
    old_s = float(found["seconds"]) if found and found["seconds"] else None
    old_gb = float(found["gigabytes"]) if found and found["gigabytes"] else None
    seconds = _keep_or(old_s, wall_s, round_seconds)
    gigabytes = _keep_or(
        old_gb,
        None if peak_bytes is None else peak_bytes / 1e9,
        lambda value: max(0.1, round(value, 1)),
    )
    minutes = reading_minutes(notebook)
    line = f"*{minutes} minute{'s' * (minutes != 1)} to read"
    if seconds is not None and gigabytes is not None:
        line += f" · runs in about {seconds:.0f} s"
        line += f" · {gigabytes:.1f} GB of memory"
    line += "*"
    if found:
        start, end = found.span()
        cell.source = cell.source[:start] + line + cell.source[end:]
    else:
        cell.source = _insert_line(cell.source, line)


def round_seconds(seconds: float) -> float:
    """Round to whole seconds below 10, to steps of 5 above; at least 1."""
    if seconds < 10:
        return max(1, round(seconds))
    return 5 * round(seconds / 5)


def _keep_or(
    old: float | None,
    measured: float | None,
    rounded: Callable[[float], float],
) -> float | None:
    """Return the old value if near the measured one, else that, rounded."""
    if measured is None:
        return old
    fresh = rounded(measured)
    if old is not None and abs(old - measured) <= TOLERANCE * measured:
        return old
    return fresh


def _insert_line(source: str, line: str) -> str:
    """Put the line below the first heading, or on top."""
    heading = re.search(r"^# .*$", source, re.M)
    if heading is None:
        return f"{line}\n\n{source}"
    rest = source[heading.end() :].lstrip("\n")
    return f"{source[: heading.end()]}\n\n{line}\n\n{rest}".rstrip()
