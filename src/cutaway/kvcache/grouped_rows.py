"""Groups of tokens whose numbers share scales, by channel or by token."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check_choice
from cutaway.kvcache.codecs import IntegerCodec
from cutaway.kvcache.coded_rows import CodedRows

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float

GROUP_SIZE = 32
SHARED_BY = ("channel", "token")


@dataclass(frozen=True, kw_only=True)
class GroupScheme:
    """Which numbers of a key or value share step and minimum.

    Attributes:
        bits: 2 or 4 of each number; 8 works too.
        group_size: G numbers share them.
        keys: ``"channel"``: those of G tokens in one channel; ``"token"``:
            those of G neighbouring channels in one token.
        values: Likewise.

    Raises:
        ArgumentError: An attribute is out of range or unknown.

    Source: KIVI, arXiv 2402.02750, section 3; the defaults are its own.

    >>> GroupScheme(bits=2).codec
    IntegerCodec(bits=2, group_size=32, affine=True)
    """

    bits: int
    group_size: int = GROUP_SIZE
    keys: str = "channel"
    values: str = "token"

    def __post_init__(self) -> None:
        check_choice("keys", self.keys, SHARED_BY)
        check_choice("values", self.values, SHARED_BY)
        _ = self.codec  # which checks the numbers

    @property
    def codec(self) -> IntegerCodec:
        """How G numbers are stored."""
        return IntegerCodec(
            bits=self.bits, group_size=self.group_size, affine=True
        )


class GroupedRows:
    """Keys or values of whole groups of tokens, for all layers.

    Args:
        codec: How numbers that share a scale are stored.
        shape: ``[layers, groups, group_size, heads, width]``.
        by: ``"channel"`` or ``"token"``: along which axis they share.

    >>> codec = GroupScheme(bits=4, group_size=8).codec
    >>> rows = GroupedRows(codec, (2, 5, 8, 3, 64), by="channel")
    >>> rows[1, 0:2] = np.ones((2, 8, 3, 64))
    >>> rows[1, 0:2].shape, rows.nbytes  # 4 + 2 + 2 bytes for 8 numbers
    ((2, 8, 3, 64), 15360)
    """

    def __init__(
        self, codec: IntegerCodec, shape: tuple[int, ...], *, by: str
    ) -> None:
        layers, groups, size, heads, width = shape
        self._by_channel = check_choice("by", by, SHARED_BY) == "channel"
        if self._by_channel:
            shape = (layers, groups, heads, width, size)
        self._rows = CodedRows(codec, shape)

    @property
    def nbytes(self) -> int:
        """Bytes of codes and scales, used or not."""
        return self._rows.nbytes

    def __setitem__(
        self, where: Any, x: Float[np.ndarray, "groups size heads width"]
    ) -> None:
        """Round groups of a layer and store them; on an error, nothing."""
        self._rows[where] = x.transpose(0, 2, 3, 1) if self._by_channel else x

    def __getitem__(
        self, where: Any
    ) -> Float[np.ndarray, "groups size heads width"]:
        """Return groups of a layer as float32 numbers."""
        x = self._rows[where]
        return x.transpose(0, 3, 1, 2) if self._by_channel else x
