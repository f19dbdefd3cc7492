"""The exercises of the book, one module a section.

A module is named after its section, ``flow/end_to_end`` being
``flow_end_to_end``, and states its ``SECTION`` and its ``EXERCISES``. It is
imported when the section is asked for.
"""

from __future__ import annotations

import pkgutil
from importlib import import_module

from cutaway.book.exercise import Exercise
from cutaway.core.errors import ArgumentError

__all__ = ["find", "section_exercises", "sections"]


def sections() -> tuple[str, ...]:
    """Return the sections that have exercises, by name.

    >>> "flow/end_to_end" in sections()
    True
    """
    names = (module.name for module in pkgutil.iter_modules(__path__))
    return tuple(sorted(_load(name).SECTION for name in names))


def section_exercises(section: str) -> tuple[Exercise, ...]:
    """Return the exercises of a section, in order.

    Raises:
        ArgumentError: No such section, or it has no exercises.
    """
    known = sections()
    if section not in known:
        raise ArgumentError("section", repr(section), _one_of(known))
    return _load(section.replace("/", "_")).EXERCISES


def find(exercise_id: str) -> Exercise:
    """Return an exercise by its id.

    Raises:
        ArgumentError: No such section or number; the known ones are named.

    >>> find("flow/end_to_end:1").function
    'next_token_probs'
    """
    section = str(exercise_id).partition(":")[0]
    exercises = section_exercises(section)
    for exercise in exercises:
        if exercise.id == exercise_id:
            return exercise
    known = tuple(exercise.id for exercise in exercises)
    raise ArgumentError("exercise_id", repr(exercise_id), _one_of(known))


def _load(name: str):
    return import_module(f"{__name__}.{name}")


def _one_of(names: tuple[str, ...]) -> str:
    return f"one of {', '.join(names)}"
