"""What one layer has kept: in each head the tokens that were chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check, check_int
from cutaway.core.kv_shape import KVShape
from cutaway.kvcache.ring import check_rows
from cutaway.layers import empty, from_numpy

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float, Float32, Int


class KeptTokens:
    """Rows of keys and values; each head may have other tokens in them.

    Row r of a head is the r-th token that it keeps, in order of position.
    All heads keep the same number, so that the rows form one array. The
    tokens of the last pass come last, whole, in every head; therefore the
    pass can be undone, with the scores as they were before it.

    Invariants:

    1. Positions grow along the rows of each head; the last
       ``read - floor`` rows are the tokens ``floor`` to ``read - 1``.
    2. ``floor`` never goes back.
    3. A call that raises leaves the rows as they were.

    Args:
        slots: Rows to reserve.
        shape: Heads and widths of a key and a value.
        impl: ``"numpy"`` or ``"torch"``.
        dtype: ``"float32"`` or ``"float64"``, of keys and values.

    Raises:
        ArgumentError: ``slots`` is not a positive integer, or the backend
            or dtype is unknown.

    >>> kept = KeptTokens(4, KVShape(2, 1, 1), impl="numpy", dtype="float32")
    >>> kept.write(*2 * [np.ones((3, 2, 1), np.float32)])
    >>> kept.choose(np.array([[0, 2], [1, 2]]))
    >>> kept.positions.T.tolist(), kept.read, kept.floor
    ([[0, 2], [1, 2]], 3, 3)
    """

    def __init__(
        self, slots: int, shape: KVShape, *, impl: str, dtype: str
    ) -> None:
        self.slots = check_int("slots", slots, low=1)
        self.impl = impl
        heads, key_dim, value_dim = shape
        self._keys = empty((self.slots, heads, key_dim), dtype, impl=impl)
        self._values = empty((self.slots, heads, value_dim), dtype, impl=impl)
        self._positions = np.zeros((self.slots, heads), np.int32)
        self._scores, self._before = np.zeros(
            (2, heads, self.slots), np.float32
        )
        self.rows = 0  # in use
        self.read = 0  # tokens read, dropped ones included
        self.begun = 0  # where the last pass began
        self.floor = 0  # tokens read when some were last dropped

    @property
    def nbytes(self) -> int:
        """Bytes of everything, used or not."""
        notes = (self._positions, self._scores, self._before)
        arrays = (self._keys, self._values, *notes)
        return sum(array.nbytes for array in arrays)

    @property
    def keys(self) -> Float[Any, "rows kv_heads key_dim"]:
        """Keys of the rows in use; a view."""
        return self._keys[: self.rows]

    @property
    def values(self) -> Float[Any, "rows kv_heads value_dim"]:
        """Values of the rows in use; a view."""
        return self._values[: self.rows]

    @property
    def positions(self) -> Int[np.ndarray, "rows kv_heads"]:
        """Position in the text of the token in each row; a view."""
        return self._positions[: self.rows]

    @property
    def scores(self) -> Float32[np.ndarray, "kv_heads rows"]:
        """What a policy noted for each row, 0 at first; a view."""
        return self._scores[:, : self.rows]

    def check(self, k: Any, v: Any) -> None:
        """Raise unless the rows can hold numbers like these.

        Raises:
            ArgumentError: Another shape, dtype or kind of array.
        """
        check_rows(k, v, self._keys, self._values, impl=self.impl)

    def write(
        self,
        k: Float[Any, "tokens kv_heads key_dim"],
        v: Float[Any, "tokens kv_heads value_dim"],
    ) -> None:
        """Copy the tokens of a pass behind the rows in use.

        Args:
            k: Keys, at most as many as there are free slots.
            v: Their values.

        Raises:
            ArgumentError: They do not fit, in shape, kind or number.
        """
        self.check(k, v)
        tokens, free = k.shape[0], self.slots - self.rows
        check(tokens <= free, "k.shape[0]", tokens, f"at most {free} tokens")
        new = slice(self.rows, self.rows + tokens)
        self._keys[new] = k
        self._values[new] = v
        numbers = np.arange(self.read, self.read + tokens)
        self._positions[new] = numbers[:, None]
        self._scores[:, new] = 0
        self._before[:, : new.stop] = self._scores[:, : new.stop]
        self.begun = self.read
        self.rows = new.stop
        self.read += tokens

    def choose(self, chosen: Int[np.ndarray, "kv_heads kept"]) -> None:
        """Keep some rows of each head and drop the others.

        Args:
            chosen: Which rows of each head, in ascending order.

        Raises:
            ArgumentError: Not as many heads.

        Cost: the rows that stay are copied.
        """
        heads, count = chosen.shape
        expected = f"{self._keys.shape[1]} heads"
        check(heads == self._keys.shape[1], "chosen.shape[0]", heads, expected)
        rows, columns = chosen.T, np.arange(heads)
        self._positions[:count] = self._positions[rows, columns]
        self._scores[:, :count] = np.take_along_axis(self._scores, chosen, 1)
        rows, columns = (
            from_numpy(np.ascontiguousarray(index), impl=self.impl)
            for index in (rows, columns)
        )
        self._keys[:count] = self._keys[rows, columns]
        self._values[:count] = self._values[rows, columns]
        self.rows = count
        self.floor = self.read

    def note(self, scores: Float[np.ndarray, "kv_heads rows"]) -> None:
        """Remember what a policy thinks of each row after a pass."""
        self.scores[:] = scores

    def cut(self, num_tokens: int) -> None:
        """Forget all tokens from ``num_tokens`` on.

        From the beginning of the last pass on backwards the scores are
        those from before that pass. Within it, and before it, what later
        tokens have added to them stays.

        Args:
            num_tokens: How many to count as read.

        Raises:
            ArgumentError: Fewer than ``floor``, or more than were read.
        """
        keep = check_int("num_tokens", num_tokens, self.floor, self.read)
        self.rows -= self.read - keep
        if keep <= self.begun:
            self._scores[:, : self.rows] = self._before[:, : self.rows]
            self.begun = keep
        self.read = keep
