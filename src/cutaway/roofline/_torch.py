"""The two loads of the measurement, in torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch


@contextmanager
def threads(num_threads: int | None) -> Iterator[int]:
    """Run with that many threads, then restore the former number."""
    before = torch.get_num_threads()
    if num_threads is not None:
        torch.set_num_threads(num_threads)
    try:
        yield torch.get_num_threads()
    finally:
        torch.set_num_threads(before)


def reader(num_bytes: int) -> tuple[Callable[[], object], int]:
    """Return a call that reads an array once, and the bytes it reads.

    The array is of ones: pages of zeros may all be one page of the
    operating system's, which stays in the cache.
    """
    array = torch.ones(num_bytes // 4, dtype=torch.float32)
    return array.sum, array.numel() * 4


def product(size: int) -> tuple[Callable[[], object], int]:
    """Return a call that multiplies two square matrices, and its FLOPs."""
    a = torch.ones(size, size, dtype=torch.float32)
    b = torch.ones(size, size, dtype=torch.float32)
    out = torch.empty(size, size, dtype=torch.float32)
    return lambda: torch.mm(a, b, out=out), 2 * size**3
