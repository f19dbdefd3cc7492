"""The reader's own machine: its bandwidth and its peak, measured."""

from __future__ import annotations

import ctypes
import math
import os
import platform
import sys
import time
from collections.abc import Callable

from cutaway.core.checks import check, check_int, check_real
from cutaway.roofline.hardware import Hardware

_MIN_RUNS = 3


def best_rate(
    work: Callable[[], object],
    amount: float,
    *,
    seconds: float,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Return the best of repeated runs, as an amount per second.

    One run goes first unmeasured. The best counts, not the mean: other
    programs can only make a run slower than the machine is.

    Args:
        work: What to run.
        amount: What one run moves or computes.
        seconds: How long to repeat; at least three runs are made.
        clock: Returns seconds; injected in tests.

    Raises:
        ArgumentError: The clock does not advance.

    >>> ticks = iter(range(100))
    >>> best_rate(list, 10, seconds=2, clock=lambda: next(ticks))
    10.0
    """
    check_real("seconds", seconds, 0, open_low=True)
    work()
    best, spent, runs = math.inf, 0.0, 0
    while runs < _MIN_RUNS or spent < seconds:
        start = clock()
        work()
        elapsed = clock() - start
        check(elapsed > 0, "clock", elapsed, "a clock that advances")
        best, spent, runs = min(best, elapsed), spent + elapsed, runs + 1
    return amount / best


def measure_hardware(
    *,
    num_threads: int | None = None,
    seconds: float = 1.0,
    array_bytes: int = 2**29,
    matrix_size: int = 1024,
    clock: Callable[[], float] = time.perf_counter,
) -> Hardware:
    """Measure this machine's memory bandwidth and float32 matrix peak.

    Bandwidth is that of summing an array far larger than the caches: a
    small one would be read from them, faster than weights ever are.

    Args:
        num_threads: Threads of both measurements; None leaves torch's
            own number. Restored afterwards.
        seconds: How long to measure, half of it for each figure.
        array_bytes: Size of the array that is read.
        matrix_size: Rows and columns of the matrices multiplied.
        clock: Returns seconds; injected in tests.

    Returns:
        The machine, with a peak for ``float32`` only.

    Cost: About ``seconds`` and ``array_bytes`` of memory, once.

    >>> machine = measure_hardware(seconds=0.01, array_bytes=2**20)
    >>> machine.ridge("float32") > 0
    True
    """
    from cutaway.roofline import _torch

    check_real("seconds", seconds, 0, open_low=True)
    check_int("array_bytes", array_bytes, low=4)
    check_int("matrix_size", matrix_size, low=1)
    if num_threads is not None:
        check_int("num_threads", num_threads, low=1)
    with _torch.threads(num_threads) as threads:
        reader, moved = _torch.reader(array_bytes)
        bandwidth = best_rate(reader, moved, seconds=seconds / 2, clock=clock)
        product, flops = _torch.product(matrix_size)
        peak = best_rate(product, flops, seconds=seconds / 2, clock=clock)
    plural = "" if threads == 1 else "s"
    return Hardware(
        name=f"this machine ({threads} thread{plural})",
        peak_flops={"float32": peak},
        bandwidth_bytes_per_s=bandwidth,
        memory_bytes=physical_memory_bytes(),
        source="measured here",
        note=f"{platform.machine()}, {os.cpu_count()} logical cores",
    )


def physical_memory_bytes() -> int:
    """Return the machine's main memory, in bytes.

    >>> physical_memory_bytes() > 2**28
    True
    """
    if sys.platform == "win32":
        return _windows_memory_bytes()
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def _windows_memory_bytes() -> int:
    """Ask Windows, whose ``os`` module has no ``sysconf``."""
    kilobytes = ctypes.c_ulonglong()
    kernel32 = ctypes.CDLL("kernel32")
    kernel32.GetPhysicallyInstalledSystemMemory(ctypes.byref(kilobytes))
    return kilobytes.value * 1024
