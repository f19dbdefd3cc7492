"""What an exercise is: data that the graders and the workbook share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cutaway.book.judge import Judge


@dataclass(frozen=True)
class Mistake:
    """A plausible wrong answer, and what a learner who gives it is told.

    It serves twice: an answer that agrees with it is told ``says``, and the
    grader is proven by rejecting it.

    Attributes:
        answer: A function with the signature of the reference.
        says: One line that names the mistake.
    """

    answer: Callable[..., Any]
    says: str


@dataclass(frozen=True, kw_only=True)
class Exercise:
    """One exercise of a section; its statement stands in the chapter.

    Attributes:
        id: Section and number, such as ``flow/end_to_end:1``.
        title: What is asked for, in a few words.
        reference: A right answer; its name and signature are the learner's.
        grade: Judges an answer through a ``Judge``; raises when it is wrong.
        hints: From a nudge to nearly the answer.
        reread: The heading in the section that explains the subject.
        mistakes: Known wrong answers, the most specific first.
    """

    id: str
    title: str
    reference: Callable[..., Any]
    grade: Callable[[Judge], None]
    hints: tuple[str, ...]
    reread: str
    mistakes: tuple[Mistake, ...]

    @property
    def section(self) -> str:
        """The section's path in the book, such as ``flow/end_to_end``."""
        return self.id.partition(":")[0]

    @property
    def function(self) -> str:
        """The name of the function that the learner writes."""
        return self.reference.__name__

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the function's parameters."""
        return tuple(inspect.signature(self.reference).parameters)
