"""The pipeline itself: what looks at nothing, or skips, must not be green."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook

import do
from bookcheck import hygiene, prose
from nbtools.normal import dumps
from tamper.checks import compare
from tamper.copies import ROOT, add_pytest

pytestmark = pytest.mark.tamper

OPTIONS = ("-p", "no:cacheprovider", "--color=no")


def pytest_in(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run pytest in a folder; return its status and what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *OPTIONS, *arguments],
        cwd=folder,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    return done.returncode, done.stdout


# --- Nothing collected ---------------------------------------------------


def test_nbval_without_a_notebook_fails(tmp_path: Path):
    add_pytest(tmp_path)
    _, _, _, *arguments = map(str, do.nbval_command("."))
    status, said = pytest_in(tmp_path, *arguments)
    assert status == pytest.ExitCode.NO_TESTS_COLLECTED, said


def test_gates_without_a_notebook_are_red(tmp_path: Path):
    facts = tmp_path / "facts.toml"
    facts.write_text("")
    for findings in (
        hygiene.check_book(tmp_path),
        prose.check_book(tmp_path, facts),
    ):
        assert [str(f) for f in findings if "no notebook was found" in str(f)]


# --- Skips ---------------------------------------------------------------


def test_skip_without_a_reason_fails_under_the_root_conftest(tmp_path: Path):
    add_pytest(tmp_path)
    text = "import pytest\n\n\ndef test_it():\n    pytest.skip()\n"
    (tmp_path / "test_it.py").write_text(text)
    status, said = pytest_in(tmp_path, "-q")
    assert status == pytest.ExitCode.TESTS_FAILED, said
    assert "got a skip without a reason" in said


@pytest.mark.parametrize("reason", ["needs a GPU", ""])
def test_skipped_cell_needs_a_reason_too(reason: str, tmp_path: Path):
    cell = new_code_cell("print(1)", execution_count=1)
    cell.metadata.update(tags=["nbval-skip"], reason=reason)
    other = new_code_cell("1 + 1 == 3 or None", execution_count=2)
    (tmp_path / "page.ipynb").write_text(
        dumps(new_notebook(cells=[cell, other]))
    )
    said = compare(tmp_path)
    assert set(said.failed) == (set() if reason else {"page.ipynb"}), said.text


# --- The tasks -----------------------------------------------------------


def test_a_failed_step_fails_the_task_and_hides_no_later_one(capfd):
    fail = [sys.executable, "-c", "raise SystemExit(3)"]
    work = [sys.executable, "-c", "print('still run')"]
    assert do.run_steps([("first", fail), ("second", work)]) == 1
    said = capfd.readouterr().out
    assert "still run" in said
    assert re.search(r"first +FAILED \(3\)", said)
    assert "1 of 2 steps" in said
    assert do.run_steps([("second", work)]) == 0


def test_every_marker_is_run_by_exactly_one_step():
    """The steps' marker expressions cover all tests, each once."""
    steps = [*do.fast_steps(), *do.slow_steps()]
    chosen = [
        str(command[command.index("-m", 3) + 1])
        for _, command in steps
        if "tests" in command and command.count("-m") == 2
    ]
    assert chosen
    for browser in (True, False):
        for tamper in (True, False):
            marks = {"browser": browser, "tamper": tamper, "model": True}
            ran = [bool(eval(text, {}, marks)) for text in chosen]
            assert sum(ran) == 1, (marks, chosen)


def test_all_gates_are_steps():
    lines = [
        " ".join(map(str, command))
        for _, command in [*do.fast_steps(), *do.slow_steps()]
    ]
    for part in ("--nbval", "workbook.py check", " build", "ruff", "pyright"):
        assert any(part in line for line in lines), part
    [nbval] = [line for line in lines if "--nbval " in line]
    assert nbval.endswith(" book")
    assert "--nbval-current-env" in nbval


@pytest.mark.skipif(os.name == "nt", reason="bash is not at hand on Windows")
def test_ci_runs_the_whole_test_task_and_passes_its_status_on(tmp_path: Path):
    stub = tmp_path / "python"
    stub.write_text('#!/bin/sh\necho "CI=$CI $*"\nexit 7\n')
    stub.chmod(0o755)
    browser = tmp_path / "browser"
    browser.touch()
    environment = {k: v for k, v in os.environ.items() if k != "CI"}
    done = subprocess.run(
        [shutil.which("bash") or "bash", str(ROOT / ".ci" / "run")],
        env=environment
        | {"PYTHON": str(stub), "CUTAWAY_CHROMIUM": str(browser)},
        check=False,
        capture_output=True,
        encoding="utf-8",
    )
    assert done.stdout.splitlines()[-1] == "CI=true tools/do.py test"
    assert done.returncode == 7
