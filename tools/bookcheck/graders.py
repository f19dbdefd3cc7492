"""Proof that a grader tells right answers from wrong ones."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from cutaway.book.exercise import Exercise
from cutaway.book.grade import verdict

Answer = Callable[..., Any]


def prove_grader(exercise: Exercise) -> list[str]:
    """List what is wrong with a grader; empty when it does its work.

    The reference must pass. Every known mistake must fail and be named.
    So must answers that are broken in ways that have nothing to do with
    the subject, one that is right on the fixed inputs alone among them.

    Args:
        exercise: The exercise whose grader is put to the test.
    """
    problems: list[str] = []
    said = verdict(exercise, exercise.reference)
    if said.status != "correct":
        problems.append(f"the reference is rejected: {said.message}")
    if len(exercise.mistakes) < 5:
        problems.append(f"{len(exercise.mistakes)} mistakes, expected >= 5")
    if not 2 <= len(exercise.hints) <= 4:
        problems.append(f"{len(exercise.hints)} hints, expected 2 to 4")
    problems += [
        f"{nothing!r} is not taken as unanswered"
        for nothing in (..., None, NotImplemented, lambda *_: ...)
        if verdict(exercise, nothing).status != "unanswered"
    ]
    planted = [(m.says, m.answer, m.says) for m in exercise.mistakes]
    takes_data = any("[" in seen[1:-1] for seen in _inputs(exercise))
    broken = _broken(exercise.reference, takes_data)
    for name, answer, says in (*planted, *broken):
        first, second = verdict(exercise, answer), verdict(exercise, answer)
        text = " ".join(first.message.split())
        if first.status != "wrong":
            problems.append(f"a wrong answer is {first.status}: {name}")
        elif says not in text:
            problems.append(f"{name!r} is rejected without {says!r}: {text}")
        elif first != second:
            problems.append(f"{name!r} is told two different things")
    problems += _fixed_and_fresh(exercise)
    return [f"{exercise.id}: {problem}" for problem in problems]


def _broken(
    reference: Answer, takes_data: bool
) -> Iterator[tuple[str, Any, str]]:
    """Yield answers that are wrong for any exercise, and what is said."""

    def raises(*_: Any) -> Any:
        raise LookupError("planted")

    def mutates(*args: Any) -> Any:
        result = reference(*args)
        for argument in args:
            if isinstance(argument, np.ndarray):
                argument[...] = 7
            if isinstance(argument, list):
                argument.append(7)
        return result

    yield "is no function", 7, "expected the function"
    yield "returns None", lambda *_: None, "is a return missing"
    yield "raises", raises, "it raised LookupError: planted"
    yield "returns text", lambda *a: str(reference(*a)), "expected"
    yield "is slightly off", lambda *a: _spoil(reference(*a)), "expected"
    if takes_data:
        yield "changes its input", mutates, "it changed its argument"


def _spoil(result: Any) -> Any:
    """Return a result that is wrong by little, of the same type."""
    if isinstance(result, np.ndarray):
        if result.dtype.kind == "f":
            return result * np.asarray(1.01, result.dtype)
        return ~result if result.dtype.kind == "b" else result + 1
    if isinstance(result, (list, tuple)):
        return type(result)([*result[:-1], result[-1] + 1])
    return result + 1 if isinstance(result, int) else result * 1.01


def _inputs(exercise: Exercise) -> list[str]:
    """Return the inputs that the grader tries, as text."""
    seen: list[str] = []

    def recorder(*args: Any) -> Any:
        seen.append(_text(args))
        return exercise.reference(*args)

    verdict(exercise, recorder)
    return seen


def _text(args: Sequence[Any]) -> str:
    return repr([a for a in args if not callable(a)])


def _fixed_and_fresh(exercise: Exercise) -> Iterator[str]:
    """Complain unless the first half of the inputs is always the same, the
    second half is always another, and both are judged."""
    one, other = _inputs(exercise), _inputs(exercise)
    half = len(one) // 2
    fixed = set(one[:half])

    def right_on_fixed(*args: Any) -> Any:
        known = _text(args) in fixed
        result = exercise.reference(*args)
        return result if known else _spoil(result)

    if verdict(exercise, right_on_fixed).status != "wrong":
        yield "an answer that is right on the fixed inputs alone passes"
    if one[:half] != other[:half]:
        yield "the fixed inputs differ between two runs"
    if one[half:] == other[half:]:
        yield "the fresh inputs are the same in two runs"
