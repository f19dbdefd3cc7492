"""Run one of the project's tasks: the Makefile and Windows readers call this.

Usage: python tools/do.py TASK [ARGUMENT ...]

Needs Python 3.11 or newer and nothing else: every task first makes sure
that ``.venv`` holds the locked dependencies, which takes seconds when it
already does. ``python tools/do.py --help`` lists the tasks.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from nbtools.environment import PINNED

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
BIN = VENV / ("Scripts" if os.name == "nt" else "bin")
PYTHON = BIN / ("python.exe" if os.name == "nt" else "python")
SITE = ROOT / "_build" / "html"
OLDEST = (3, 11)
Step = tuple[str, Sequence[str | Path]]


def run(command: Sequence[str | Path], **variables: str) -> int:
    """Run a command from the repository's root; return its exit status.

    Args:
        command: Program and arguments.
        **variables: Environment variables beside the pinned ones.
    """
    environment = {**os.environ, **PINNED, "PYTHONUTF8": "1", **variables}
    # Tools such as pyright look for the environment that is activated.
    environment["PATH"] = f"{BIN}{os.pathsep}{environment.get('PATH', '')}"
    environment["VIRTUAL_ENV"] = str(VENV)
    return subprocess.run(
        [str(part) for part in command], cwd=ROOT, env=environment, check=False
    ).returncode


def must(command: Sequence[str | Path]) -> None:
    """Run a command and stop the task if it fails."""
    status = run(command)
    if status:
        shown = " ".join(str(part) for part in command)
        sys.exit(f"failed with exit status {status}: {shown}")


def torch_requirement() -> str:
    """Return the pin of torch that pyproject.toml states."""
    text = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    found = re.search(r'"(torch==[^"]+)"', text)
    if found is None:
        sys.exit("pyproject.toml: got no torch pin, expected 'torch==...'")
    return found[1]


def fingerprint() -> str:
    """Hash everything that decides what ``.venv`` must hold."""
    digest = hashlib.sha256(repr(sys.version_info[:2]).encode())
    for name in ("requirements.lock", "pyproject.toml"):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def install(_: argparse.Namespace) -> int:
    """Make .venv hold the locked dependencies (seconds if it does)."""
    stamp = VENV / "cutaway.stamp"
    wanted = fingerprint()
    if stamp.exists() and PYTHON.exists() and stamp.read_text() == wanted:
        return 0
    started = time.perf_counter()
    if not PYTHON.exists():
        print(f"making {VENV.name} with Python {sys.version.split()[0]}")
        must([sys.executable, "-m", "venv", VENV])
    stamp.unlink(missing_ok=True)
    pip = [PYTHON, "-m", "pip", "install", "--quiet"]
    pip += ["--disable-pip-version-check"]
    print("installing the locked dependencies (1-3 minutes the first time)")
    lock = ["--require-hashes", "--no-deps", "-r", "requirements.lock"]
    must([*pip, *lock])
    index = os.environ.get("TORCH_INDEX")
    source = ["--index-url", index] if index else []
    must([*pip, *source, torch_requirement()])
    must([*pip, "--no-deps", "--no-build-isolation", "-e", "."])
    stamp.write_text(wanted)
    print(f"installed in {time.perf_counter() - started:.0f} s")
    return 0


def book(_: argparse.Namespace) -> int:
    """Build the site into _build/html and print its path."""
    must([PYTHON, "-m", "cutaway.weights.fetch"])
    return run([PYTHON, "tools/build_site.py", "build"])


def fast_steps() -> list[Step]:
    """Checks that need no built site: lint, types, hygiene, unit tests."""
    pytest = [PYTHON, "-m", "pytest", "-q"]
    return [
        ("lint", [PYTHON, "-m", "ruff", "check", "."]),
        ("format", [PYTHON, "-m", "ruff", "format", "--check", "."]),
        ("types", [PYTHON, "-m", "pyright"]),
        ("imports", [BIN / "lint-imports"]),
        ("workbook", [PYTHON, "tools/workbook.py", "check"]),
        ("doctests", [*pytest, "--doctest-modules", "src", "tools"]),
        ("tests", [*pytest, "tests", "-m", "not browser and not tamper"]),
    ]


def nbval_command(*paths: str) -> list[str | Path]:
    """The command that executes notebooks and compares every output."""
    command: list[str | Path] = [PYTHON, "-m", "pytest", "-q", "--nbval"]
    command += ["--nbval-current-env", "--nbval-cell-timeout=60", *paths]
    return command


def slow_steps() -> list[Step]:
    """Checks that run the chapters, build the site and open it."""
    pytest = [PYTHON, "-m", "pytest", "-q", "tests", "-m"]
    return [
        ("chapters", nbval_command("book")),
        ("site", [PYTHON, "tools/build_site.py", "build"]),
        ("browser", [*pytest, "browser and not tamper"]),
        ("tamper", [*pytest, "tamper"]),
    ]


def run_steps(steps: list[Step]) -> int:
    """Run every step, also after a failure; print a summary with times."""
    results: list[tuple[str, int, float]] = []
    for name, command in steps:
        print(f"\n=== {name}", flush=True)
        started = time.perf_counter()
        status = run(command)
        results.append((name, status, time.perf_counter() - started))
    print("\n=== summary")
    for name, status, seconds in results:
        verdict = "passed" if status == 0 else f"FAILED ({status})"
        print(f"{name:10} {verdict:12} {seconds:6.1f} s")
    total = sum(seconds for _, _, seconds in results)
    failed = sum(status != 0 for _, status, _ in results)
    print(f"{len(results) - failed} of {len(results)} steps, {total:.0f} s")
    return 1 if failed else 0


def test(_: argparse.Namespace) -> int:
    """Run everything that continuous integration runs."""
    must([PYTHON, "-m", "cutaway.weights.fetch"])
    return run_steps(fast_steps() + slow_steps())


def check(_: argparse.Namespace) -> int:
    """Run the fast checks: lint, types, hygiene, unit tests."""
    must([PYTHON, "-m", "cutaway.weights.fetch"])
    return run_steps(fast_steps())


def chapter(arguments: argparse.Namespace) -> int:
    """Execute one section, rewrite its outputs and compare them again."""
    if len(arguments.rest) != 1:
        sys.exit("chapter: got no section, expected one, e.g. flow/end_to_end")
    notebook = Path("book", arguments.rest[0]).with_suffix(".ipynb")
    if not (ROOT / notebook).exists():
        sys.exit(f"chapter: got {notebook}, expected an existing notebook")
    must([PYTHON, "tools/nb.py", "run", notebook])
    return run(nbval_command(str(notebook)))


def tamper(_: argparse.Namespace) -> int:
    """Plant faults and require that each one turns a check red."""
    command = [PYTHON, "-m", "pytest", "-v", "tests", "-m", "tamper"]
    return run(command)


def lab(arguments: argparse.Namespace) -> int:
    """Open the notebooks in JupyterLab."""
    must([PYTHON, "-m", "cutaway.weights.fetch"])
    command = [PYTHON, "-m", "jupyterlab", "--notebook-dir", ROOT]
    return run([*command, *arguments.rest], CUTAWAY_PROGRESS="on")


def clean(_: argparse.Namespace) -> int:
    """Remove what the tasks built (not .venv, not the fetched weights)."""
    for name in ("_build", ".pytest_cache", ".ruff_cache", ".hypothesis"):
        shutil.rmtree(ROOT / name, ignore_errors=True)
    return 0


TASKS: dict[str, Callable[[argparse.Namespace], int]] = {
    "install": install,
    "book": book,
    "test": test,
    "check": check,
    "chapter": chapter,
    "lab": lab,
    "tamper": tamper,
    "clean": clean,
}


def main() -> int:
    """Parse the task's name and run it in the repository's root."""
    if sys.version_info < OLDEST:
        version = sys.version.split()[0]
        sys.exit(f"Python: got {version}, expected 3.11 or newer")
    listed = "\n".join(
        f"  {name:9} {(task.__doc__ or '').strip()}"
        for name, task in TASKS.items()
    )
    parser = argparse.ArgumentParser(
        description="Run one of the project's tasks.",
        epilog=f"tasks:\n{listed}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("task", choices=TASKS, metavar="TASK")
    parser.add_argument("rest", nargs="*", metavar="ARGUMENT")
    arguments, options = parser.parse_known_args()
    if options and arguments.task != "lab":
        parser.error(f"{arguments.task}: got {options}, expected no options")
    arguments.rest += options  # such as --no-browser, for JupyterLab
    if arguments.task not in ("install", "clean"):
        install(arguments)
    return TASKS[arguments.task](arguments)


if __name__ == "__main__":
    sys.exit(main())
