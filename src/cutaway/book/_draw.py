"""Have matplotlib draw a figure as SVG, always the same way."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

from cutaway.book import _style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw(fig: Figure, name: str) -> str:
    """Return matplotlib's SVG of a figure, and close the figure.

    Args:
        fig: The figure; its logarithmic axes get plain labels.
        name: Salt of the ids, so that two runs agree.
    """
    import matplotlib
    from matplotlib.lines import Line2D

    settings = {**_style.settings(), "svg.hashsalt": name}
    buffer = io.StringIO()
    with matplotlib.rc_context(settings):  # type: ignore[arg-type]
        for ax in fig.axes:
            _plain_log_labels(ax)
        for line in fig.findobj(Line2D):
            # A path remembers the path.simplify of the time it was made.
            line.recache(always=True)  # type: ignore[attr-defined]
        fig.savefig(buffer, format="svg", metadata={"Date": None})
    _close(fig)
    return buffer.getvalue()


def _plain_log_labels(ax: Axes) -> None:
    """Label decades as 1, 10, 100, 1000, 10⁴: no small raised digits."""
    from matplotlib.ticker import FuncFormatter, LogFormatter, NullFormatter

    for axis in (ax.xaxis, ax.yaxis):
        if isinstance(axis.get_major_formatter(), LogFormatter):
            axis.set_major_formatter(FuncFormatter(_decade))
            axis.set_minor_formatter(NullFormatter())


def _decade(value: float, position: int | None = None) -> str:
    """Write a power of ten for a tick label.

    >>> _decade(100), _decade(1e6), _decade(1e-3)
    ('100', '10⁶', '10⁻³')
    """
    raised = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
    mantissa, _, exponent = f"{value:e}".partition("e")
    if float(mantissa) != 1:
        return f"{value:g}"
    power = int(exponent)
    if 0 <= power <= 3:
        return f"{value:g}"
    return "10" + str(power).translate(raised)


def _close(fig: Figure) -> None:
    """Forget the figure if pyplot made it, so that it shows only once."""
    pyplot = sys.modules.get("matplotlib.pyplot")
    if pyplot is not None:
        pyplot.close(fig)
