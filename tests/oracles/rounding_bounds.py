"""How far a quantised cache may be off, from the ranges of the data alone.

Each function takes rows ``[tokens, heads, width]`` and returns what is
broadcast against them. The formulas are those the package states; steps are
rounded up to float16, by at most one part in 1024 or its smallest number.
"""

from __future__ import annotations

import numpy as np


def rounded_up(step):
    return step * (1 + 2.0**-10) + 2.0**-24


def slack(rows):
    """For the arithmetic of float32."""
    return 2.0**-20 * np.abs(rows).max(initial=0)


def symmetric(bits, rows, which):
    """Half of amax / (2**(bits-1) - 1), of each token and head."""
    rows = rows.astype(float)
    amax = np.abs(rows).max(axis=-1, keepdims=True, initial=0)
    return rounded_up(amax / (2 ** (bits - 1) - 1)) / 2 + slack(rows)


def float8(form, rows, which):
    """Half of 2**-m of a number, or of the smallest; more if it is larger."""
    mantissa, smallest, largest = {
        "e4m3": (3, 2.0**-9, 448.0),
        "e5m2": (2, 2.0**-16, 57344.0),
    }[form]
    size = np.abs(rows.astype(float))
    near = np.maximum(size * 2.0**-mantissa, smallest) / 2
    return np.maximum(near, size - largest)


def kivi(bits, group, rows, which):
    """Half of range / (2**bits - 1).

    A range is that of a group of tokens in one channel of a key, that of a
    group of channels in one token of a value. Minima are rounded as well.
    """
    rows = rows.astype(float)
    axis = 0 if which == "k" else 2
    out = np.zeros(rows.shape)
    for start in range(0, rows.shape[axis], group):
        index = [slice(None)] * 3
        index[axis] = slice(start, start + group)
        part = rows[tuple(index)]
        low = part.min(axis=axis, keepdims=True)
        span = part.max(axis=axis, keepdims=True) - low
        span = span + np.abs(low) * 2.0**-10 + 2.0**-24
        out[tuple(index)] = rounded_up(span / (2**bits - 1)) / 2
    return out + slack(rows)
