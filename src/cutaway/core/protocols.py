"""The small interfaces through which the layers of the package meet."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable


@runtime_checkable
class KVCache(Protocol):
    """Keys and values of the tokens a decoder has already read.

    A forward pass appends to layer 0, 1, ... in order and reads each layer
    back at once; ``num_tokens`` grows when the last layer has been written.

    Invariants, which one shared test suite checks for every cache:

    1. ``view(layer)`` right after ``append(layer, k, v)`` ends with k and v.
    2. ``num_tokens`` counts the tokens stored in *all* layers.
    3. ``truncate(n)`` forgets everything from token n on, half-appended
       layers included, and changes nothing before it.
    4. A call that raises leaves the cache as it was.
    """

    @property
    def num_tokens(self) -> int:
        """Tokens whose keys and values are stored in every layer."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes that the storage occupies, used or not."""
        ...

    def append(self, layer: int, k: Any, v: Any) -> None:
        """Store k and v, each ``[tokens, num_kv_heads, head_dim]``."""
        ...

    def view(self, layer: int) -> tuple[Any, Any]:
        """Return k and v of a layer, ``[stored, num_kv_heads, head_dim]``."""
        ...

    def truncate(self, num_tokens: int) -> None:
        """Forget all tokens from ``num_tokens`` on."""
        ...
