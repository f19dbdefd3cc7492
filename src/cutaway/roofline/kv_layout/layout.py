"""A model's cache as a list of what its layers keep."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TypeVar

from cutaway.core.checks import check, check_int
from cutaway.core.config import ModelConfig
from cutaway.core.errors import ArgumentError
from cutaway.roofline.kv_layout.cache_format import BFLOAT16, CacheFormat
from cutaway.roofline.kv_layout.parts import (
    AttentionCache,
    Layer,
    LayerCache,
    SharedCache,
    StateCache,
)

Part = TypeVar("Part", AttentionCache, StateCache)


@dataclass(frozen=True)
class KVLayout:
    """What every layer of a model caches of one sequence.

    A layer is a tuple of parts: usually one, two where attention and a
    state run side by side, none for a layer that mixes no tokens.

    All sizes are those of one device of ``tp``: heads are spread evenly,
    and where there are more devices than heads, each holds a copy of one.

    Attributes:
        layers: The parts of each layer, from the first layer on.

    Raises:
        ArgumentError: There is no layer, a part is of no known kind, or a
            layer shares one that does not come before it.

    >>> from cutaway.core import KVShape
    >>> near = AttentionCache(shape=KVShape(2, 8, 8), window=4)
    >>> far = AttentionCache(shape=KVShape(2, 8, 8))
    >>> layout = KVLayout(((near,), (far,)))
    >>> layout.floor_bytes(100), layout.reserved_bytes(100)
    (6656, 12800)
    """

    layers: tuple[Layer, ...]

    def __post_init__(self) -> None:
        fits = isinstance(self.layers, tuple) and len(self.layers) > 0
        check(fits, "layers", repr(self.layers), "a tuple, not empty")
        for index, layer in enumerate(self.layers):
            name = f"layers[{index}]"
            is_tuple = isinstance(layer, tuple)
            check(is_tuple, name, repr(layer), "a tuple of caches")
            for part in layer:
                self._check_part(name, index, part)

    def _check_part(self, name: str, index: int, part: LayerCache) -> None:
        """Raise unless the part is of a kind that a layer can have."""
        known = isinstance(part, (AttentionCache, StateCache, SharedCache))
        expected = "an AttentionCache, StateCache or SharedCache"
        check(known, name, type(part).__name__, expected)
        if isinstance(part, SharedCache):
            expected = f"a layer before {index}, with a cache of its own"
            owner = self.layers[part.layer] if part.layer < index else ()
            owned = any(isinstance(one, AttentionCache) for one in owner)
            check(owned, f"{name}.layer", part.layer, expected)

    @property
    def num_layers(self) -> int:
        """Layers of the model, with a cache or not."""
        return len(self.layers)

    @property
    def groups(self) -> tuple[tuple[int, Layer], ...]:
        """How many layers are alike, and their parts, first ones first.

        Layers that share count as alike, whichever layer they share.
        """
        counts = Counter(map(_kind, self.layers))
        return tuple((count, layer) for layer, count in counts.items())

    def bytes_per_token(
        self, cache_format: CacheFormat = BFLOAT16, *, tp: int = 1
    ) -> float:
        """Return what a token adds while every window still grows.

        Args:
            cache_format: Bytes of a number.
            tp: Devices that share the heads.

        Raises:
            ArgumentError: The heads cannot be spread over so many.
        """
        return sum(
            count * _row_bytes(part, cache_format, tp)
            for count, part in self._parts(AttentionCache)
        )

    def state_bytes(
        self, cache_format: CacheFormat = BFLOAT16, *, tp: int = 1
    ) -> float:
        """Return what a sequence takes before its first token.

        Args:
            cache_format: Bytes of a number.
            tp: Devices that share the heads.

        Raises:
            ArgumentError: The heads cannot be spread over so many.
        """
        sizes = {
            "recurrent": cache_format.recurrent_bytes,
            "conv": cache_format.conv_bytes,
        }
        return sum(
            count
            * _heads_of_one(part.num_heads, tp)
            * part.elements_per_head
            * sizes[part.kind]
            for count, part in self._parts(StateCache)
        )

    def floor_bytes(
        self,
        num_tokens: int,
        cache_format: CacheFormat = BFLOAT16,
        *,
        tp: int = 1,
    ) -> float:
        """Return the least that a sequence can do with.

        A layer with a window keeps the window's last tokens.

        Args:
            num_tokens: Tokens of the sequence.
            cache_format: Bytes of a number.
            tp: Devices that share the heads.

        Raises:
            ArgumentError: The tokens are negative, or the heads cannot be
                spread over so many devices.
        """
        check_int("num_tokens", num_tokens, low=0)
        rows = sum(
            count
            * part.kept_tokens(num_tokens)
            * _row_bytes(part, cache_format, tp)
            for count, part in self._parts(AttentionCache)
        )
        return rows + self.state_bytes(cache_format, tp=tp)

    def reserved_bytes(
        self,
        num_tokens: int,
        cache_format: CacheFormat = BFLOAT16,
        *,
        tp: int = 1,
    ) -> float:
        """Return what a sequence takes if every layer keeps all tokens.

        So much an engine sets aside that does not tell layers apart.

        Args:
            num_tokens: Tokens of the sequence.
            cache_format: Bytes of a number.
            tp: Devices that share the heads.

        Raises:
            ArgumentError: As ``floor_bytes``.
        """
        check_int("num_tokens", num_tokens, low=0)
        rows = num_tokens * self.bytes_per_token(cache_format, tp=tp)
        return rows + self.state_bytes(cache_format, tp=tp)

    def _parts(self, kind: type[Part]) -> list[tuple[int, Part]]:
        """Return the parts of a kind, and how many layers have each."""
        return [
            (count, part)
            for count, layer in self.groups
            for part in layer
            if isinstance(part, kind)
        ]


def kv_layout(config: ModelConfig) -> KVLayout:
    """Return what the layers of a model cache.

    Args:
        config: The model.

    >>> from cutaway.roofline.models import CONFIGS
    >>> kv_layout(CONFIGS["gpt-oss-20b"]).floor_bytes(131072) / 2**30
    3.0029296875
    """
    return KVLayout(
        tuple(
            (
                AttentionCache(
                    shape=config.kv_shape, window=config.layer_window(layer)
                ),
            )
            for layer in range(config.num_layers)
        )
    )


def share_layers(layout: KVLayout, every: int) -> KVLayout:
    """Return the layout if neighbouring layers share one cache.

    The first of ``every`` layers keeps its own, the others read it: less
    memory, but each layer still reads all of the keys and values.

    Args:
        layout: Layers that all keep caches of their own.
        every: Layers that share one.

    Raises:
        ArgumentError: Less than one layer, or a layer has no keys and
            values that could be shared.

    Source: Cross-layer attention, arXiv 2405.12981, section 3.

    >>> from cutaway.roofline.models import CONFIGS
    >>> layout = kv_layout(CONFIGS["llama-3.1-8b"])
    >>> share_layers(layout, 2).bytes_per_token()
    65536
    """
    check_int("every", every, low=1)
    return KVLayout(
        tuple(
            layer
            if index % every == 0
            else (SharedCache(layer=index - index % every),)
            for index, layer in enumerate(layout.layers)
        )
    )


def _kind(layer: Layer) -> Layer:
    """Return the layer, with one name for whatever it shares."""
    return tuple(
        SharedCache(layer=0) if isinstance(part, SharedCache) else part
        for part in layer
    )


def _row_bytes(
    part: AttentionCache, cache_format: CacheFormat, tp: int
) -> float:
    """Return the bytes of one token in one layer, on one device."""
    _, key_dim, value_dim = part.shape
    of_head = key_dim * cache_format.key_bytes
    of_head += value_dim * cache_format.value_bytes
    return _heads_of_one(part.num_heads, tp) * of_head


def _heads_of_one(num_heads: int, tp: int) -> int:
    """Return the heads that one of ``tp`` devices holds."""
    check_int("tp", tp, low=1)
    if num_heads % tp and tp % num_heads:
        expected = f"a divisor or a multiple of {num_heads} heads"
        raise ArgumentError("tp", tp, expected)
    return max(1, num_heads // tp)
