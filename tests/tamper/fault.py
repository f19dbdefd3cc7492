"""What a planted fault is: data that the tables and the tests share."""

from __future__ import annotations

from dataclasses import dataclass

from tamper.copies import Plant


@dataclass(frozen=True)
class Fault:
    """One fault of a book.

    Attributes:
        name: What was done to the book.
        plant: Does it, to the copy in a folder.
        red: The checks that turn red because of it, and no others.
        says: A pattern that the findings of the first of them match.
        cell: The cell that nbval calls wrong, if it is to see the fault.
        runs: Whether nbval runs, and passes, though the fault is there:
            what shows that the other check is needed.
    """

    name: str
    plant: Plant
    red: tuple[str, ...]
    says: str
    cell: str = ""
    runs: bool = False
