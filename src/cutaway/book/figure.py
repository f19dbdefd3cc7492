"""Figures as inline SVG: the same data gives the same bytes.

``subplots`` makes the axes in the book's style, any matplotlib call draws
on them, ``show`` puts the picture on the page. nbval compares it like
every other output, so a figure cannot go stale. What would make an output
large, unstable or illegible on a phone is refused.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cutaway.book import _style, _svg
from cutaway.book._draw import draw
from cutaway.book._fitness import (
    MAX_CELLS,
    check_labels,
    check_sentence,
    check_size,
    check_svg,
)
from cutaway.book._style import MAX_WIDTH_IN, PALETTE
from cutaway.book.output import show_html
from cutaway.core.checks import check, check_int, check_real

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import QuadMesh
    from matplotlib.figure import Figure

__all__ = ["PALETTE", "heatmap", "render", "show", "subplots"]

_NAME = re.compile(r"^[a-z][a-z0-9]*(-[a-z0-9]+)*$")


def subplots(
    nrows: int = 1,
    ncols: int = 1,
    *,
    width_in: float = MAX_WIDTH_IN,
    height_in: float | None = None,
    **kw: Any,
) -> tuple[Figure, Any]:
    """Make a figure and its axes, as ``plt.subplots`` does.

    matplotlib reads its settings when an artist is made, so this sets the
    book's style for the session. No pyplot figure is made: nothing shows
    twice and nothing needs closing.

    Args:
        nrows: Rows of axes.
        ncols: Columns of axes.
        width_in: Width in inches, at most 5.2: what a phone still shows.
        height_in: Height in inches; 3 for one row and 2.2 for each more.
        **kw: Passed to ``Figure.subplots`` (``sharex``, ``width_ratios``).

    Returns:
        The figure, and one axes or an array of them.

    Raises:
        ArgumentError: A size is out of range.

    >>> fig, ax = subplots(height_in=2)
    >>> [line] = ax.plot([1, 2, 3])
    """
    import matplotlib
    from matplotlib.figure import Figure

    check_int("nrows", nrows, low=1)
    check_int("ncols", ncols, low=1)
    if height_in is None:
        height_in = 3 + 2.2 * (nrows - 1)
    width = check_real("width_in", width_in, 1, MAX_WIDTH_IN)
    height = check_real("height_in", height_in, 0.5, 12)
    matplotlib.rcParams.update(_style.settings())  # type: ignore[arg-type]
    fig = Figure(figsize=(width, height))
    return fig, fig.subplots(nrows, ncols, **kw)


def heatmap(
    ax: Axes, values: Any, *, label: str | None = None, colours: int = 16
) -> QuadMesh:
    """Draw a matrix as coloured cells, row 0 on top.

    The cells are vectors: an image would be pixels that nbval skips.

    Args:
        ax: Axes of a figure made by ``subplots``.
        values: Matrix ``[rows, columns]`` of at most 2,500 cells.
        label: What the colours mean; None draws no colour bar.
        colours: Steps of the colour scale, 2 to 50.

    Raises:
        ArgumentError: The matrix is too large or no matrix.

    >>> fig, ax = subplots()
    >>> mesh = heatmap(ax, [[0.0, 1.0], [0.5, 0.5]])
    """
    import matplotlib
    import numpy as np

    matrix = np.asarray(values)
    check(matrix.ndim == 2, "values.ndim", matrix.ndim, "2")
    check_int("values.size", matrix.size, low=1, high=MAX_CELLS)
    check_int("colours", colours, low=2, high=50)
    scale = matplotlib.colormaps["viridis"].resampled(colours)
    mesh = ax.pcolormesh(
        np.arange(matrix.shape[1] + 1) - 0.5,
        np.arange(matrix.shape[0] + 1) - 0.5,
        matrix,
        cmap=scale,
    )
    ax.invert_yaxis()
    if label is not None:
        bar = ax.figure.colorbar(mesh, ax=ax, label=label)
        bar.outline.set_visible(False)  # type: ignore[reportCallIssue]
    return mesh


def show(fig: Figure, *, name: str, alt: str) -> None:
    """Put a figure on the page as inline SVG.

    nbval compares the SVG with the stored one, coordinates within
    0.05 px. Follow it with an assert on the plotted data: the claim of
    the picture, in code.

    Args:
        fig: A figure made by ``subplots``; closed if pyplot made it.
        name: Unique on its page; lower-case words joined by hyphens.
        alt: One sentence that says what the picture shows.

    Raises:
        ArgumentError: As for ``render``.

    >>> fig, ax = subplots()
    >>> [line] = ax.plot([1, 2, 4])
    >>> show(fig, name="doubling", alt="A line that doubles at every step.")
    Figure doubling: A line that doubles at every step.
    """
    show_html(render(fig, name=name, alt=alt), f"Figure {name}: {alt}")


def render(fig: Figure, *, name: str, alt: str) -> str:
    """Return a figure as an SVG element, the same for the same data.

    The SVG carries no date and no version. Its ids are numbered and
    prefixed with the name, its coordinates have two decimals, and it
    takes the text colour of the page. It shrinks with a narrow screen.

    Args:
        fig: A figure made by ``subplots``; closed if pyplot made it.
        name: Unique on its page; lower-case words joined by hyphens.
        alt: One sentence that says what the picture shows.

    Raises:
        ArgumentError: The name or the sentence is unfit, a line has more
            than 500 points, a heat map more than 2,500 cells, a font is
            below 11 points, a label leaves the figure, the figure is
            wider than 5.2 inches, or it holds pixels.

    Cost: a few tenths of a second and some tens of kilobytes.

    >>> fig, ax = subplots()
    >>> svg = render(fig, name="empty", alt="Axes that hold no data yet.")
    >>> svg.startswith('<svg class="cutaway-figure"')
    True
    """
    check(bool(_NAME.match(name)), "name", repr(name), "such as 'time-split'")
    check_sentence(alt)
    check_size(fig)
    drawn = draw(fig, name)
    check_labels(fig)
    svg = _svg.clean(drawn, name, alt)
    check_svg(svg)
    return svg
