"""Arrays of either backend: make them, check them, take them back."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from cutaway.core.backends import backend
from cutaway.core.checks import check, check_choice, check_shape
from cutaway.core.errors import ArgumentError

DTYPES = ("float32", "float64")


def check_array(
    name: str, array: Any, shape: tuple[int | str, ...], *, impl: str
) -> None:
    """Raise unless ``array`` belongs to the backend and has the shape.

    Args:
        name: The argument's name, for the message.
        array: What was given.
        shape: Wanted sizes; a string names a free dimension.
        impl: The backend that the array must belong to.

    Raises:
        ArgumentError: It is another kind of array, or has another shape.

    >>> check_array("x", np.zeros((3, 4)), ("tokens", 4), impl="numpy")
    """
    if not isinstance(array, backend(__package__, impl).ARRAY_TYPE):
        expected = f"an array of {impl}, as impl={impl!r} says"
        raise ArgumentError(name, type(array).__qualname__, expected)
    check_shape(name, array, shape)


def check_float(name: str, array: Any) -> None:
    """Raise unless an array of either backend holds floats.

    Results of its dtype would otherwise be cut to whole numbers.

    Args:
        name: The argument's name, for the message.
        array: An array that ``check_array`` let through.

    Raises:
        ArgumentError: Its numbers are of another kind.

    >>> check_float("x", np.zeros(3, np.float16))
    """
    dtype = str(array.dtype).removeprefix("torch.")
    check("float" in dtype, f"{name}.dtype", dtype, "floats, of any width")


def empty(shape: tuple[int, ...], dtype: str, *, impl: str) -> Any:
    """Return an uninitialised array.

    Args:
        shape: Its sizes.
        dtype: ``"float32"`` or ``"float64"``.
        impl: The backend to allocate with.

    >>> empty((2, 3), "float32", impl="numpy").shape
    (2, 3)
    """
    check_choice("dtype", dtype, DTYPES)
    return backend(__package__, impl).empty(shape, dtype)


def concat(parts: Sequence[Any], *, impl: str) -> Any:
    """Return arrays side by side along the last axis, as a new array.

    Args:
        parts: At least one array. The other axes are equal, or 1 where
            an array is to be repeated.
        impl: The backend they belong to.

    Raises:
        ArgumentError: There is none, or two do not fit.

    Cost: a copy of all.

    >>> one, two = np.ones((1, 1)), np.zeros((2, 1))
    >>> concat([one, two], impl="numpy")
    array([[1., 0.],
           [1., 0.]])
    """
    check(len(parts) > 0, "parts", "none", "at least one array")
    for number, part in enumerate(parts):
        shape = tuple(part.shape) if hasattr(part, "shape") else ()
        check_array(f"parts[{number}]", part, shape, impl=impl)
    leads = [tuple(part.shape[:-1]) for part in parts]
    try:
        np.broadcast_shapes(*leads)
    except ValueError:
        expected = "leading sizes that are equal, or 1"
        raise ArgumentError("parts", leads, expected) from None
    return backend(__package__, impl).concat(parts)


def from_numpy(array: np.ndarray, *, impl: str) -> Any:
    """Return the array in the backend's form; memory is shared.

    >>> from_numpy(np.arange(3), impl="torch")
    tensor([0, 1, 2])
    """
    return backend(__package__, impl).from_numpy(array)


def to_numpy(array: Any, *, impl: str) -> np.ndarray:
    """Return a backend's array as a NumPy array; memory is shared.

    >>> to_numpy(from_numpy(np.arange(3), impl="torch"), impl="torch")
    array([0, 1, 2])
    """
    return backend(__package__, impl).to_numpy(array)


def inference(*, impl: str) -> AbstractContextManager[Any]:
    """Return a context in which nothing is recorded for gradients.

    >>> with inference(impl="numpy"):
    ...     pass
    """
    return backend(__package__, impl).inference()
