"""An array that keeps its rows in the form of a codec."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.kvcache.codecs import Codec

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float


class CodedRows:
    """Rows of numbers, written and read by the indices before the last.

    Args:
        codec: How a row is stored.
        shape: ``[*lead, width]``, as if it were an ordinary array.

    >>> from cutaway.kvcache.codecs import IntegerCodec
    >>> rows = CodedRows(IntegerCodec(bits=4), (100, 64))
    >>> rows[7:9] = np.ones((2, 64))
    >>> rows.nbytes, rows[8].max().round(2).item()
    (3400, 1.0)
    """

    def __init__(self, codec: Codec, shape: tuple[int, ...]) -> None:
        *lead, self.width = shape
        self.codec = codec
        self._parts = tuple(
            np.empty((*lead, length), dtype)
            for dtype, length in codec.fields(self.width)
        )

    @property
    def nbytes(self) -> int:
        """Bytes of codes and scales, used or not."""
        return sum(part.nbytes for part in self._parts)

    def __setitem__(
        self, where: Any, x: Float[np.ndarray, "*lead width"]
    ) -> None:
        """Encode rows and store them; on an error nothing is stored."""
        encoded = self.codec.encode(x)
        for part, new in zip(self._parts, encoded, strict=True):
            part[where] = new

    def __getitem__(self, where: Any) -> Float[np.ndarray, "*lead width"]:
        """Return rows as float32 numbers, in a new array."""
        parts = tuple(part[where] for part in self._parts)
        return self.codec.decode(parts, self.width)
