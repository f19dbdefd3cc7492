"""A ring of slots: the newest keys and values of one layer."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check, check_int
from cutaway.core.kv_shape import KVShape
from cutaway.layers import check_array, empty, from_numpy

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float


class Ring:
    """Token i of a layer in slot i mod ``slots``; the newest push out.

    Slots are written over and never moved, so storing a token costs the
    same at any length. Reading gives the tokens in order: without a copy
    while they lie side by side, with one where the ring closes.

    Invariants:

    1. The tokens from ``first`` to ``stored`` are whole; there are at most
       ``slots`` of them.
    2. ``first`` never goes back: cutting tokens off does not bring those
       back that they pushed out.
    3. A call that raises leaves the ring as it was.

    Args:
        slots: Tokens it has room for; 0 holds none.
        shape: Heads and widths of a key and a value.
        impl: ``"numpy"`` or ``"torch"``.
        dtype: ``"float32"`` or ``"float64"``.

    Raises:
        ArgumentError: ``slots`` is not an integer >= 0, or the backend or
            dtype is unknown.

    Source: Mistral 7B, arXiv 2310.06825, section 2 (rolling buffer).

    >>> ring = Ring(3, KVShape(1, 2, 2), impl="numpy", dtype="float32")
    >>> for token in range(5):
    ...     ring.write(*2 * [np.full((1, 1, 2), token, np.float32)])
    >>> ring.first, ring.stored, ring.keys[:, 0, 0].tolist()
    (2, 5, [3.0, 4.0, 2.0])
    >>> ring.read(2)[0][:, 0, 0].tolist()
    [2.0, 3.0, 4.0]
    """

    def __init__(
        self, slots: int, shape: KVShape, *, impl: str, dtype: str
    ) -> None:
        self.slots = check_int("slots", slots, low=0)
        self.impl = impl
        heads, key_dim, value_dim = shape
        self.keys = empty((self.slots, heads, key_dim), dtype, impl=impl)
        self.values = empty((self.slots, heads, value_dim), dtype, impl=impl)
        self.stored = 0
        self.first = 0

    @property
    def nbytes(self) -> int:
        """Bytes of both arrays, used or not."""
        return self.keys.nbytes + self.values.nbytes

    def check(
        self,
        k: Float[Any, "tokens kv_heads key_dim"],
        v: Float[Any, "tokens kv_heads value_dim"],
    ) -> None:
        """Raise unless its slots can hold numbers like these.

        Raises:
            ArgumentError: Another shape, dtype or kind of array.
        """
        check_rows(k, v, self.keys, self.values, impl=self.impl)

    def write(
        self,
        k: Float[Any, "tokens kv_heads key_dim"],
        v: Float[Any, "tokens kv_heads value_dim"],
    ) -> None:
        """Copy the next tokens into their slots.

        Args:
            k: Keys of at most ``slots`` tokens.
            v: Their values.

        Raises:
            ArgumentError: They do not fit, in shape, kind or number.
        """
        self.check(k, v)
        tokens = k.shape[0]
        expected = f"at most {self.slots} tokens"
        check(tokens <= self.slots, "k.shape[0]", tokens, expected)
        if tokens == 0:
            return
        stop = self.stored + tokens
        where = self._where(self.stored, stop)
        self.keys[where] = k
        self.values[where] = v
        self.stored = stop
        self.first = max(self.first, stop - self.slots)

    def read(
        self, start: int
    ) -> tuple[
        Float[Any, "tokens kv_heads key_dim"],
        Float[Any, "tokens kv_heads value_dim"],
    ]:
        """Return keys and values of the tokens from ``start`` on, in order.

        Args:
            start: The first token wanted.

        Raises:
            ArgumentError: It was pushed out, or has not come yet.
        """
        start = check_int("start", start, self.first, self.stored)
        where = self._where(start, self.stored)
        return self.keys[where], self.values[where]

    def cut(self, stored: int) -> None:
        """Forget all tokens from number ``stored`` on.

        Args:
            stored: How many to count as stored.

        Raises:
            ArgumentError: Fewer than were pushed out, or more than there
                are.
        """
        self.stored = check_int("stored", stored, self.first, self.stored)

    def _where(self, start: int, stop: int) -> Any:
        """Return the slots of consecutive tokens: a slice, if they are."""
        if start == stop:
            return slice(0, 0)
        low = start % self.slots
        if low + stop - start <= self.slots:
            return slice(low, low + stop - start)
        return from_numpy(np.arange(start, stop) % self.slots, impl=self.impl)


def check_rows(k: Any, v: Any, keys: Any, values: Any, *, impl: str) -> None:
    """Raise unless the rows of two arrays can be written into two others.

    Args:
        k: Keys ``[tokens, kv_heads, key_dim]``.
        v: Values of the same tokens.
        keys: What they are to be copied into; its first size is free.
        values: Likewise.
        impl: ``"numpy"`` or ``"torch"``.

    Raises:
        ArgumentError: Another shape, dtype or kind of array.

    >>> row = np.zeros((1, 2, 4))
    >>> check_rows(row, row, row, row, impl="numpy")
    """
    tokens: int | str = "tokens"
    for name, array, store in (("k", k, keys), ("v", v, values)):
        shape = (tokens, *store.shape[1:])
        check_array(name, array, shape, impl=impl)
        tokens = array.shape[0]
        same = array.dtype == store.dtype
        expected = f"{store.dtype}, the dtype of the cache"
        check(same, f"{name}.dtype", array.dtype, expected)
