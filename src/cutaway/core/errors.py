"""Errors that say which value was wrong, what it was and what would do."""

from __future__ import annotations


class CutawayError(ValueError):
    """A value the package cannot use: its name, what came, what would do.

    Every error of the package is of this kind, so one ``except`` catches
    them all. A call that raises it has changed nothing.

    Attributes:
        name: The argument, field or file at fault.
        got: What was given, as text.
        expected: What would have been accepted, as text.

    >>> print(CutawayError("temperature", -1, "a number >= 0"))
    temperature: got -1, expected a number >= 0
    """

    def __init__(self, name: str, got: object, expected: str) -> None:
        self.name = name
        self.got = str(got)
        self.expected = expected
        super().__init__(name, got, expected)

    def __str__(self) -> str:
        return f"{self.name}: got {self.got}, expected {self.expected}"


class ArgumentError(CutawayError):
    """An argument of a public function is unusable."""
