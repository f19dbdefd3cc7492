"""The scale searches of ggml's k-quants, one group at a time, in float64.

Imports nothing of the package.
"""

from __future__ import annotations

import numpy as np


def importance(x: np.ndarray) -> np.ndarray:
    """How much each weight of a group counts in Q4_K and Q5_K."""
    x = x.astype(np.float64)
    return np.sqrt((x * x).sum() / len(x)) + np.abs(x)


def affine_loss(x, scale, minimum, top):
    """Weighted squared error of the nearest levels of ``s * q - m``."""
    x = x.astype(np.float64)
    q = np.zeros(len(x))
    if scale > 0:
        q = np.clip(np.rint((x + minimum) / scale), 0, top)
    return float((importance(x) * (scale * q - minimum - x) ** 2).sum())


def affine_search(x, top, first, steps):
    """Scale and minimum as make_qkx2_quants finds them."""
    x = x.astype(np.float64)
    w = importance(x)
    low, high = min(x.min(), 0.0), x.max()
    if high == low:
        return 0.0, -low

    def levels(count):
        return np.clip(np.rint(count / (high - low) * (x - low)), 0, top)

    scale = (high - low) / top
    best = (w * (scale * levels(top) + low - x) ** 2).sum()
    for step in range(steps):
        q = levels(top + first + step / 10)
        sum_w, sum_q, sum_qq = w.sum(), (w * q).sum(), (w * q * q).sum()
        sum_x, sum_qx = (w * x).sum(), (w * q * x).sum()
        determinant = sum_w * sum_qq - sum_q * sum_q
        if determinant <= 0:
            continue
        s = (sum_w * sum_qx - sum_x * sum_q) / determinant
        m = (sum_qq * sum_x - sum_q * sum_qx) / determinant
        if m > 0:
            s, m = sum_qx / sum_qq, 0.0
        loss = (w * (s * q + m - x) ** 2).sum()
        if loss < best:
            best, scale, low = loss, s, m
    return float(scale), float(-low)


def symmetric_loss(x, scale, half):
    """Squared error, weighted by squares, of the levels of ``s * q``."""
    x = x.astype(np.float64)
    q = np.zeros(len(x))
    if scale:
        q = np.clip(np.rint(x / scale), -half, half - 1)
    return float((x * x * (scale * q - x) ** 2).sum())


def symmetric_search(x, half):
    """Scale as make_qx_quants finds it, for rmse type 1."""
    x = x.astype(np.float64)
    extreme = x[np.argmax(np.abs(x))]
    if abs(extreme) < 1e-15:
        return 0.0
    scale = best = 0.0
    for step in (0, *range(-9, 0), *range(1, 10)):
        q = np.rint(-(half + step / 10) / extreme * x)
        q = np.clip(q, -half, half - 1)
        sum_xq, sum_qq = (x**3 * q).sum(), (x * x * q * q).sum()
        if sum_qq > 0 and sum_xq * sum_xq > best * sum_qq:
            scale = sum_xq / sum_qq
            best = scale * sum_xq
    return float(scale)
