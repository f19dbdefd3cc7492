"""What the graders of this section share: comparing lists of integers."""

from __future__ import annotations

import numbers
from typing import Any

from cutaway.book.judge import Judge


def same_list(
    judge: Judge, got: Any, expected: list[int], *args: Any, what: str = "id"
) -> None:
    """Check a list of integers and name the first that differs."""
    fits = isinstance(got, list) and all(
        isinstance(item, numbers.Integral) and not isinstance(item, bool)
        for item in got
    )
    if not fits:
        finding = f"got {str(got)[:50]}, expected a list of {what}s"
        raise judge.wrong(finding, args)
    if got == expected:
        return
    finding = f"got {len(got)} {what}s, expected {len(expected)}"
    for place, (mine, right) in enumerate(zip(got, expected, strict=False)):
        if mine != right:
            finding = f"index [{place}]: got {what} {mine}, expected {right}"
            break
    raise judge.wrong(finding, args, got)
