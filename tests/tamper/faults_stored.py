"""Faults that only a run shows: stored outputs, or source behind them."""

from __future__ import annotations

import re

from nbformat import NotebookNode

from tamper.copies import Plant, in_cell, in_output, in_source
from tamper.fault import Fault

# Of a bar: its first coordinate, and the red of its colour.
COORDINATE = r'd="M ([\d.]+)(?=[^"]*" clip-path)'
RED = r'(clip-path="[^"]*" style="fill: #)(\w\w)'


def _other_message(cell: NotebookNode) -> None:
    [error] = cell.outputs
    error.evalue = error.evalue.replace("> 0", ">= 0")
    error.traceback = [f"{error.ename}: {error.evalue}"]


def _moved(coordinate: re.Match[str]) -> str:
    return f'd="M {float(coordinate[1]) + 0.2:.2f}'


def _redder(colour: re.Match[str]) -> str:
    return f"{colour[1]}{(int(colour[2], 16) + 8) % 256:02x}"


def seen_by_nbval(name: str, plant: Plant, cell: str, says: str) -> Fault:
    """Return a fault that nbval, and nothing else, must see in a cell."""
    return Fault(name, plant, ("nbval",), says, cell)


STORED = (
    seen_by_nbval(
        "a stored float off by 1 %",
        in_output("probs", "0.6668", "0.6735"),
        "probs",
        r"stdout: line 1: stored '0\.6735', now '0\.6668'",
    ),
    seen_by_nbval(
        "a stored integer off by one",
        in_output("other-model", "80", "81"),
        "other-model",
        r"stdout: line 1: stored '81', now '80'",
    ),
    seen_by_nbval(
        "a stored long integer off by one",
        in_output("sizes", "134,515,008", "134,515,009"),
        "sizes",
        r"stdout: line 2: stored '134,515,009', now '134,515,008'",
    ),
    seen_by_nbval(
        "a stored word changed",
        in_output("words", "token is a", "token is b"),
        "words",
        r"stdout: line 1: stored 'b', now 'a'",
    ),
    seen_by_nbval(
        "a stored sign changed",
        in_output("entropy", "0.887015", "-0.887015"),
        "entropy",
        r"stdout: line 1: stored '-0\.887015', now '0\.887015'",
    ),
    seen_by_nbval(
        "a stored plot coordinate moved by 0.2 px",
        in_output("plot", COORDINATE, _moved),
        "plot",
        r'text/html: stored <path d="M .*, now <path d="M ',
    ),
    seen_by_nbval(
        "a stored plot colour changed",
        in_output("plot", RED, _redder),
        "plot",
        r"text/html: stored <path .*, now <path ",
    ),
    seen_by_nbval(
        "a stored axis label changed",
        in_output("plot", ">thousand pairs<", ">million pairs<"),
        "plot",
        r"text/html: .*stored 'million', now 'thousand'",
    ),
    seen_by_nbval(
        "a stored trace number off by 1 %",
        in_output("steps", r'"p":0\.66678', '"p":0.67345'),
        "steps",
        r"text/html: .*stored '0\.67345', now '0\.66678'",
    ),
    seen_by_nbval(
        "a stored alt text changed",
        in_output("steps", "three lengths", "four lengths"),
        "steps",
        r"text/html: .*stored 'four', now 'three'",
    ),
    seen_by_nbval(
        "shown source retyped in the output",
        in_output("shown", "kv_layout</span>", "kv_total</span>"),
        "shown",
        r"shown source: stored '.*kv_total.*, now '.*kv_layout",
    ),
    seen_by_nbval(
        "the message of an expected error changed",
        in_cell("refused", _other_message),
        "refused",
        r"evalue: line 1: stored '=', now '0'",
    ),
    seen_by_nbval(
        "a verdict of a grader changed",
        in_output("exercise-answer", "not answered yet", "correct"),
        "exercise-answer",
        r"stdout: line 1: stored 'correct', now 'not'",
    ),
    seen_by_nbval(
        "an output removed, its count left",
        in_cell("words", lambda cell: cell.outputs.clear()),
        "words",
        r"stdout: stored 0 outputs, now 1",
    ),
    seen_by_nbval(
        "an output stored twice",
        in_cell("exercise-hint", lambda c: c.outputs.append(c.outputs[0])),
        "exercise-hint",
        r"text/html: stored 2 outputs, now 1",
    ),
)

SOURCE = (
    seen_by_nbval(
        "plotted data changed in the source only",
        in_source("plot", "lengths**2 / 1000", "lengths**2 / 500"),
        "plot",
        r"text/html: stored 5, now 10",
    ),
    seen_by_nbval(
        "one small bar changed by 1 % in the source only",
        in_source("plot", "/ 1000\n", "/ 1000\npairs[0] *= 1.01\n"),
        "plot",
        r"AssertionError",
    ),
    seen_by_nbval(
        "a printed value changed in the source only",
        in_source("probs", ":.4f", ":.2f"),
        "probs",
        r"stdout: line 1: stored '0\.6668', now '0\.67'",
    ),
    seen_by_nbval(
        "a solution that its grader rejects",
        in_source("exercise-solution", "(q_len + 1)", "(q_len - 1)"),
        "exercise-solution",
        r"stdout: line 1: stored 'correct', now 'not'",
    ),
    seen_by_nbval(
        "a cell that fails",
        in_source("words", "np.argmax", "np.argmaximum"),
        "words",
        r"has no attribute 'argmaximum'",
    ),
)
