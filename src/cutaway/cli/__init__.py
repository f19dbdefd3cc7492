"""The command line: ``cutaway``, or ``python -m cutaway``.

A command is a module with a function ``run``, whose annotations are its
options and whose docstring is its help. To add one, add a line to
``COMMANDS``. Heavy imports stay inside the functions, so that help is
instant.
"""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from cutaway import __version__
from cutaway.cli import chat, doctor, generate, grade, roofline, size
from cutaway.core.errors import CutawayError

__all__ = ["COMMANDS", "app"]

COMMANDS = {
    "doctor": doctor.run,
    "generate": generate.run,
    "chat": chat.run,
    "size": size.run,
    "roofline": roofline.run,
    "grade": grade.run,
}
BAD_INPUT = 2

app = typer.Typer(
    name="cutaway",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for name, command in COMMANDS.items():
    app.command(name)(command)


def _print_version(wanted: bool) -> None:
    """Print the version and leave, if that is what was asked for."""
    if wanted:
        print(f"cutaway {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_print_version,
            is_eager=True,
            help="Print the version and exit.",
        ),
    ] = False,
) -> None:
    """LLM inference, executed: a real model on your own machine."""


def main() -> int:
    """Run the command line on ``sys.argv``.

    Returns:
        2 after input that the package refused, with one line on standard
        error. All other ends leave by ``SystemExit``, as typer does: 0 when
        done, 2 for a wrong option, 130 after Ctrl-C.
    """
    _never_fail_on_a_character()
    try:
        app(prog_name="cutaway")
    except CutawayError as error:
        print(f"cutaway: {error}", file=sys.stderr)
        return BAD_INPUT
    return 0


def _never_fail_on_a_character() -> None:
    """Let a terminal that lacks a character show a mark instead."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
