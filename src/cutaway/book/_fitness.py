"""What a figure must be to go on a page: small, legible, described."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.book._style import MAX_WIDTH_IN, MIN_FONT_PT
from cutaway.book._svg import font_sizes
from cutaway.core.checks import check, check_int
from cutaway.core.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MAX_POINTS = 500
MAX_CELLS = 2500


def check_sentence(alt: str) -> None:
    """Refuse an alt text that is a label or a file name."""
    words = alt.split()
    fits = (
        len(words) >= 5
        and (alt[0].isupper() or alt[0].isdigit())
        and alt[-1] in ".!?"
        and "\n" not in alt
    )
    check(
        fits,
        "alt",
        repr(alt),
        "one sentence of at least five words that says what is to be seen",
    )


def check_size(fig: Figure) -> None:
    """Refuse what would make the output large or wide."""
    from matplotlib.collections import Collection
    from matplotlib.image import AxesImage
    from matplotlib.lines import Line2D

    width = fig.get_figwidth()
    check(
        width <= MAX_WIDTH_IN + 1e-9,
        "figure width",
        f"{width:g} in",
        f"<= {MAX_WIDTH_IN} in",
    )
    for artist in fig.findobj(lambda each: each.get_visible()):
        if isinstance(artist, Line2D):
            points = len(artist.get_xydata())  # type: ignore[arg-type]
            check_int("points of a line", points, low=0, high=MAX_POINTS)
        elif isinstance(artist, Collection):
            cells = max(
                len(artist.get_paths()),
                len(artist.get_offsets()),  # type: ignore[arg-type]
            )
            check_int("cells of a collection", cells, low=0, high=MAX_CELLS)
        elif isinstance(artist, AxesImage):
            raise ArgumentError("fig", "an image", "cells: figure.heatmap()")


def check_labels(fig: Figure) -> None:
    """Refuse a title, label or note that leaves the figure."""
    from matplotlib.text import Text

    edge = fig.bbox.padded(2)
    texts = [*fig.texts]
    for ax in fig.axes:
        texts += [c for c in ax.get_children() if isinstance(c, Text)]
        texts += [ax.xaxis.label, ax.yaxis.label]
    for text in texts:
        if not (text.get_visible() and text.get_text().strip()):
            continue
        box = text.get_window_extent()
        inside = (
            box.x0 >= edge.x0
            and box.y0 >= edge.y0
            and box.x1 <= edge.x1
            and box.y1 <= edge.y1
        )
        check(inside, "label", repr(text.get_text()), "inside the figure")


def check_svg(svg: str) -> None:
    """Refuse pixels and small print in the finished picture."""
    check(
        "<image" not in svg,
        "fig",
        "pixels",
        "vectors: heatmap() in place of imshow, a colour bar of <= 50 steps",
    )
    smallest = min(font_sizes(svg), default=MIN_FONT_PT)
    check(
        smallest >= MIN_FONT_PT,
        "font size",
        f"{smallest:g} pt",
        f">= {MIN_FONT_PT} pt (exponents included: write 10⁴ as a character)",
    )
