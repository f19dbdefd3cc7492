"""Where a file keeps a weight: in which tensors, and how it lies there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check, check_shape
from cutaway.core.errors import ArgumentError

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any, Protocol

    class TensorSource(Protocol):
        """What an open GGUF file and a Hugging Face folder share."""

        @property
        def tensors(self) -> Mapping[str, Any]:
            """What is known of each tensor by name; at least a shape."""
            ...

        def tensor(self, name: str, dtype: Any = None) -> np.ndarray:
            """Return a tensor's numbers as a new array."""
            ...


@dataclass(frozen=True)
class Stored:
    """The tensor that holds a weight, or the tensors whose stack it is.

    Attributes:
        names: The tensors: one, or one for each expert.
        stacked: There is one for each expert.
        part: The tensor holds several weights side by side along its last
            axis; which of them this one is.
        parts: How many it holds.
        interleaved: They take turns, instead of one after the other.
        transposed: Matrices lie as ``[in, out]``.

    >>> Stored(("qkv",), part=1, parts=3, transposed=True).shape((4, 2))
    (2, 12)
    """

    names: tuple[str, ...]
    stacked: bool = False
    part: int = 0
    parts: int = 1
    interleaved: bool = False
    transposed: bool = False

    def shape(self, weight: tuple[int, ...]) -> tuple[int, ...]:
        """Return the shape that each tensor has for a weight of a shape."""
        if self.stacked:
            weight = weight[1:]
        if self.transposed:
            weight = (*weight[:-2], weight[-1], weight[-2])
        return (*weight[:-1], weight[-1] * self.parts)

    def read(
        self, file: TensorSource, shape: tuple[int, ...], dtype: Any
    ) -> np.ndarray:
        """Return the weight.

        Args:
            file: An open file or folder.
            shape: Of the weight.
            dtype: Of the result.

        Raises:
            ArgumentError: A tensor is missing or has another shape; it is
                named before any is read.

        Cost: one copy, and one more for what is not stored as it is.
        """
        for name in self.names:
            check(name in file.tensors, name, "no such tensor", "one")
            check_shape(name, file.tensors[name], self.shape(shape))
        arrays = [self._take(file.tensor(name, dtype)) for name in self.names]
        if self.stacked:
            return np.stack(arrays)
        return np.ascontiguousarray(arrays[0])

    def written(self, weight: np.ndarray) -> dict[str, np.ndarray]:
        """Return the tensors by name; views of the weight.

        Raises:
            ArgumentError: A tensor holds further weights.
        """
        single = self.parts == 1
        check(single, self.names[0], f"one of {self.parts}", "a whole tensor")
        if self.transposed:
            weight = weight.swapaxes(-1, -2)
        arrays = list(weight) if self.stacked else [weight]
        return dict(zip(self.names, arrays, strict=True))

    def _take(self, array: np.ndarray) -> np.ndarray:
        """Return the part of a tensor that is the weight's, the right way."""
        if self.interleaved:
            array = array[..., self.part :: self.parts]
        elif self.parts > 1:
            array = np.split(array, self.parts, axis=-1)[self.part]
        return array.swapaxes(-1, -2) if self.transposed else array


def whole(names: Mapping[str, str]) -> dict[str, Stored]:
    """Say that each weight is a tensor of its own.

    Args:
        names: The name of the tensor by that of the weight.

    >>> whole({"wq": "self_attn.q_proj.weight"})["wq"].names
    ('self_attn.q_proj.weight',)
    """
    return {ours: Stored((theirs,)) for ours, theirs in names.items()}


def find_stored(stored: Mapping[str, Stored], name: str) -> Stored:
    """Return where a weight is, or say that the format has no place for it.

    Args:
        stored: Where each weight is, by its name.
        name: The weight.

    Raises:
        ArgumentError: It has none.

    >>> find_stored({}, "wq")
    Traceback (most recent call last):
        ...
    cutaway.core.errors.ArgumentError: weight: got wq, expected a weight \
that models of this kind have
    """
    if name not in stored:
        expected = "a weight that models of this kind have"
        raise ArgumentError("weight", name, expected)
    return stored[name]
