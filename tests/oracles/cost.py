"""What a call costs in processor time and memory, on a busy machine."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable


def cpu_seconds(work: Callable[[], object], limit_s: float) -> float:
    """Processor time of ``work``, the least of at most three tries.

    One try under the limit is enough. A collection of the whole process's
    garbage may fall into a try; it does not fall into three in a row.
    """
    least = float("inf")
    for _ in range(3):
        start = time.process_time()
        work()
        least = min(least, time.process_time() - start)
        if least < limit_s:
            break
    return least


def peak_bytes(work: Callable[[], object]) -> int:
    """The most memory that Python and NumPy held at once for ``work``."""
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
