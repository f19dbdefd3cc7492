"""``cutaway grade``: what has been solved so far."""

from __future__ import annotations

from typing import Annotated

import typer


def run(
    section: Annotated[
        str | None,
        typer.Argument(help="Such as flow/end_to_end; all when left out."),
    ] = None,
) -> None:
    """Show which exercises are solved.

    Examples:

    cutaway grade

    cutaway grade flow/end_to_end
    """
    from cutaway.book.grade import status

    status(section)
