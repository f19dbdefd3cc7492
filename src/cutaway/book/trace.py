"""Traces: small data from the package that drive interactive figures.

``emit`` puts one output on the page: a static picture, and beside it the
data as JSON. The site's script turns the two into a widget. Without
JavaScript, in print and in Jupyter the picture stays.
"""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from cutaway.book.output import show_html
from cutaway.book.token_steps import token_figure, token_steps
from cutaway.core.checks import check
from cutaway.core.errors import ArgumentError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["MAX_BYTES", "emit", "to_json", "token_figure", "token_steps"]

MAX_BYTES = 100_000
DIGITS = 5
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def emit(
    name: str,
    data: Mapping[str, Any],
    *,
    widget: str,
    fig: Figure | str,
    alt: str,
    caption: str | None = None,
) -> None:
    """Show a figure that the site's script makes interactive.

    Args:
        name: Unique on its page; lower-case words joined by hyphens.
        data: What the widget needs: mappings, lists, arrays, numbers, text.
            Floats are cut to 5 significant digits.
        widget: Which widget to build: the name of a script, such as
            ``token-stepper`` for ``widget-token-stepper.js``.
        fig: The static picture: a figure of ``figure.subplots``, or SVG.
        alt: What the static picture shows, in one sentence.
        caption: A line below; plain text.

    Raises:
        ArgumentError: A name is unfit, the data hold something that JSON
            lacks (NaN included), or all of it is over 100 kB.
    """
    for label, value in (("name", name), ("widget", widget)):
        fits = isinstance(value, str) and _NAME.fullmatch(value) is not None
        check(fits, label, repr(value), "such as 'token-stepper'")
    if isinstance(fig, str):
        check(fig.startswith("<svg"), "fig", repr(fig[:20]), "<svg ...")
        picture = fig
    else:
        from cutaway.book.figure import render

        picture = render(fig, name=name, alt=alt)
    below = ""
    if caption:
        below = f"<figcaption>{html.escape(caption, False)}</figcaption>\n"
    markup = (
        f'<figure class="cutaway-widget">\n'
        f'<div class="cutaway-static">{picture}</div>\n'
        f'<script type="application/json" data-widget="{widget}">'
        f"{to_json(data)}</script>\n"
        f"{below}</figure>"
    )
    size = len(markup.encode())
    check(size <= MAX_BYTES, "size in bytes", size, f"<= {MAX_BYTES}")
    show_html(markup, f"Figure {name}: {alt}")


def to_json(data: Any) -> str:
    """Return compact JSON that is safe inside a ``<script>`` element.

    Raises:
        ArgumentError: A value has no JSON form; its path is named.

    >>> to_json({"p": np.float32(1 / 3), "text": "</script>"})
    '{"p":0.33333,"text":"\\\\u003c/script>"}'
    """
    plain = _plain(data, "data")
    text = json.dumps(plain, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c")


def _plain(value: Any, path: str) -> Any:
    """Return plain lists, dicts, numbers and text; floats shortened."""
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, Mapping):
        return {
            str(key): _plain(item, f"{path}.{key}")
            for key, item in value.items()
        }
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [
            _plain(item, f"{path}[{index}]") for index, item in enumerate(value)
        ]
    if isinstance(value, (int, np.integer)):
        return int(value)
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, (float, np.floating)):
        check(math.isfinite(value), path, value, "a finite number")
        return _shortened(float(value))
    kind = type(value).__name__
    raise ArgumentError(path, f"a {kind}", "a number, text, list or mapping")


def _shortened(value: float) -> float | int:
    """Cut to 5 significant digits; a whole number loses its ``.0``."""
    short = float(f"{value:.{DIGITS}g}")
    return int(short) if short == int(short) and abs(short) < 1e15 else short
