"""A toy forward pass that watches how it is called.

Its logits depend on every id read so far and on their order, so that a
decoding loop that feeds the wrong ids also ends with the wrong tokens.
"""

from __future__ import annotations

import operator
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np

VOCAB_SIZE = 13


class ToyForwardError(Exception):
    """The toy model was called in a way that it cannot go on from."""


class ToyForward:
    """Stands for a decoder: ``forward(new_ids, cache)`` gives logits.

    The ids read so far are the cache, a plain list that the caller makes
    empty and passes to every call; the call appends ``new_ids`` to it.

    Args:
        seed: Which toy model.
        max_calls: More calls than this raise: a loop that never ends is
            found at once.

    Attributes:
        fed: The ids that each call was given.
        best: After each call, the lowest id of the largest logit.
        fresh_caches: Calls, from 1, that came with another cache than the
            call before.

    >>> forward = ToyForward(seed=0, max_calls=9)
    >>> cache = []
    >>> forward([3, 1, 4], cache).shape, cache
    ((13,), [3, 1, 4])
    """

    __name__ = "forward"

    def __init__(self, seed: int, max_calls: int) -> None:
        self.seed = seed
        self.max_calls = max_calls
        self.fed: list[list[int]] = []
        self.best: list[int] = []
        self.fresh_caches: list[int] = []
        self._cache: list[int] | None = None

    def __call__(self, new_ids: Sequence[int], cache: list[Any]) -> np.ndarray:
        """Read ``new_ids`` and return the logits after the last of them."""
        if len(self.fed) >= self.max_calls:
            raise ToyForwardError(f"{self.max_calls} calls and no end in sight")
        if not isinstance(cache, list):
            kind = type(cache).__name__
            raise ToyForwardError(f"cache is a {kind}, expected a list")
        try:
            ids = [operator.index(i) for i in new_ids]
        except TypeError:
            text = f"new_ids is {new_ids!r}, expected a list of ids"
            raise ToyForwardError(text) from None
        if not ids:
            raise ToyForwardError("new_ids is empty: there is nothing to read")
        if self._cache is not None and cache is not self._cache:
            self.fresh_caches.append(len(self.fed) + 1)
        self._cache = cache
        self.fed.append(ids)
        cache.extend(ids)
        logits = toy_logits(self.seed, cache)
        self.best.append(int(np.argmax(logits)))
        return logits


def toy_logits(seed: int, ids: Sequence[int]) -> np.ndarray:
    """Return logits that any change of ``ids`` changes; ties do occur."""
    digest = zlib.crc32(repr((seed, list(ids))).encode())
    rng = np.random.default_rng(digest)
    return rng.integers(0, 6, VOCAB_SIZE).astype(np.float32)
