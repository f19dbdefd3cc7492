"""Each rule of the hygiene gate finds the fault it was made for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from bookcheck.hygiene import check_book, check_notebook

Damage = Callable[[dict[str, Any]], object]


def cell(notebook: dict[str, Any], name: str) -> dict[str, Any]:
    return next(c for c in notebook["cells"] if c["id"] == name)


def output(notebook: dict[str, Any], name: str) -> dict[str, Any]:
    return cell(notebook, name)["outputs"][0]


def say(notebook: dict[str, Any], text: str) -> None:
    output(notebook, "sum")["text"] = [text]


def html(notebook: dict[str, Any], text: str) -> None:
    output(notebook, "plot")["data"]["text/html"] = [text]


def source(notebook: dict[str, Any], text: str, name: str = "sum") -> None:
    cell(notebook, name)["source"] = [text]


def header(notebook: dict[str, Any], line: str) -> None:
    cell(notebook, "header")["source"] = ["# A section\n\n", line]


def copies(notebook: dict[str, Any], name: str, number: int) -> None:
    original = cell(notebook, name)
    for at in range(number):
        twin = {**original, "id": f"{name}-{at}", "execution_count": 5 + at}
        notebook["cells"].append(twin)


def as_error(notebook: dict[str, Any]) -> None:
    cell(notebook, "sum")["outputs"] = cell(notebook, "error")["outputs"]


def picture_twice(notebook: dict[str, Any]) -> None:
    twin = {**cell(notebook, "plot"), "id": "twin", "execution_count": 5}
    notebook["cells"].append(twin)


PLANTED: list[tuple[str, str, Damage]] = [
    ("format", "older format", lambda n: n.update(nbformat_minor=4)),
    ("kernel", "other kernel", lambda n: n["metadata"]["kernelspec"].update(
        name="conda-env")),
    ("kernel", "no kernel", lambda n: n["metadata"].pop("kernelspec")),
    ("widget", "widget state", lambda n: n["metadata"].update(widgets={})),
    ("widget", "widget output", lambda n: output(n, "plot")["data"].update(
        {"application/vnd.jupyter.widget-view+json": {"model_id": "a"}})),
    ("id", "missing id", lambda n: n["cells"][1].pop("id")),
    ("id", "same id twice", lambda n: n["cells"][2].update(id="sum")),
    ("executed", "stripped", lambda n: cell(n, "sum").update(
        execution_count=None, outputs=[])),
    ("executed", "out of order", lambda n: cell(n, "sum").update(
        execution_count=7)),
    ("executed", "no code", lambda n: n.update(cells=n["cells"][:1])),
    ("ignored", "three ignored", lambda n: copies(n, "time", 2)),
    ("reason", "no reason", lambda n: cell(n, "time")["metadata"].pop(
        "reason")),
    ("reason", "blank reason", lambda n: cell(n, "time")["metadata"].update(
        reason=" ")),
    ("reason", "skip without reason", lambda n: cell(n, "time")[
        "metadata"].update(tags=["nbval-skip"], reason="")),
    ("stale", "edited ignored cell", lambda n: source(
        n, "print(minutes)", "time")),
    ("stale", "emptied ignored cell", lambda n: cell(n, "time").update(
        outputs=[])),
    ("tag", "mistyped tag", lambda n: cell(n, "sum").update(
        metadata={"tags": ["nbval-ignore-ouput"]})),
    ("tag", "mistyped raises", lambda n: cell(n, "sum").update(
        metadata={"tags": ["raise-exception"]})),
    ("raises", "no error stored", lambda n: cell(n, "error").update(
        outputs=[])),
    ("raises", "error without tag", as_error),
    ("comment", "tag in a comment", lambda n: source(
        n, "# NBVAL_IGNORE_OUTPUT\nprint(1 + 1)")),
    ("claim", "a plot without an assert", lambda n: source(
        n, "figure.show(fig, name='a', alt='b')", "plot")),
    ("claim", "a trace without an assert", lambda n: source(
        n, "# assert nothing\ntrace.emit('a', {})", "plot")),
    ("silenced", "semicolon", lambda n: source(n, "plot();  # quiet")),
    ("silenced", "capture", lambda n: source(n, "%%capture\nplot()")),
    ("long", "16 lines", lambda n: source(n, "x = 1\n" * 16)),
    ("alt", "image in prose", lambda n: cell(n, "header")["source"].append(
        "\n\n![](picture.svg)")),
    ("stderr", "warning", lambda n: output(n, "sum").update(name="stderr")),
    ("pixels", "png", lambda n: output(n, "plot")["data"].update(
        {"image/png": "iVBORw0KGgo="})),
    ("pixels", "png in html", lambda n: html(
        n, '<img alt="a" src="data:image/png;base64,iVBORw0=">')),
    ("size", "60 kB", lambda n: say(n, "word " * 12_000)),
    ("size", "110 kB with trace", lambda n: html(
        n, '<script type="application/json">' + "1, " * 36_000 + "</script>")),
    ("address", "repr", lambda n: say(
        n, "<function f at 0x7f3a5c0d1e20>")),
    ("address", "bare pointer", lambda n: say(n, "ptr=0x55d0c8a1b2c0")),
    ("timestamp", "iso", lambda n: say(n, "run 2026-01-31 12:05:09")),
    ("timestamp", "ctime", lambda n: say(n, "Sat Jan 31 12:05:09 2026")),
    ("timestamp", "epoch", lambda n: say(n, "1769861109.123")),
    ("timestamp", "execution metadata", lambda n: cell(n, "sum").update(
        metadata={"execution": {"iopub.status.busy": "x"}})),
    ("path", "home", lambda n: say(n, "loaded /home/ada/model.gguf")),
    ("path", "windows", lambda n: say(n, r"loaded C:\Users\ada")),
    ("path", "site-packages", lambda n: say(n, "lib/site-packages/numpy")),
    ("path", "long path", lambda n: html(n, "<p>/srv/data/x.bin</p>")),
    ("traceback", "printed", lambda n: say(
        n, "Traceback (most recent call last):")),
    ("alt", "svg without label", lambda n: html(
        n, '<svg role="img" viewBox="0 0 1 1"></svg>')),
    ("alt", "svg without role", lambda n: html(
        n, '<svg aria-label="A line."></svg>')),
    ("alt", "img without alt", lambda n: html(n, '<img src="a.svg">')),
    ("picture", "same figure twice", picture_twice),
    ("header", "none", lambda n: cell(n, "header").update(metadata={})),
    ("header", "not measured", lambda n: header(n, "*1 minute to read*")),
    ("header", "slow", lambda n: header(
        n, "*1 minute to read · runs in about 60 s · 0.2 GB of memory*")),
    ("header", "large", lambda n: header(
        n, "*1 minute to read · runs in about 5 s · 2.0 GB of memory*")),
]  # fmt: skip


def test_good_notebook_has_no_finding(good_notebook, write_notebook):
    assert check_notebook(write_notebook(good_notebook)) == []


@pytest.mark.parametrize(
    ("rule", "damage"),
    [
        pytest.param(rule, damage, id=f"{rule}: {what}")
        for rule, what, damage in PLANTED
    ],
)
def test_planted_fault_breaks_its_rule_alone(
    good_notebook, write_notebook, rule, damage
):
    damage(good_notebook)
    found = check_notebook(write_notebook(good_notebook))
    assert {finding.rule for finding in found} == {rule}, found


@pytest.mark.parametrize(
    "text",
    [
        "see https://example.org/a/b/c.html",
        "and/or/not",
        "0x1f is 31, 0xFF is 255",
        "1.5/2/3 tokens/s",
        "date 2026-01-31",
        "path models/tiny/file.gguf",
    ],
)
def test_harmless_output_is_left_alone(good_notebook, write_notebook, text):
    say(good_notebook, text)
    assert check_notebook(write_notebook(good_notebook)) == []


@pytest.mark.parametrize(
    "text", ["print(';')", "x = 1  # done;", "a = 1; b = 2", "%time f()"]
)
def test_harmless_source_is_left_alone(good_notebook, write_notebook, text):
    source(good_notebook, text)
    assert check_notebook(write_notebook(good_notebook)) == []


def test_long_cell_passes_with_a_reason(good_notebook, write_notebook):
    source(good_notebook, "x = 1\n" * 30)
    cell(good_notebook, "sum")["metadata"] = {
        "cutaway": {"long": "the whole loop on one screen"}
    }
    assert check_notebook(write_notebook(good_notebook)) == []


def test_one_cell_in_ten_may_be_ignored(good_notebook, write_notebook):
    copies(good_notebook, "sum", 27)  # 31 code cells, of which 3 are ignored
    for extra in ("sum-0", "sum-1"):
        plain = cell(good_notebook, extra)
        timed = cell(good_notebook, "time")
        plain.update(source=timed["source"], metadata=timed["metadata"])
    assert check_notebook(write_notebook(good_notebook)) == []


def test_page_beside_the_parts_needs_no_header(good_notebook, write_notebook):
    cell(good_notebook, "header")["metadata"] = {}
    page = write_notebook(good_notebook, "ledger.ipynb")
    section = write_notebook(good_notebook, "part/section.ipynb")
    found = check_book(page.parent)
    assert [(f.path, f.rule) for f in found] == [(section, "header")]


def test_unreadable_notebook_is_a_finding(tmp_path: Path):
    path = tmp_path / "broken.ipynb"
    path.write_text("{")
    assert [f.rule for f in check_notebook(path)] == ["format"]


def test_book_without_notebooks_is_a_finding(tmp_path: Path):
    assert [f.rule for f in check_book(tmp_path)] == ["empty"]


def test_checkpoints_are_not_part_of_the_book(good_notebook, write_notebook):
    path = write_notebook(good_notebook)
    write_notebook({"cells": []}, ".ipynb_checkpoints/old.ipynb")
    assert check_book(path.parent) == []


@pytest.mark.parametrize("place", ["plot", "time"])
def test_a_picture_may_be_asserted_in_its_cell_or_in_the_next(
    good_notebook, write_notebook, place
):
    source(good_notebook, "figure.show(fig, name='a', alt='b')", "plot")
    cell(good_notebook, place)["source"].append("\nassert 1 < 2")
    found = check_notebook(write_notebook(good_notebook))
    assert "claim" not in {finding.rule for finding in found}
