"""What the chapters use beside the engine: figures, sources, exercises.

``from cutaway.book import figure, grade, show``: ``show`` is the function
that displays live source; the others are modules.
"""

from typing import TYPE_CHECKING

from cutaway.book.show import show

if TYPE_CHECKING:
    from cutaway.book import facts, figure, grade, trace

__all__ = ["facts", "figure", "grade", "show", "trace"]
