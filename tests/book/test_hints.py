"""Hints: staged, folded, the same every time."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from cutaway.book import grade
from cutaway.book.exercises import section_exercises, sections

ALL = [e for section in sections() for e in section_exercises(section)]


@pytest.fixture
def notebook():
    """Run as in a kernel: get_ipython() finds a shell."""
    shell = InteractiveShell.instance()
    yield shell
    InteractiveShell.clear_instance()


@pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.id)
def test_each_hint_is_a_closed_details_element(notebook, exercise):
    with capture_output() as captured:
        grade.hint(exercise.id)
        grade.hint(exercise.id)
    first, second = (output.data for output in captured.outputs)
    assert first == second
    markup = first["text/html"]
    assert markup.count("<details><summary>") == len(exercise.hints)
    assert "<details open" not in markup
    assert "`" not in markup
    assert "stage=1" in first["text/plain"]


@pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.id)
def test_a_stage_prints_that_hint_alone(exercise, capsys):
    for stage, text in enumerate(exercise.hints, start=1):
        grade.hint(exercise.id, stage=stage)
        out = capsys.readouterr().out
        assert out == f"Hint {stage} of {len(exercise.hints)}: {text}\n"


@pytest.mark.parametrize("stage", [0, 99, "1", True])
def test_a_stage_that_does_not_exist_is_refused(stage):
    with pytest.raises(ValueError, match="stage: got"):
        grade.hint(ALL[0].id, stage=stage)


def test_markup_in_a_hint_is_escaped():
    assert grade._inline_html("a < b, `c & d`") == (
        "a &lt; b, <code>c &amp; d</code>"
    )


def test_outside_a_notebook_a_hint_is_text(capsys):
    grade.hint(ALL[0].id)
    assert "stage=1" in capsys.readouterr().out


def test_grading_loads_neither_torch_nor_matplotlib():
    code = (
        "import sys, json; from cutaway.book import grade;"
        "grade.check('flow/end_to_end:1', ...);"
        "print(json.dumps([m for m in ('torch', 'matplotlib')"
        " if m in sys.modules]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert json.loads(done.stdout.splitlines()[-1]) == []
