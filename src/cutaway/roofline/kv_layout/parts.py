"""What one layer keeps of the tokens it has read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from cutaway.core.checks import check, check_choice, check_int
from cutaway.core.kv_shape import KVShape

StateKind = Literal["recurrent", "conv"]


@dataclass(frozen=True, kw_only=True)
class AttentionCache:
    """Keys and values, a row for every token that is still visible.

    Latent attention is the case ``value_dim == 0``: one vector a token,
    from which keys and values are both made.

    Attributes:
        shape: Heads and widths of a token's row.
        window: Keys that a token sees, itself included; older rows are
            not needed. None needs all.

    Raises:
        ArgumentError: A size or the window is no positive integer.

    >>> local = AttentionCache(shape=KVShape(8, 64, 64), window=128)
    >>> local.kept_tokens(100), local.kept_tokens(4096)
    (100, 128)
    """

    shape: KVShape
    window: int | None = None

    def __post_init__(self) -> None:
        fits = isinstance(self.shape, KVShape)
        check(fits, "shape", type(self.shape).__name__, "a KVShape")
        check_int("shape.num_heads", self.shape.num_heads, low=1)
        check_int("shape.key_dim", self.shape.key_dim, low=1)
        check_int("shape.value_dim", self.shape.value_dim, low=0)
        if self.window is not None:
            check_int("window", self.window, low=1)

    @property
    def num_heads(self) -> int:
        """Heads that can be spread over devices."""
        return self.shape.num_heads

    def kept_tokens(self, num_tokens: int) -> int:
        """Return how many of the tokens read are still needed."""
        if self.window is None:
            return num_tokens
        return min(num_tokens, self.window)


@dataclass(frozen=True, kw_only=True)
class StateCache:
    """A state of fixed size, however many tokens were read.

    Attributes:
        num_heads: Heads that can be spread over devices; of a Mamba, which
            has none, its channels.
        elements_per_head: Numbers of one head's state.
        kind: ``"recurrent"``: the sum over all tokens, usually float32.
            ``"conv"``: the last inputs of a short convolution.

    Raises:
        ArgumentError: A size is no positive integer, or an unknown kind.

    >>> StateCache(num_heads=32, elements_per_head=128 * 128).elements
    524288
    """

    num_heads: int
    elements_per_head: int
    kind: StateKind = "recurrent"

    def __post_init__(self) -> None:
        check_int("num_heads", self.num_heads, low=1)
        check_int("elements_per_head", self.elements_per_head, low=1)
        check_choice("kind", self.kind, get_args(StateKind))

    @property
    def elements(self) -> int:
        """Numbers of the state."""
        return self.num_heads * self.elements_per_head


@dataclass(frozen=True, kw_only=True)
class SharedCache:
    """Nothing of its own: the layer reads what another one has cached.

    Attributes:
        layer: Number of that layer; it comes earlier.

    Raises:
        ArgumentError: The number is no integer from 0.

    >>> SharedCache(layer=4).layer
    4
    """

    layer: int

    def __post_init__(self) -> None:
        check_int("layer", self.layer, low=0)


LayerCache = AttentionCache | StateCache | SharedCache
Layer = tuple[LayerCache, ...]
