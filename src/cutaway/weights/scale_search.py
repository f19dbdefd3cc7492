"""Search the scale of a group of weights that loses least.

Spreading the levels from the least to the greatest weight is not the best
one can do: a slightly smaller range rounds all weights but the extreme ones
more finely. Both searches try a few ranges, fit the best scale to the
integers that each gives (weighted least squares), and keep the best.

The groups are rows: one call searches the scales of thousands at once.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float32

    Groups = Float32[Any, "groups elements"]
    Column = Float32[Any, "groups 1"]

# ggml takes a group below this for zero.
_NOTHING = np.float32(1e-15)


def _dot(a: Groups, b: Groups) -> Column:
    """Return the dot product of each row of a with that of b."""
    return np.einsum("ge,ge->g", a, b)[:, None]


def search_scale_and_minimum(
    x: Groups, top: int, *, first: float, steps: int
) -> tuple[Column, Column]:
    """Find s and m such that ``s * q - m`` is near x, q from 0 to top.

    Candidate k spreads ``top + first + k / 10`` levels from the best
    minimum so far to the maximum, rounds, and fits s and m to the integers.
    A weight counts the more the larger it is: by ``rms + |x|``.

    Args:
        x: The groups, one a row; not changed.
        top: The largest integer: 15 or 31.
        first: What the first candidate adds to ``top``.
        steps: Candidates, one tenth of a level apart.

    Returns:
        Scale and minimum of each group, both at least 0; scale 0 where all
        weights are equal.

    Source: ggml, src/ggml-quants.c, ``make_qkx2_quants`` and its callers.
    Differs: sums may be added up in another order.
    """
    w = np.abs(x)
    w += np.sqrt(_dot(x, x) / np.float32(x.shape[1]))
    sum_w, sum_x = w.sum(axis=1, keepdims=True), _dot(w, x)
    least = np.minimum(x.min(axis=1, keepdims=True), 0)
    high = x.max(axis=1, keepdims=True)
    scale = (high - least) / np.float32(top)
    q, rest = np.empty_like(x), np.empty_like(x)

    def round_with(levels: float) -> None:
        span = high - least
        unit = np.float32(levels) / np.where(span > 0, span, np.inf)
        np.subtract(x, least, out=q)
        np.multiply(q, unit.astype(np.float32), out=q)
        np.rint(q, out=q)
        np.clip(q, 0, top, out=q)

    def loss(s: Column, m: Column) -> Column:
        np.multiply(q, s, out=rest)
        np.add(rest, m, out=rest)
        np.subtract(rest, x, out=rest)
        return np.einsum("ge,ge,ge->g", w, rest, rest)[:, None]

    round_with(top)
    best = loss(scale, least)
    for step in range(steps):
        round_with(top + first + step / 10)
        np.multiply(q, w, out=rest)
        sum_q, sum_qq = rest.sum(axis=1, keepdims=True), _dot(rest, q)
        sum_qx = _dot(rest, x)
        s, m = _fit_line(sum_w, sum_x, sum_q, sum_qq, sum_qx)
        found = loss(s, m)
        better = found < best
        best = np.where(better, found, best)
        scale, least = np.where(better, s, scale), np.where(better, m, least)
    return scale, -least


def _fit_line(
    sum_w: Column, sum_x: Column, sum_q: Column, sum_qq: Column, sum_qx: Column
) -> tuple[Column, Column]:
    """Fit x by s * q + m in weighted least squares, with m at most 0.

    NaN where all q are equal: no line is determined.
    """
    determinant = sum_w * sum_qq - sum_q * sum_q
    with np.errstate(divide="ignore", invalid="ignore"):
        s = (sum_w * sum_qx - sum_x * sum_q) / determinant
        m = (sum_qq * sum_x - sum_q * sum_qx) / determinant
        through_zero = sum_qx / sum_qq
    s = np.where(m > 0, through_zero, s)
    m = np.minimum(m, 0)
    s[determinant <= 0] = np.nan
    return s, m


def search_scale(x: Groups, half: int) -> Column:
    """Find s such that ``s * q`` is near x, q from -half to half - 1.

    Candidates map the element of largest magnitude to -half and to nine
    tenths of a level more and less. A weight counts by its square.

    Args:
        x: The groups, one a row; not changed.
        half: 32 for six bits.

    Returns:
        Scale of each group, of either sign; 0 for a group of zeros.

    Source: ggml, src/ggml-quants.c, ``make_qx_quants`` with rmse type 1.
    Differs: sums may be added up in another order.
    """
    place = np.abs(x).argmax(axis=1, keepdims=True)
    extreme = np.take_along_axis(x, place, axis=1)
    nothing = np.abs(extreme) < _NOTHING
    unit = np.where(nothing, 0, -1 / np.where(nothing, 1, extreme))
    w = x * x
    wx = w * x
    q, wq = np.empty_like(x), np.empty_like(x)
    scale = best = np.zeros_like(extreme)
    for step in (0, *range(-9, 0), *range(1, 10)):
        np.multiply(x, np.float32(half + step / 10) * unit, out=q)
        np.rint(q, out=q)
        np.clip(q, -half, half - 1, out=q)
        np.multiply(w, q, out=wq)
        sum_xq, sum_qq = _dot(wx, q), _dot(wq, q)
        better = (sum_qq > 0) & (sum_xq * sum_xq > best * sum_qq)
        s = sum_xq / np.where(sum_qq > 0, sum_qq, 1)
        scale = np.where(better, s, scale)
        best = np.where(better, s * sum_xq, best)
    return scale
