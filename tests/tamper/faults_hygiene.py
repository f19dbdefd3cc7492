"""Faults that would hide something from nbval, or not repeat."""

from __future__ import annotations

import re
from pathlib import Path

from nbformat import NotebookNode

from tamper.copies import (
    SECTION,
    cell_named,
    ignore,
    in_cell,
    in_output,
    in_source,
    notebook,
    print_more,
    replace_output,
    strip_outputs,
)
from tamper.fault import Fault

HIDDEN = "hygiene"
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNk+A8AAQUBAScY"
    "42YAAAAASUVORK5CYII="
)


def _ignore_two_more(root: Path) -> None:
    with notebook(root / SECTION) as content:
        for name in ("words", "entropy"):
            ignore(cell_named(content, name))


def _swap_counts(root: Path) -> None:
    with notebook(root / SECTION) as content:
        one, two = cell_named(content, "probs"), cell_named(content, "words")
        counts = one.execution_count, two.execution_count
        two.execution_count, one.execution_count = counts


def _same_id(root: Path) -> None:
    with notebook(root / SECTION) as content:
        cell_named(content, "words").id = "probs"


def _capture(cell: NotebookNode) -> None:
    cell.source, cell.outputs = f"%%capture\n{cell.source}", []


def _comment(cell: NotebookNode) -> None:
    cell.source = f"# NBVAL_IGNORE_OUTPUT\n{cell.source}"
    replace_output(cell, "is a", "is b")


def _slow(cell: NotebookNode) -> None:
    cell.source = re.sub(r"about \d+ s", "about 75 s", cell.source)


def _untagged_error(cell: NotebookNode) -> None:
    del cell.metadata["tags"]


def _other_kernel(root: Path) -> None:
    with notebook(root / SECTION) as content:
        content.metadata.kernelspec.name = "my-kernel"


def _indent(root: Path) -> None:
    path = root / SECTION
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("\n ", "\n  "), encoding="utf-8")


def _add_times(cell: NotebookNode) -> None:
    cell.metadata["execution"] = {"iopub.execute_input": "2024-02-29T12:00:00Z"}


HYGIENE = (
    Fault(
        "an output stripped, as an editor does it",
        lambda root: strip_outputs(root, "entropy"),
        (HIDDEN,),
        r"executed: 1 code cells were not executed",
        runs=True,
    ),
    Fault(
        "cells run out of order",
        _swap_counts,
        (HIDDEN, "normal form"),
        r"executed: counts are .* expected 1 to 16",
    ),
    Fault(
        "a cell ignored without a reason",
        in_cell("timed", lambda cell: cell.metadata.pop("reason")),
        (HIDDEN,),
        r"timed.*tag 'nbval-ignore-output' without a reason",
        runs=True,
    ),
    Fault(
        "more cells ignored than allowed",
        _ignore_two_more,
        (HIDDEN,),
        r"3 of 16 code cells are ignored or skipped, expected <= 2",
        runs=True,
    ),
    Fault(
        "an ignored cell changed after its run",
        in_source("timed", "1e6", "1e3"),
        (HIDDEN,),
        r"timed.*is not from its present source",
        runs=True,
    ),
    Fault(
        "a picture whose claim is no longer asserted",
        in_source("plot", "assert np.allclose", "claim = np.allclose"),
        (HIDDEN,),
        r"claim: the picture of 'plot' has no assert",
        runs=True,
    ),
    Fault(
        "a tag with a typing error",
        in_cell("timed", lambda c: c.metadata.update(tags=["nbval-ignore"])),
        (HIDDEN,),
        r"unknown tag 'nbval-ignore'",
    ),
    Fault(
        "an output ignored by a comment",
        in_cell("words", _comment),
        (HIDDEN,),
        r"words.*# NBVAL_IGNORE_OUTPUT in the source; use a tag",
        runs=True,
    ),
    Fault(
        "an output silenced by a semicolon",
        in_source("entropy", 'nats")', 'nats");'),
        (HIDDEN,),
        r"entropy.*output is silenced by ;",
        runs=True,
    ),
    Fault(
        "an output captured",
        in_cell("words", _capture),
        (HIDDEN,),
        r"words.*silenced by ; or %%capture",
        runs=True,
    ),
    Fault(
        "a warning on stderr stored",
        print_more("words", "stderr", "UserWarning: deprecated\n"),
        (HIDDEN,),
        r"words.*output on stderr: 'UserWarning: deprecated'",
    ),
    Fault(
        "a memory address in an output",
        in_output("words", "is a", "is <object at 0x7f3a5c2b1d90>"),
        (HIDDEN,),
        r"a memory address in an output: 'at 0x7f3a5c2b1d90'",
    ),
    Fault(
        "an absolute path in an output",
        in_output("words", "is a", "is in /home/ada/book/a.txt"),
        (HIDDEN,),
        r"an absolute path in an output: '/home/a",
    ),
    Fault(
        "a time of day in an output",
        in_output("words", "is a", "is a, 2024-02-29 12:30"),
        (HIDDEN,),
        r"a time of day in an output: '2024-02-29 12:30",
    ),
    Fault(
        "the text of a traceback in an output",
        in_output("words", "is a", "Traceback (most recent call last)"),
        (HIDDEN,),
        r"traceback: an output holds the text of a traceback",
    ),
    Fault(
        "an error stored that no tag announces",
        in_cell("refused", _untagged_error),
        (HIDDEN,),
        r"a stored ArgumentError, but no tag raises-exception",
    ),
    Fault(
        "a picture of pixels",
        print_more("words", "image/png", PIXEL),
        (HIDDEN,),
        r"pixels: image/png is never compared; use figure\.show",
        runs=True,
    ),
    Fault(
        "a widget that needs a kernel",
        print_more("words", "application/vnd.jupyter.widget-view+json", "{}"),
        (HIDDEN,),
        r"shows nothing on a static page",
        runs=True,
    ),
    Fault(
        "a figure without alt text",
        in_output("plot", ' aria-label="[^"]*"', ""),
        (HIDDEN,),
        r"plot.*alt: an <svg> without role=img and a sentence",
    ),
    Fault(
        "a picture in the text without alt text",
        in_source("choice-text", "![A square cut open]", "![]"),
        (HIDDEN,),
        r"choice-text.*alt: an image without alternative text",
    ),
    Fault(
        "a picture twice on the page",
        in_output("steps", 'id="fig-choice"', 'id="fig-pairs"'),
        (HIDDEN,),
        r"picture: the id 'fig-pairs' occurs 2 times",
    ),
    Fault(
        "two cells with one id",
        _same_id,
        (HIDDEN, "normal form"),
        r"id: 'probs' names 2 cells",
    ),
    Fault(
        "a kernel that no reader has",
        _other_kernel,
        (HIDDEN, "normal form"),
        r"got kernelspec 'my-kernel', expected 'python3'",
    ),
    Fault(
        "a section that runs too long",
        in_cell("header", _slow),
        (HIDDEN,),
        r"header: runs 75 s, expected < 60",
    ),
    Fault(
        "times of execution in the metadata",
        in_cell("words", _add_times),
        ("normal form", HIDDEN),
        r"not in normal form; run tools/nb\.py normalise",
    ),
    Fault(
        "a notebook not in normal form",
        _indent,
        ("normal form",),
        r"section\.ipynb: not in normal form; run tools/nb\.py normalise",
    ),
)
