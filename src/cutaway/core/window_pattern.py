"""Which layers look through a window, and which see everything."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

from cutaway.core.checks import check, check_choice

LayerKind = Literal["local", "global"]
WindowPattern = tuple[LayerKind, ...]


def check_window_pattern(pattern: object) -> None:
    """Raise unless it is a tuple of ``"local"`` and ``"global"``."""
    is_tuple = isinstance(pattern, tuple) and len(pattern) > 0
    expected = "a tuple of 'local' and 'global', at least one"
    check(is_tuple, "window_pattern", repr(pattern), expected)
    for kind in pattern if isinstance(pattern, tuple) else ():
        check_choice("window_pattern", kind, get_args(LayerKind))


def shortest_pattern(kinds: Sequence[LayerKind]) -> WindowPattern:
    """Return the fewest kinds that, repeated, give the whole list.

    >>> shortest_pattern(["local", "local", "global", "local", "local"])
    ('local', 'local', 'global')
    """
    for period in range(1, len(kinds)):
        if all(
            kind == kinds[index % period] for index, kind in enumerate(kinds)
        ):
            return tuple(kinds[:period])
    return tuple(kinds)
