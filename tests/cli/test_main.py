"""The command line as a whole: help, version, errors, speed."""

from __future__ import annotations

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

import cutaway
from cutaway.cli import COMMANDS

SCRIPT = Path(sysconfig.get_path("scripts")) / "cutaway"


@pytest.mark.parametrize(
    "command",
    [[sys.executable, "-m", "cutaway"], [str(SCRIPT)]],
    ids=["-m", "script"],
)
def test_module_and_script_are_the_same_command(command: list[str]) -> None:
    done = subprocess.run(
        [*command, "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"cutaway {cutaway.__version__}\n"


def test_help_takes_under_a_second_and_loads_nothing_heavy() -> None:
    code = (
        "import sys, time; sys.argv = ['cutaway', '--help']\n"
        "from cutaway.cli import main\n"
        "try: main()\n"
        "except SystemExit: pass\n"
        "heavy = {'torch', 'numba', 'triton', 'transformers', 'matplotlib'}\n"
        "print(heavy & set(sys.modules), time.process_time())"
    )
    times_s = []
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
        )
        loaded, time_s = done.stdout.splitlines()[-1].split()
        assert loaded == "set()"
        times_s.append(float(time_s))
    assert min(times_s) < 1


def test_help_lists_every_command_with_a_sentence(run) -> None:
    shown = run("--help")
    assert shown.code == 0
    for name, command in COMMANDS.items():
        assert name in shown.out
        assert command.__doc__.splitlines()[0] in shown.out


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_shows_defaults_and_an_example(
    run, name: str
) -> None:
    shown = run(name, "-h")
    assert shown.code == 0
    assert f"cutaway {name}" in shown.out
    assert "Examples" in shown.out
    if name in ("generate", "chat"):
        assert "default: 0.0" in shown.out
        assert "default: (all)" in shown.out
        assert "smollm2-135m-instruct" in shown.out


def test_without_a_command_it_shows_help_and_fails(run) -> None:
    shown = run()
    assert shown.code == 2
    assert "generate" in shown.out + shown.err


@pytest.mark.parametrize(
    ("args", "hint"),
    [
        (["generat", "x"], "generate"),
        (["generate", "x", "--temprature", "1"], "--temperature"),
        (["generate", "x", "--max-tokens", "many"], "--max-tokens"),
        (["generate"], "prompt"),
    ],
)
def test_wrong_usage_exits_2_with_a_hint_and_no_traceback(
    run, args, hint
) -> None:
    ended = run(*args)
    assert ended.code == 2
    assert hint in ended.err.lower()
    assert "Traceback" not in ended.err
    assert ended.out == ""


def test_the_default_model_is_the_one_of_the_package() -> None:
    from cutaway import llm
    from cutaway.cli import options
    from cutaway.weights import MODELS

    assert options.DEFAULT_MODEL == llm.DEFAULT_MODEL == next(iter(MODELS))
