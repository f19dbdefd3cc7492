"""``nb.py run`` in real kernels, and the command line around it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

import nb
from nbtools import execute as execution
from nbtools.header import LINE
from nbtools.normal import dumps, read
from nbtools.textview import from_text

SECTION = """\
+++ {"cutaway": {"header": true}, "id": "head"}

# A section

```{code-cell}
:id: pins

import os, sys
from pathlib import Path

for name in ("OMP", "MKL", "OPENBLAS", "NUMEXPR"):
    print(name, os.environ[f"{name}_NUM_THREADS"])
print(os.environ["PYTHONHASHSEED"], os.environ["CUTAWAY_PROGRESS"])
print(hash("a") == hash("a"), Path.cwd().name)
```

```{code-cell}
:id: where

print(sys.executable)
hash("cutaway") % 1000
```

```{code-cell}
:id: memory

block = bytearray(300_000_000)
child = "import time; x = bytearray(200_000_000); time.sleep(0.6)"
import subprocess

subprocess.run([sys.executable, "-c", child], check=True)
len(block)
```

```{code-cell}
:id: timed
:tags: [nbval-ignore-output]
:reason: a random number

import random

print(random.random())
```

```{code-cell}
:id: raises
:tags: [raises-exception]

raise ValueError("on purpose")
```
"""

FAILING = """\
```{code-cell}
:id: fine

print("before")
```

```{code-cell}
:id: broken

def inner():
    return 1 / 0

inner()
```
"""


@pytest.fixture
def make(tmp_path: Path):
    def write(text: str, name: str = "part/section.ipynb") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dumps(from_text(text)))
        return path

    return write


def stdout(path: Path, name: str) -> str:
    [cell] = [c for c in read(path).cells if c.id == name]
    return "".join(o.get("text", "") for o in cell.outputs)


def plain(path: Path) -> str:
    """Everything in a notebook, sources as plain lines."""
    return "\n".join(
        f"{cell.source}\n{cell.id} {cell.metadata} {cell.get('outputs')}"
        for cell in read(path).cells
    )


def test_torch_runs_with_two_threads(make):
    path = make("```{code-cell}\nimport torch\ntorch.get_num_threads()\n```\n")
    assert nb.main(["run", str(path)]) == 0
    [cell] = read(path).cells
    assert cell.outputs[0].data["text/plain"] == "2"


def test_run_executes_pins_measures_and_repeats(make, capsys):
    path = make(SECTION)
    assert nb.main(["run", str(path)]) == 0
    first = plain(path)
    assert stdout(path, "pins") == (
        "OMP 2\nMKL 2\nOPENBLAS 2\nNUMEXPR 2\n0 off\nTrue part\n"
    )
    assert stdout(path, "where") == f"{sys.executable}\n"
    cells = {cell.id: cell for cell in read(path).cells}
    counts = [c.execution_count for c in read(path).cells[1:]]
    assert counts == [1, 2, 3, 4, 5]
    assert cells["raises"].outputs[0].traceback == ["ValueError: on purpose"]
    assert "iopub" not in first
    # 300 MB here and 200 MB in a child, beside the kernel
    words = cells["head"].source.split()
    assert 0.5 < float(words[words.index("GB") - 1]) < 0.9
    assert nb.main(["check", str(path)]) == 0

    # A second run: another process, another random number, the same bytes
    # but for the measured line, on a machine that may be busy.
    assert nb.main(["run", str(path)]) == 0
    assert LINE.sub("", plain(path)) == LINE.sub("", first)

    # The stored output of the ignored cell goes when its source does ...
    old = stdout(path, "timed")
    raw = json.loads(path.read_text())
    [timed] = [c for c in raw["cells"] if c["id"] == "timed"]
    timed["source"][-1] = "print(1 + random.random())"
    path.write_text(json.dumps(raw))
    assert nb.main(["run", str(path)]) == 0
    edited = stdout(path, "timed")
    assert edited != old
    # ... or when asked to.
    assert nb.main(["run", "--refresh", str(path)]) == 0
    assert stdout(path, "timed") != edited


def test_failing_notebook_is_left_as_it_was_and_others_still_run(make, capsys):
    failing = make(FAILING)
    before = failing.read_bytes()
    good = make("```{code-cell}\nprint(2)\n```\n", "part/good.ipynb")
    assert nb.main(["run", str(failing), str(good)]) == 1
    assert failing.read_bytes() == before
    assert list(failing.parent.iterdir()) in (
        [failing, good],
        [good, failing],
    )
    assert read(good).cells[0].outputs[0].text == "2\n"
    said = capsys.readouterr().err
    assert str(failing) in said
    assert "cell 1 (broken)" in said
    assert "ZeroDivisionError: division by zero" in said
    assert "\x1b" not in said
    assert "1 of 2 failed" in said


def test_expected_error_that_does_not_come_fails_the_run(make, capsys):
    path = make("```{code-cell}\n:tags: [raises-exception]\n\nx = 1\n```\n")
    assert nb.main(["run", str(path)]) == 1
    assert "raised nothing" in capsys.readouterr().err


def test_cell_that_takes_too_long_fails_the_run(make, capsys, monkeypatch):
    monkeypatch.setattr(execution, "CELL_TIMEOUT_S", 1)
    path = make("```{code-cell}\nimport time\ntime.sleep(30)\n```\n")
    assert nb.main(["run", str(path)]) == 1
    assert "not finished after 1 s" in capsys.readouterr().err


def test_dead_kernel_fails_the_run(make, capsys):
    path = make("```{code-cell}\nimport os\nos._exit(3)\n```\n")
    assert nb.main(["run", str(path)]) == 1
    assert "the kernel died" in capsys.readouterr().err


def test_text_and_back_by_command(make, capsys):
    path = make(FAILING)
    before = path.read_bytes()
    assert nb.main(["text", str(path)]) == 0
    view = path.with_name("section.nb.md")
    assert capsys.readouterr().out == f"{view}\n"
    assert nb.main(["text", str(path), "-o", "-"]) == 0
    assert capsys.readouterr().out == view.read_text()
    assert nb.main(["from-text", str(view)]) == 0
    assert path.read_bytes() == before
    assert "2 cells, 2 to be run" in capsys.readouterr().out
    other = path.with_name("other.ipynb")
    assert nb.main(["from-text", str(view), str(other)]) == 0
    assert other.read_bytes() == before


def test_check_names_what_is_not_normal_and_normalise_mends_it(make, capsys):
    path = make(FAILING)
    path.write_text(json.dumps(json.loads(path.read_text())))
    assert nb.main(["check", str(path)]) == 1
    assert "not in normal form" in capsys.readouterr().err
    assert nb.main(["normalise", str(path)]) == 0
    assert nb.main(["check", str(path)]) == 0


def test_new_section_has_the_parts_of_a_section_and_runs(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.setattr(nb, "BOOK", tmp_path)
    assert nb.main(["new", "part/first_steps", "--title", "First steps"]) == 0
    path = tmp_path / "part" / "first_steps.ipynb"
    text = path.read_text()
    assert "{{" not in text
    for part in ("The question", "What goes wrong", "Exercises", "Sources"):
        assert part in text
    assert "part/first_steps:1" in text
    assert nb.main(["check", str(path)]) == 0
    notebook = read(path)
    # Its grader is yet to be written.
    notebook.cells = [c for c in notebook.cells if c.id != "exercise-1"]
    path.write_text(dumps(notebook))
    assert nb.main(["run", str(path)]) == 0
    assert "fig-first-steps-growth" in path.read_text()
    assert nb.main(["new", "part/first_steps"]) == 1
    assert "exists already" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["nopart", "A/b", "a/b/c", "../a/b", "a/b c"])
def test_new_section_with_an_unfit_name_is_refused(
    tmp_path, capsys, monkeypatch, name
):
    monkeypatch.setattr(nb, "BOOK", tmp_path)
    assert nb.main(["new", name]) == 1
    assert "PART/SECTION" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("command", ["text", "run", "check", "from-text"])
def test_missing_file_is_an_error_with_its_name(tmp_path, capsys, command):
    path = tmp_path / ("gone.md" if command == "from-text" else "gone.ipynb")
    assert nb.main([command, str(path)]) == 1
    assert "gone" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [[], ["run"], ["fly", "a.ipynb"]])
def test_nonsense_exits_with_2(arguments, capsys):
    with pytest.raises(SystemExit) as stopped:
        nb.main(arguments)
    assert stopped.value.code == 2
    assert "usage" in capsys.readouterr().err
