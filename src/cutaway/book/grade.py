"""Exercises that grade themselves: ``check``, ``hint`` and ``status``.

What is printed depends on the answer alone, never on what was solved
before. A wrong answer prints what is wrong and does not raise, so that a
notebook with open exercises still runs from top to bottom.
"""

from __future__ import annotations

import html
import re
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from cutaway.book import progress
from cutaway.book.exercise import Exercise
from cutaway.book.exercises import find, section_exercises, sections
from cutaway.book.judge import Judge, NotAnsweredError, WrongAnswerError
from cutaway.book.output import show_html
from cutaway.core.checks import check_int

SEED = 20240229
WIDTH = 78


@dataclass(frozen=True)
class Verdict:
    """What a grader says about an answer.

    Attributes:
        status: Right, wrong, or still the stub.
        message: What the learner reads.
    """

    status: Literal["correct", "wrong", "unanswered"]
    message: str


def check(exercise_id: str, answer: Any, *, record: bool = True) -> None:
    """Grade an answer and print the verdict.

    The reference is computed at check time, on inputs that are the same
    for everybody and on inputs drawn afresh.

    Args:
        exercise_id: Such as ``flow/end_to_end:1``.
        answer: The function that the exercise asks for; ``...`` and None
            count as not answered yet, and so does a function that returns
            ``...``.
        record: Count the try and, if right, the exercise as solved. The
            solutions of the chapters are checked without.

    Raises:
        ArgumentError: No such exercise.

    >>> check("flow/end_to_end:1", ...)
    flow/end_to_end:1  not answered yet
    """
    result = verdict(find(exercise_id), answer)
    print(result.message)
    path = progress.progress_file() if record else None
    if path is not None and result.status != "unanswered":
        solved = result.status == "correct"
        notice = progress.record(path, exercise_id, solved)
        if notice:
            print(notice)


def verdict(exercise: Exercise, answer: Any) -> Verdict:
    """Grade an answer without printing or recording anything.

    Args:
        exercise: The exercise.
        answer: As in ``check``.
    """
    if answer is ... or answer is None or answer is NotImplemented:
        return _unanswered(exercise)
    try:
        if not callable(answer):
            kind = type(answer).__name__
            finding = (
                f"got type {kind}, expected the function {exercise.function}"
            )
            raise WrongAnswerError(finding)
        fixed = _run(exercise, answer, np.random.default_rng(SEED))
        fresh = _run(exercise, answer, np.random.default_rng())
    except NotAnsweredError:
        return _unanswered(exercise)
    except WrongAnswerError as error:
        return Verdict("wrong", _wrong_message(exercise, error))
    return Verdict(
        "correct",
        f"{exercise.id}  correct on {fixed + fresh} inputs, "
        f"{fresh} of them drawn afresh",
    )


def hint(exercise_id: str, *, stage: int | None = None) -> None:
    """Show the hints of an exercise, folded, or print one of them.

    Args:
        exercise_id: Such as ``flow/end_to_end:1``.
        stage: Which hint to print, from 1, the gentlest; None shows them
            all as boxes that the reader unfolds one by one.

    Raises:
        ArgumentError: No such exercise or stage.

    >>> hint("flow/end_to_end:2", stage=1)  # doctest: +ELLIPSIS
    Hint 1 of 3: Start with `cache = []` and give that same list ...
    """
    hints = find(exercise_id).hints
    count = len(hints)
    if stage is not None:
        check_int("stage", stage, low=1, high=count)
        print(f"Hint {stage} of {count}: {hints[stage - 1]}")
        return
    boxes = "".join(
        f"<details><summary>Hint {number} of {count}</summary>"
        f"<p>{_inline_html(text)}</p></details>"
        for number, text in enumerate(hints, start=1)
    )
    how = f'grade.hint("{exercise_id}", stage=1) prints hint 1 of {count}'
    show_html(f'<div class="cutaway-hints">{boxes}</div>', how)


def status(section: str | None = None) -> None:
    """Print what has been solved in a section, or in all of them.

    Raises:
        ArgumentError: No such section.
    """
    print(report(section))


def report(section: str | None = None) -> str:
    """Return the text that ``status`` prints."""
    chosen = sections() if section is None else (section,)
    path = progress.progress_file()
    notice, known = "", {}
    if path is None:
        notice = "Progress is not recorded here (CUTAWAY_PROGRESS or CI)."
    else:
        try:
            known = progress.load(path)
        except progress.ProgressError as error:
            notice = str(error)
    lines = [notice] if notice else []
    for name in chosen:
        exercises = section_exercises(name)
        entries = [
            known.get(exercise.id, progress.Entry(0, False))
            for exercise in exercises
        ]
        solved = sum(entry.solved for entry in entries)
        lines.append(f"{name}  {solved} of {len(exercises)} solved")
        for exercise, entry in zip(exercises, entries, strict=True):
            mark = "solved" if entry.solved else "open"
            number = exercise.id.rpartition(":")[2]
            tries = f"{entry.tries} {'try' if entry.tries == 1 else 'tries'}"
            lines.append(f"  {number}  {mark:6}  {tries:8}  {exercise.title}")
    return "\n".join(lines)


def _run(
    exercise: Exercise, answer: Callable[..., Any], rng: np.random.Generator
) -> int:
    """Run the grader once; return how many inputs it tried."""
    judge = Judge(exercise, answer, rng)
    exercise.grade(judge)
    return judge.num_inputs


def _unanswered(exercise: Exercise) -> Verdict:
    return Verdict("unanswered", f"{exercise.id}  not answered yet")


def _wrong_message(exercise: Exercise, error: WrongAnswerError) -> str:
    reread = f'"{exercise.reread}" in {exercise.section}'
    rows = (
        ("found", error.finding),
        ("input", error.given),
        ("likely", error.likely),
        ("reread", reread),
    )
    lines = [f"{exercise.id}  not right yet: {exercise.function}"]
    lines += [_row(name, text) for name, text in rows if text]
    return "\n".join(lines)


def _row(name: str, text: str) -> str:
    """Return one labelled line, folded under its text where it is long."""
    return textwrap.fill(
        f"{name:6}  {text}",
        WIDTH,
        initial_indent="  ",
        subsequent_indent=" " * 10,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _inline_html(text: str) -> str:
    """Escape a text and turn backquoted words into code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", html.escape(text, False))
