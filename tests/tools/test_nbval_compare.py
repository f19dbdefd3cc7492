"""A scratch section from text to nbval: green, near it green, beside it red."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from nbformat.v4 import new_code_cell

import nb
from bookcheck import nbval_plugin

ROOT = Path(__file__).resolve().parents[2]

SECTION = """\
+++ {"cutaway": {"header": true}, "id": "head"}

# Scratch

```{code-cell}
:id: setup

import os, json
import numpy as np
from IPython.display import HTML
from cutaway.book import figure, show
from cutaway.core import merge

x = np.linspace(0.1, 1, 20)
print(os.environ["OMP_NUM_THREADS"], os.environ["PYTHONHASHSEED"])
print("words stay", 37, "tokens")
```

```{code-cell}
:id: floats

with np.printoptions(precision=4):
    print(x[:5] * 1.2345)
print(f"{np.pi:.6f}")
```

```{code-cell}
:id: source

show(merge)
```

```{code-cell}
:id: plot

fig, ax = figure.subplots()
ax.plot(x, x**2, "o-")
figure.show(fig, name="square", alt="A rising curve of twenty points.")
assert np.argmax(x**2) == 19
```

```{code-cell}
:id: trace

steps = [float(f"{value:.5g}") for value in np.sqrt(x[:5])]
HTML(f'<script type="application/json">{json.dumps(steps)}</script>')
```

```{code-cell}
:id: timed
:tags: [nbval-ignore-output]
:reason: a random number

import random
random.random()
```

```{code-cell}
:id: raises
:tags: [raises-exception]

merge(1, 2)
```
"""


@pytest.fixture(scope="module")
def book(tmp_path_factory) -> Path:
    """A folder with the project's conftest and an executed section."""
    folder = tmp_path_factory.mktemp("scratch")
    shutil.copy(ROOT / "conftest.py", folder)
    tools = json.dumps(str(ROOT / "tools"))
    (folder / "pyproject.toml").write_text(
        f"[tool.pytest.ini_options]\npythonpath = [{tools}]\n"
    )
    text = folder / "scratch.nb.md"
    text.write_text(SECTION)
    assert nb.main(["from-text", str(text)]) == 0
    assert nb.main(["run", str(folder / "scratch.ipynb")]) == 0
    return folder


def nbval(folder: Path) -> tuple[dict[str, str], str]:
    """Run nbval; return the outcome of each cell, by id, and the report."""
    done = subprocess.run(
        [
            sys.executable, "-m", "pytest", "--nbval", "--nbval-current-env",
            "--nbval-cell-timeout=60", "-p", "no:cacheprovider", "-v",
            "--color=no", str(folder / "scratch.ipynb"),
        ],
        cwd=folder,
        check=False,
        capture_output=True,
        text=True,
        env={k: v for k, v in os.environ.items() if "THREADS" not in k},
    )  # fmt: skip
    cells = json.loads((folder / "scratch.ipynb").read_text())["cells"]
    names = [c["id"] for c in cells if c["cell_type"] == "code"]
    said = re.findall(r"::Cell (\d+) (PASSED|FAILED)", done.stdout)
    outcome = {names[int(at)]: result for at, result in said}
    assert (done.returncode == 0) == ("FAILED" not in outcome.values())
    return outcome, done.stdout


@pytest.fixture
def damaged(book: Path):
    """A function that changes stored outputs by cell id, then runs nbval."""
    path = book / "scratch.ipynb"
    original = path.read_text()

    def run(**changes: Callable[[str], str]) -> tuple[dict[str, str], str]:
        notebook: dict[str, Any] = json.loads(original)
        for cell in notebook["cells"]:
            if cell["id"] in changes:
                before = json.dumps(cell["outputs"])
                after = changes[cell["id"]](before)
                assert after != before, f"nothing to change in {cell['id']}"
                cell["outputs"] = json.loads(after)
        path.write_text(json.dumps(notebook))
        return nbval(book)

    yield run
    path.write_text(original)


def swap(old: str, new: str) -> Callable[[str], str]:
    return lambda text: re.sub(old, new, text, count=1)


def nudge(match: re.Match[str]) -> str:
    return f"{float(match[0]) + 0.04:.2f}"


def test_what_was_just_run_is_green(book: Path):
    outcome, report = nbval(book)
    assert len(outcome) == 7
    assert set(outcome.values()) == {"PASSED"}, report
    assert '2 0\\n' in (book / "scratch.ipynb").read_text()  # fmt: skip


def test_rounding_of_another_machine_is_green(damaged):
    outcome, report = damaged(
        floats=swap(r"3\.141593", "3.141687"),  # 3e-5 relative
        plot=lambda text: re.sub(r"(?<=L )\d+\.\d\d", nudge, text, count=1),
        trace=swap(r"0\.31623", "0.31624"),
        timed=swap(r"0\.\d+", "0.5"),
    )
    assert set(outcome.values()) == {"PASSED"}, report


def test_every_real_change_is_red_and_the_report_says_where(damaged):
    outcome, report = damaged(
        setup=swap("37", "38"),
        floats=swap(r"3\.141593", "3.173009"),  # 1 %
        source=swap("logaddexp", "logaddexp2"),
        plot=swap(r"(M \d+)\.\d+ (\d+\.?\d* L)", r"\g<1>.99 \g<2>"),
        trace=swap(r"0\.31623", "0.31939"),
        raises=swap("AttributeError", "TypeError"),
    )
    assert outcome.pop("timed") == "PASSED"
    assert set(outcome.values()) == {"FAILED"}, report
    assert "stdout: line 2: stored '38', now '37'" in report
    assert "stored '3.173009', now '3.141593'" in report
    assert "text/html: stored" in report
    assert max(map(len, report.splitlines())) < 5000


def test_emptied_outputs_are_red(damaged):
    outcome, report = damaged(
        **dict.fromkeys(("setup", "plot", "trace"), lambda _: "[]")
    )
    red = {name for name, result in outcome.items() if result == "FAILED"}
    assert red == {"setup", "plot", "trace"}, report


def test_an_item_is_wrapped_once():
    class IPyNbCell:
        cell = new_code_cell("1")
        options = {"skip": False}  # noqa: RUF012

        def compare_outputs(self, test, ref, skip_compare=None):
            raise NotImplementedError

    item = IPyNbCell()
    nbval_plugin.pytest_itemcollected(item)  # type: ignore[arg-type]
    wrapped = item.compare_outputs
    nbval_plugin.pytest_itemcollected(item)  # type: ignore[arg-type]
    assert item.compare_outputs is wrapped
    assert wrapped.func is nbval_plugin._compare


def test_tests_that_are_no_cells_are_left_alone(request):
    before = dict(vars(request.node))
    nbval_plugin.pytest_itemcollected(request.node)
    assert vars(request.node) == before
