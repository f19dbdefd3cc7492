"""RoPE as a forward pass uses it: tables made once, for all layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check_int
from cutaway.layers.arrays import from_numpy
from cutaway.layers.rope import rope_tables, rotate

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float, Float64


class Rotation:
    """Turns queries and keys by their positions; remembers the tables.

    Cosines and sines depend on positions alone, so the first layer makes
    them and the others find them. An object is meant to live as long as
    one forward pass.

    Args:
        frequencies: Radians per position, from ``scaled_frequencies``.
        layout: ``"interleaved"`` or ``"half_split"``; see ``rotate``.
        impl: ``"numpy"`` or ``"torch"``.
        attention_factor: Factor of the turned vectors.

    >>> rope = Rotation(np.array([1.0]), layout="half_split", impl="numpy")
    >>> rope(np.array([[[1.0, 0.0]], [[1.0, 0.0]]]), 0)[0]
    array([[1., 0.]])
    """

    def __init__(
        self,
        frequencies: Float64[np.ndarray, " half"],
        *,
        layout: str,
        impl: str,
        attention_factor: float = 1.0,
    ) -> None:
        self._frequencies = frequencies
        self._factor = attention_factor
        self._layout = layout
        self._impl = impl
        self._tables: dict[Any, tuple[Any, Any]] = {}

    def __call__(
        self, x: Float[Any, "tokens heads head_dim"], start: int
    ) -> Float[Any, "tokens heads head_dim"]:
        """Return ``x`` turned as at the positions start, start + 1, ...

        Args:
            x: Queries or keys of consecutive tokens.
            start: Position of the first.

        Raises:
            ArgumentError: A width does not fit, or the position is
                negative.
        """
        check_int("start", start, low=0)
        key = (start, len(x), x.dtype)
        if key not in self._tables:
            positions = np.arange(start, start + len(x))
            self._tables[key] = rope_tables(
                from_numpy(positions, impl=self._impl),
                self._frequencies,
                dtype=x.dtype,
                impl=self._impl,
                attention_factor=self._factor,
            )
        cos, sin = self._tables[key]
        return rotate(x, cos, sin, layout=self._layout, impl=self._impl)
