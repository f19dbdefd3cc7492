"""``cutaway doctor``: what this machine has, and what works here."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping, Sequence
from typing import Annotated

import typer

from cutaway import __version__
from cutaway.cli.machine import REQUIRED, Finding, look_around
from cutaway.cli.options import DEFAULT_MODEL

# What each kind of work needs, by the names of the findings.
NEEDS: Mapping[str, tuple[str, ...]] = {
    "generate and chat": ("python", *REQUIRED, "torch", "weights"),
    "build the book": ("jupyter-book", "torch", "weights"),
    "read and run chapters": ("jupyterlab", "torch", "weights"),
    "compile Triton kernels": ("triton", "torch"),
    "test the site": ("playwright", "browser"),
}
MARKS = {"ok": "ok", "missing": "MISSING", "absent": "-", "info": ""}
COLOURS = {"ok": "green", "missing": "red", "absent": "yellow", "info": None}


def run(
    fetch: Annotated[
        bool,
        typer.Option("--fetch", help="Download the weights if need be."),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print one JSON object.")
    ] = False,
) -> None:
    """Say what this machine has, what is missing, and what works here.

    Exits with 1, and says what to do, if something required is missing.

    Examples:

    cutaway doctor --fetch

    cutaway doctor --json
    """
    if fetch:
        from cutaway import weights

        weights.fetch(DEFAULT_MODEL, progress=True)
    findings = look_around(DEFAULT_MODEL)
    missing = [found for found in findings if found.status == "missing"]
    if as_json:
        print(json.dumps(_as_data(findings, ok=not missing), indent=2))
    else:
        _print(findings, ok=not missing)
    if missing:
        raise typer.Exit(1)


def lacking(work: str, findings: Sequence[Finding]) -> list[str]:
    """Return what a kind of work needs and the machine lacks."""
    there = {found.name for found in findings if found.status == "ok"}
    return [name for name in NEEDS[work] if name not in there]


def _as_data(findings: Sequence[Finding], *, ok: bool) -> dict[str, object]:
    """Put everything into plain data."""
    return {
        "version": __version__,
        "ok": ok,
        "findings": [dataclasses.asdict(found) for found in findings],
        "works": {work: not lacking(work, findings) for work in NEEDS},
    }


def _print(findings: Sequence[Finding], *, ok: bool) -> None:
    """Print a line for each finding and each kind of work."""
    width = max(map(len, [*NEEDS, *(found.name for found in findings)]))
    typer.secho(f"cutaway {__version__}", bold=True)
    for found in findings:
        mark = f"{MARKS[found.status]:8}"
        mark = typer.style(mark, fg=COLOURS[found.status])
        typer.echo(f"  {found.name:{width}}  {mark}{found.value}")
        if found.fix:
            typer.echo(f"  {'':{width}}  {'':8}-> {found.fix}")
    typer.secho("\nWhat works here", bold=True)
    for work in NEEDS:
        needs = lacking(work, findings)
        mark = typer.style(
            f"{'no' if needs else 'yes':8}", fg="yellow" if needs else "green"
        )
        why = f"needs {', '.join(needs)}" if needs else ""
        typer.echo(f"  {work:{width}}  {mark}{why}".rstrip())
    if not ok:
        typer.secho("\nSomething required is missing.", fg="red", err=True)
