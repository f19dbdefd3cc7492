"""The roofline as a picture: a machine's roof, and passes under it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cutaway.book.figure import PALETTE
from cutaway.core.checks import check, check_real
from cutaway.roofline import Hardware, OperatingPoint, attainable_flops

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MARKERS = "osD^vP"


def draw_roof(
    ax: Axes,
    machine: Hardware,
    dtype: str,
    *,
    low: float = 0.25,
    high: float = 4096,
) -> None:
    """Draw a machine's roof and its ridge point on logarithmic axes.

    Args:
        ax: Axes of a figure made by ``figure.subplots``; changed.
        machine: The machine.
        dtype: Which of its peaks is the flat part.
        low: Least intensity shown, in FLOP/byte.
        high: Greatest intensity shown.

    Raises:
        ArgumentError: The machine has no peak for ``dtype``, or no range
            is left.

    >>> from cutaway.book import figure
    >>> from cutaway.roofline import hardware
    >>> fig, ax = figure.subplots()
    >>> draw_roof(ax, hardware("h100-sxm"), "bfloat16")
    >>> [float(x) for x in ax.get_xlim()]
    [0.25, 4096.0]
    """
    check_real("low", low, 0, open_low=True)
    check(high > low, "high", high, f"more than low = {low:g}")
    ridge = machine.ridge(dtype)
    corners = sorted({low, min(max(ridge, low), high), high})
    roof = [attainable_flops(x, machine, dtype) for x in corners]
    ax.plot(corners, roof, color=PALETTE["grey"])
    top = machine.peak(dtype)
    ax.plot(
        [ridge, ridge], [top / 10, top], color=PALETTE["grey"], linestyle=":"
    )
    ax.set(xscale="log", yscale="log", xlim=(low, high))
    ax.set(xlabel="arithmetic intensity, FLOP/byte", ylabel="FLOP/s")


def draw_points(ax: Axes, points: Mapping[str, OperatingPoint]) -> None:
    """Draw passes as points with a legend, each at the rate it can reach.

    Args:
        ax: Axes that ``draw_roof`` drew on; changed.
        points: The passes by name; at most six.

    Raises:
        ArgumentError: There are too many points.
    """
    check(len(points) <= len(MARKERS), "points", len(points), "at most 6")
    for (name, point), marker in zip(points.items(), MARKERS, strict=False):
        ax.plot(
            [point.intensity],
            [point.flops_per_s],
            marker=marker,
            markersize=7,
            linestyle="none",
            label=name,
        )
    ax.legend(loc="lower right")
