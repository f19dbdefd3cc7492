"""Fetch a model and print its path: ``python -m cutaway.weights.fetch``."""

from __future__ import annotations

import sys

from cutaway.core.errors import CutawayError
from cutaway.weights.fetch import fetch


def main(arguments: list[str]) -> int:
    """Fetch the model named, or the default one; return the exit status."""
    try:
        print(fetch(*arguments[:1], progress=True))
    except CutawayError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
