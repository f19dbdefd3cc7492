"""Build the site from the notebooks' stored outputs, and prove it is whole.

Usage: python tools/build_site.py build [--root DIR] [--out DIR] [--fresh]

``--root`` is the folder of ``_config.yml`` and ``_toc.yml`` (this repository
by default); the site goes to ``_build/html`` in ``--out`` (the root by
default). Any Sphinx warning and any page that is missing or empty fails the
build. The last line printed is the path of the site's first page.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from sitetools import SiteError, build


def main(argv: list[str] | None = None) -> int:
    """Parse the command line and build."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("build", help="build the site")
    command.add_argument("--root", type=Path, help="folder of _config.yml")
    command.add_argument("--out", type=Path, help="folder for _build/html")
    command.add_argument(
        "--fresh", action="store_true", help="rebuild every page"
    )
    arguments = parser.parse_args(argv)
    places = {
        name: value
        for name, value in (("root", arguments.root), ("out", arguments.out))
        if value is not None
    }
    started = time.perf_counter()
    try:
        site = build(**places, fresh=arguments.fresh)
    except SiteError as error:
        print(f"site: {error}", file=sys.stderr)
        return 1
    print(f"built in {time.perf_counter() - started:.1f} s")
    print(site / "index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main())
