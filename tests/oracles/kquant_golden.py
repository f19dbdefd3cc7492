"""Weights for golden vectors of the k-quants, and how those were made.

``tests/weights/kquants_by_ggml.npz`` holds what ggml 0.13.1 makes of them.
With its shared library at hand, they were made by

    x = np.ascontiguousarray(golden_weights(), np.float32)
    for name, size in (("q4_K", 144), ("q5_K", 176), ("q6_K", 210)):
        raw = np.zeros((x.size // 256, size), np.uint8)
        function = getattr(library, f"quantize_row_{name}_ref")
        function(x.ctypes.data_as(c_void_p), raw.ctypes.data_as(c_void_p),
                 c_int64(x.size))

Imports nothing of the package.
"""

from __future__ import annotations

import numpy as np


def golden_weights() -> np.ndarray:
    """64 superblocks: bell-shaped, heavy-tailed, one-sided, with zeros.

    From integer arithmetic and products only, so that the numbers are the
    same on every machine.
    """
    place = np.arange(4 * 64 * 256, dtype=np.uint64).reshape(4, 64, 256)
    mixed = (place + 1) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    uniform = (mixed >> np.uint64(40)).astype(np.float64) / 2**24 - 0.5
    x = uniform.sum(axis=0)
    x[16:32] = x[16:32] ** 3
    x[32:40] = np.abs(x[32:40])
    x[40:48] = -np.abs(x[40:48])
    x[48:56, ::3] = 0
    x[56:60, 32:] *= 0.01
    return (x * 0.05).astype(np.float32)
