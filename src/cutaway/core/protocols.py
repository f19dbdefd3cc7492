"""The small interfaces through which the layers of the package meet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable


@runtime_checkable
class KVCache(Protocol):
    """Keys and values of the tokens a decoder has already read.

    A forward pass appends to layer 0, 1, ... in order and reads each layer
    back at once; ``num_tokens`` grows when the last layer has been written.

    Invariants, which one shared test suite checks for every cache:

    1. ``view(layer)`` right after ``append(layer, k, v)`` ends with k and v.
    2. ``num_tokens`` counts the tokens stored in *all* layers.
    3. ``truncate(n)`` forgets everything from token n on, half-appended
       layers included, and changes nothing before it. A cache that drops
       old tokens goes back no further than ``truncation_floor``, which
       always allows to undo the last forward pass.
    4. A call that raises leaves the cache as it was.
    """

    @property
    def num_tokens(self) -> int:
        """Tokens read in every layer: the position of the next one.

        Some may have been dropped since.
        """
        ...

    @property
    def truncation_floor(self) -> int:
        """Fewest tokens that ``truncate`` can go back to; 0 if any."""
        ...

    @property
    def nbytes(self) -> int:
        """Bytes that the storage occupies, used or not."""
        ...

    def append(self, layer: int, k: Any, v: Any) -> None:
        """Store k and v of the next tokens.

        ``[tokens, num_heads, key_dim]`` and ``[tokens, num_heads,
        value_dim]``, sizes of ``ModelConfig.kv_shape``; keys are rotated.
        """
        ...

    def view(self, layer: int) -> tuple[Any, Any]:
        """Return the stored keys and values in order, the newest last."""
        ...

    def truncate(self, num_tokens: int) -> None:
        """Forget all tokens from ``num_tokens`` on."""
        ...


@runtime_checkable
class AttendingCache(KVCache, Protocol):
    """A cache that does the attention itself, where reading is not enough.

    It may choose the positions of queries and keys, read its storage in
    place, or look at the weights to decide what to keep. If it counts
    positions within itself, an attribute ``next_position`` says where the
    next token will stand: the text may then be longer than the model's
    ``max_seq_len``. Any cache that takes no more than some tokens in one
    pass says so by an attribute ``chunk_tokens``.
    """

    def attend(
        self,
        layer: int,
        q: Any,
        k: Any,
        v: Any,
        *,
        rope: Callable[[Any, int], Any],
        variant: Any,
    ) -> Any:
        """Store the next tokens and attend to all that is stored.

        Args:
            layer: Which layer they belong to.
            q: Queries ``[tokens, num_heads, key_dim]``, not rotated.
            k: Keys, not rotated; as for ``append``.
            v: Values; as for ``append``.
            rope: ``(x, start) -> x`` turned as at positions start on.
            variant: An ``AttentionVariant``, or None for the causal mask
                and no more.

        Returns:
            ``[tokens, num_heads, value_dim]``.
        """
        ...
