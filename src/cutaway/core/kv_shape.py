"""What one token leaves in the cache of one layer."""

from __future__ import annotations

from typing import NamedTuple


class KVShape(NamedTuple):
    """Heads and widths of a cached key and a cached value.

    Attributes:
        num_heads: Key/value heads.
        key_dim: Numbers of a key head.
        value_dim: Numbers of a value head; 0 if values are read off the
            keys, as in latent attention.

    >>> KVShape(num_heads=3, key_dim=64, value_dim=64).elements
    384
    """

    num_heads: int
    key_dim: int
    value_dim: int

    @property
    def elements(self) -> int:
        """Numbers that one token stores in one layer."""
        return self.num_heads * (self.key_dim + self.value_dim)
