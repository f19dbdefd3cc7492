"""Caches by name: what ``LLM(cache=...)`` and ``--cache`` choose from."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from types import MappingProxyType
from typing import Protocol

from cutaway.core.checks import check
from cutaway.core.config import ModelConfig
from cutaway.core.errors import ArgumentError
from cutaway.core.protocols import KVCache
from cutaway.kvcache.codecs import Float8Codec, IntegerCodec
from cutaway.kvcache.contiguous import ContiguousCache
from cutaway.kvcache.h2o import h2o_cache
from cutaway.kvcache.kivi import kivi_cache
from cutaway.kvcache.quantized import QuantizedCache
from cutaway.kvcache.rolling import RollingCache
from cutaway.kvcache.snapkv import snapkv_cache
from cutaway.kvcache.streaming import streaming_cache


class CacheFactory(Protocol):
    """Makes an empty cache for a model; a cache class may be one itself.

    A cache with settings of its own becomes one by ``functools.partial``.
    """

    def __call__(
        self,
        config: ModelConfig,
        capacity_tokens: int,
        /,
        *,
        impl: str,
        dtype: str,
    ) -> KVCache:
        """Return the cache.

        Args:
            config: The model whose keys and values it will hold.
            capacity_tokens: Tokens that will be read at most; a cache that
                drops tokens may reserve less.
            impl: ``"numpy"`` or ``"torch"``: what its arrays are.
            dtype: Of the keys and values that it is given.
        """
        ...


CACHES: Mapping[str, CacheFactory] = MappingProxyType(
    {
        "contiguous": ContiguousCache,
        "rolling": RollingCache,
        "streaming": streaming_cache,
        "int8": partial(QuantizedCache, codec=IntegerCodec(bits=8)),
        "int4": partial(QuantizedCache, codec=IntegerCodec(bits=4)),
        "fp8_e4m3": partial(QuantizedCache, codec=Float8Codec("e4m3")),
        "fp8_e5m2": partial(QuantizedCache, codec=Float8Codec("e5m2")),
        "kivi4": partial(kivi_cache, bits=4),
        "kivi2": partial(kivi_cache, bits=2),
        "h2o": h2o_cache,
        "snapkv": snapkv_cache,
    }
)


def cache_factory(
    kind: str | CacheFactory, *, name: str = "kind"
) -> CacheFactory:
    """Return what makes a kind of cache.

    Args:
        kind: A name in ``CACHES``, or a factory, which is given back.
        name: The argument's name, for the message.

    Raises:
        ArgumentError: There is no such name, or it is neither.

    >>> cache_factory("contiguous")
    <class 'cutaway.kvcache.contiguous.ContiguousCache'>
    """
    if isinstance(kind, str) and kind in CACHES:
        return CACHES[kind]
    if isinstance(kind, str) or not callable(kind):
        listed = ", ".join(map(repr, CACHES))
        expected = f"one of {listed}, or a function that makes a cache"
        raise ArgumentError(name, repr(kind), expected)
    return kind


def make_cache(
    kind: str | CacheFactory,
    config: ModelConfig,
    capacity_tokens: int,
    *,
    impl: str = "torch",
    dtype: str = "float32",
) -> KVCache:
    """Return an empty cache of some kind.

    Args:
        kind: A name in ``CACHES``, or a factory.
        config: The model whose keys and values it will hold.
        capacity_tokens: Tokens that will be read at most.
        impl: ``"numpy"`` or ``"torch"``: what its arrays are.
        dtype: Of the keys and values that it is given, ``"float32"`` or
            ``"float64"``.

    Raises:
        ArgumentError: An argument is out of range or unknown, or the
            factory made something else.

    >>> from cutaway.roofline import CONFIGS
    >>> cache = make_cache("contiguous", CONFIGS["smollm2-135m"], 100)
    >>> cache.num_tokens, cache.nbytes
    (0, 4608000)
    """
    cache = cache_factory(kind)(config, capacity_tokens, impl=impl, dtype=dtype)
    got, expected = type(cache).__qualname__, "a factory of a KVCache"
    check(isinstance(cache, KVCache), "kind", f"one of {got}", expected)
    return cache
