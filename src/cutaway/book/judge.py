"""How a grader calls an answer and compares what comes back."""

from __future__ import annotations

import copy
import math
import numbers
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from cutaway.book.exercise import Exercise

RTOL = {"float32": 1e-4, "float64": 1e-9}
ATOL_OF_SUMS = {"float32": 1e-5, "float64": 1e-12}


class NotAnsweredError(Exception):
    """The answer is still the stub of the chapter."""


class WrongAnswerError(Exception):
    """What is wrong with an answer, and for which input.

    Attributes:
        finding: What came and what was expected.
        given: The input, described in one line; may be empty.
        likely: The mistake that explains it; empty when none is known.
    """

    def __init__(self, finding: str, given: str = "", likely: str = "") -> None:
        self.finding = finding
        self.given = given
        self.likely = likely
        super().__init__(finding, given, likely)


class Judge:
    """Puts one answer to the test and raises at the first thing wrong.

    Attributes:
        rng: Source of the random inputs, seeded or fresh.
        num_inputs: How often the answer has been called so far.
    """

    def __init__(
        self,
        exercise: Exercise,
        answer: Callable[..., Any],
        rng: np.random.Generator,
    ) -> None:
        self.exercise = exercise
        self.answer = answer
        self.rng = rng
        self.num_inputs = 0

    def call(self, *args: Any) -> Any:
        """Return the answer's result, or complain about how it got there.

        An answer must not raise, must return something, and must leave its
        arrays and lists as they were.
        """
        self.num_inputs += 1
        before = _snapshot(args)
        try:
            got = _quietly(self.answer, args)
        except NotImplementedError:
            raise NotAnsweredError from None
        except (Exception, SystemExit) as error:
            finding = f"it raised {type(error).__name__}: {error}"
            raise self.wrong(finding, before) from None
        if got is ... or got is NotImplemented:
            raise NotAnsweredError
        for name, old, new in zip(
            self.exercise.parameters, before, args, strict=True
        ):
            if not _unchanged(old, new):
                finding = f"it changed its argument {name}; work on a copy"
                raise self.wrong(finding, before)
        if got is None:
            finding = "it returned None; is a return missing?"
            raise self.wrong(finding, before)
        return got

    def same_array(
        self, got: Any, expected: np.ndarray, *args: Any, sums: bool = False
    ) -> None:
        """Check an array: kind, shape, dtype, no NaN, then every element.

        Args:
            got: What the answer returned for ``args``.
            expected: The reference's result; its dtype sets the tolerance,
                none for integers and booleans.
            args: The input, for the message.
            sums: The elements are sums of terms of about 1, which may
                cancel: also allow for the rounding of the terms.
        """
        if not isinstance(got, np.ndarray):
            kind = type(got).__name__
            raise self.wrong(f"got type {kind}, expected a NumPy array", args)
        if got.shape != expected.shape:
            finding = f"got shape {got.shape}, expected {expected.shape}"
            raise self.wrong(finding, args, got)
        if got.dtype.kind != expected.dtype.kind:
            finding = f"got dtype {got.dtype}, expected {expected.dtype}"
            raise self.wrong(finding, args, got)
        rtol = RTOL.get(expected.dtype.name, 0.0)
        atol = ATOL_OF_SUMS[expected.dtype.name] if sums else rtol * 1e-3
        close = np.isclose(got, expected, rtol=rtol, atol=atol)
        if not close.all():
            index = np.unravel_index(np.argmin(close), close.shape)
            where = ", ".join(str(int(i)) for i in index)
            form = ".6g" if expected.dtype.kind == "f" else ""
            finding = (
                f"index [{where}]: got {got[index]:{form}}, "
                f"expected {expected[index]:{form}}"
            )
            raise self.wrong(finding, args, got)

    def same_list(
        self, got: Any, expected: list[int], *args: Any, what: str = "id"
    ) -> None:
        """Check a list of integers and name the first that differs.

        Args:
            got: What the answer returned for ``args``; NumPy integers
                count as integers.
            expected: The reference's result.
            args: The input, for the message.
            what: What one of the integers is, for the message.
        """
        fits = isinstance(got, list) and all(
            isinstance(item, numbers.Integral) and not isinstance(item, bool)
            for item in got
        )
        if not fits:
            finding = f"got {str(got)[:50]}, expected a list of {what}s"
            raise self.wrong(finding, args)
        if got == expected:
            return
        finding = f"got {len(got)} {what}s, expected {len(expected)}"
        for place, (mine, right) in enumerate(zip(got, expected, strict=False)):
            if mine != right:
                finding = (
                    f"index [{place}]: got {what} {mine}, expected {right}"
                )
                break
        raise self.wrong(finding, args, got)

    def same_number(self, got: Any, expected: float, *args: Any) -> None:
        """Check a number: an int exactly, a float to 9 digits."""
        exact = isinstance(expected, int)
        wanted = numbers.Integral if exact else numbers.Real
        if isinstance(got, bool) or not isinstance(got, wanted):
            wish = "an int (// divides ints)" if exact else "a float"
            kind = type(got).__name__
            finding = f"got {_describe(got)}, a {kind}, expected {wish}"
            raise self.wrong(finding, args)
        same = got == expected
        if not exact:
            same = math.isclose(float(got), expected, rel_tol=1e-9)
        if not same:
            form = "d" if exact else ".6g"
            finding = f"got {got:{form}}, expected {expected:{form}}"
            raise self.wrong(finding, args, got)

    def require(
        self,
        condition: bool,
        finding: str,
        *args: Any,
        likely: str = "",
    ) -> None:
        """Check a property that is no comparison with the reference."""
        if not condition:
            raise WrongAnswerError(finding, self._given(args), likely)

    def wrong(
        self, finding: str, args: Sequence[Any], got: Any = None
    ) -> WrongAnswerError:
        """Return the error to raise, with the likely mistake named."""
        likely = "" if got is None else self._diagnose(args, got)
        return WrongAnswerError(finding, self._given(args), likely)

    def _diagnose(self, args: Sequence[Any], got: Any) -> str:
        """Find a known mistake that returns the same for this input."""
        for mistake in self.exercise.mistakes:
            try:
                other = _quietly(mistake.answer, _snapshot(args))
            except Exception:  # this mistake cannot even run on this input
                continue
            if _agree(got, other):
                return mistake.says
        return ""

    def _given(self, args: Sequence[Any]) -> str:
        """Describe the input in one line."""
        return ", ".join(
            f"{name} = {_describe(value)}"
            for name, value in zip(self.exercise.parameters, args, strict=False)
        )


def _quietly(function: Callable[..., Any], args: Sequence[Any]) -> Any:
    """Call without the warnings that an overflow would print."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*args)


def _snapshot(args: Sequence[Any]) -> list[Any]:
    """Copy what an answer could change; functions stay themselves."""
    data = (np.ndarray, list, dict)
    return [copy.deepcopy(a) if isinstance(a, data) else a for a in args]


def _unchanged(old: Any, new: Any) -> bool:
    if isinstance(old, np.ndarray):
        return old.shape == new.shape and np.array_equal(
            old, new, equal_nan=True
        )
    return old is new or old == new


def _agree(a: Any, b: Any) -> bool:
    """Whether two results are numerically the same, NaN included."""
    first, second = np.asarray(a), np.asarray(b)
    if first.shape != second.shape or first.dtype.kind not in "fiub":
        return False
    if second.dtype.kind not in "fiub":
        return False
    if "f" not in first.dtype.kind + second.dtype.kind:
        return np.array_equal(first, second)
    single = np.float32 in (first.dtype, second.dtype)
    rtol = RTOL["float32" if single else "float64"]
    return np.allclose(first, second, rtol=rtol, atol=1e-9, equal_nan=True)


def _describe(value: Any) -> str:
    """Name a value in at most about 80 characters."""
    if isinstance(value, np.ndarray):
        if value.size > 8:
            return f"{value.dtype} array of shape {value.shape}"
        text = np.array2string(value, precision=4, separator=", ")
        return " ".join(text.split()) + f" ({value.dtype})"
    if callable(value):
        return getattr(value, "__name__", type(value).__name__)
    text = f"{value:.6g}" if isinstance(value, float) else repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
