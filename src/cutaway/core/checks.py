"""Argument checks: each returns the value or raises ``ArgumentError``."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection
from typing import Any

from cutaway.core.errors import ArgumentError


def check(condition: bool, name: str, got: object, expected: str) -> None:
    """Raise ``ArgumentError`` unless the condition holds."""
    if not condition:
        raise ArgumentError(name, got, expected)


def check_flag(name: str, value: object) -> None:
    """Raise unless the value is True or False."""
    check(isinstance(value, bool), name, repr(value), "True or False")


def check_int(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return ``value`` as an int in ``[low, high]``; bool is not an int.

    >>> check_int("max_tokens", 16, low=1)
    16
    """
    span = f"an integer >= {low}"
    if high is not None:
        span = f"an integer from {low} to {high}"
    if isinstance(value, bool):
        raise ArgumentError(name, value, span)
    try:
        number = operator.index(value)
    except TypeError:
        raise ArgumentError(name, repr(value), span) from None
    if number < low or (high is not None and number > high):
        raise ArgumentError(name, value, span)
    return number


def check_real(
    name: str,
    value: Any,
    low: float,
    high: float = math.inf,
    *,
    open_low: bool = False,
) -> float:
    """Return ``value`` as a finite float in ``[low, high]``.

    Args:
        name: The argument's name, for the message.
        value: The number to check.
        low: Least value allowed; excluded when ``open_low``.
        high: Greatest value allowed.
        open_low: Exclude ``low`` itself.
    """
    bracket = "(" if open_low else "["
    span = f"a number in {bracket}{low:g}, {high:g}]"
    if math.isinf(high):
        span = f"a number {'>' if open_low else '>='} {low:g}"
    if isinstance(value, (bool, str, bytes)):
        raise ArgumentError(name, repr(value), span)
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise ArgumentError(name, repr(value), span) from None
    below = number <= low if open_low else number < low
    if not math.isfinite(number) or below or number > high:
        raise ArgumentError(name, value, span)
    return number


def check_choice(name: str, value: Any, choices: Collection[str]) -> str:
    """Return ``value`` if it is one of ``choices``."""
    if value not in choices:
        listed = ", ".join(repr(choice) for choice in choices)
        raise ArgumentError(name, repr(value), f"one of {listed}")
    return value


def check_shape(name: str, array: Any, expected: tuple[int | str, ...]) -> None:
    """Check an array's shape; a string names a free dimension.

    >>> import numpy as np
    >>> check_shape("x", np.zeros((3, 4)), ("tokens", 4))
    """
    shape = tuple(array.shape)
    fits = len(shape) == len(expected) and all(
        isinstance(want, str) or have == want
        for have, want in zip(shape, expected, strict=True)
    )
    if not fits:
        wanted = ", ".join(str(want) for want in expected)
        raise ArgumentError(f"{name}.shape", shape, f"[{wanted}]")
