"""The look of the book's figures: colours and matplotlib settings.

Every colour has a contrast of at least 3 to 1 against white and against
the site's dark surface, and all pairs stay apart for readers who cannot
tell red from green. Lines and text that are neither take ``INK``, which
the SVG turns into the text colour of the page around it.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

MAX_WIDTH_IN = 5.2
MIN_FONT_PT = 11

INK = "#010203"
"""Stands for the colour of the surrounding text (``currentColor``)."""

PALETTE: Mapping[str, str] = MappingProxyType(
    {
        "blue": "#1c86f1",
        "orange": "#dc6816",
        "green": "#069e64",
        "pink": "#b538ac",
        "olive": "#746529",
        "grey": "#6c6c6c",
    }
)
"""Colours by name, in the order in which plots use them."""


def settings() -> dict[str, Any]:
    """Return matplotlib's settings for a figure of the book."""
    from cycler import cycler

    inked = (
        "text.color",
        "axes.edgecolor",
        "axes.labelcolor",
        "axes.titlecolor",
        "xtick.color",
        "ytick.color",
        "xtick.labelcolor",
        "ytick.labelcolor",
        "patch.edgecolor",
        "hatch.color",
        "legend.labelcolor",
    )
    sized = (
        "font.size",
        "axes.labelsize",
        "axes.titlesize",
        "xtick.labelsize",
        "ytick.labelsize",
        "legend.fontsize",
        "legend.title_fontsize",
        "figure.titlesize",
        "figure.labelsize",
    )
    return {
        **dict.fromkeys(inked, INK),
        **dict.fromkeys(sized, MIN_FONT_PT),
        "font.family": "DejaVu Sans",
        "mathtext.fontset": "dejavusans",
        "axes.axisbelow": True,
        "axes.facecolor": "none",
        "figure.facecolor": "none",
        "savefig.facecolor": "none",
        "axes.prop_cycle": cycler(color=list(PALETTE.values())),
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.titlelocation": "left",
        "axes.unicode_minus": True,
        "axes.formatter.useoffset": False,
        "axes.formatter.use_mathtext": False,
        "figure.constrained_layout.use": True,
        "grid.color": PALETTE["grey"],
        "grid.alpha": 0.4,
        "grid.linewidth": 0.6,
        "legend.frameon": False,
        "lines.linewidth": 1.8,
        "path.simplify": False,
        "svg.fonttype": "none",
    }
