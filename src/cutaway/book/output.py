"""Showing HTML in a notebook, and text everywhere else."""

from __future__ import annotations


def show_html(markup: str, text: str) -> None:
    """Display ``markup`` as one HTML output of the cell.

    Args:
        markup: An HTML fragment.
        text: What stands for it where HTML cannot be shown.
    """
    try:
        from IPython.core.getipython import get_ipython
        from IPython.display import display
    except ModuleNotFoundError:
        print(text)
        return
    if get_ipython() is None:
        print(text)
        return
    display({"text/html": markup, "text/plain": text}, raw=True)
