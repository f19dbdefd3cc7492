"""Run jupyter-book so that no warning passes and nothing stale stays."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

from filelock import FileLock

from .inputs import EXTENSIONS, TOOLS, fingerprint
from .whole import missing_pages

ROOT = TOOLS.parent
COLOURS = re.compile(r"\x1b\[[0-9;]*m")


class SiteError(Exception):
    """The site could not be built, or pages are missing from it."""


def run_jupyter_book(root: Path, out: Path) -> None:
    """Run jupyter-book; raise if it warned or failed."""
    start = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", start, "build"]
    command += [str(root), "--path-output", str(out)]
    command += ["-W", "-n", "--keep-going", "--quiet"]
    inherited = os.environ.get("PYTHONPATH")
    path = [
        str(EXTENSIONS),
        str(EXTENSIONS.parent),
        *([inherited] if inherited else []),
    ]
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(path),
        "PYTHONUTF8": "1",
        "NO_COLOR": "1",
    }
    done = subprocess.run(
        command,
        env=environment,
        cwd=root,
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
    )
    if done.returncode:
        output = COLOURS.sub("", done.stdout).strip()
        raise SiteError(
            f"jupyter-book: got exit status {done.returncode}, expected 0\n"
            f"{output}"
        )


def build(
    root: Path = ROOT, out: Path | None = None, *, fresh: bool = False
) -> Path:
    """Build a book's site, or reuse the one that is there.

    Nothing runs if no input changed since the last good build. Only changed
    pages are rebuilt if only pages changed. All is rebuilt if the layout
    changed, or if the last build failed: Sphinx reports a page's warnings
    only when it reads that page.

    Args:
        root: Folder of ``_config.yml`` and ``_toc.yml``.
        out: Folder in which ``_build/html`` is made; ``root`` if None.
        fresh: Rebuild everything.

    Returns:
        The site's folder.

    Raises:
        SiteError: Sphinx warned or failed, or a page is missing or empty.
    """
    root = root.resolve()
    for name in ("_config.yml", "_toc.yml"):
        if not (root / name).is_file():
            raise SiteError(f"{root}: got no {name}, expected one")
    work = (out or root).resolve() / "_build"
    site, stamp = work / "html", work / "site.json"
    work.mkdir(parents=True, exist_ok=True)
    with FileLock(work / "site.lock"):
        now = fingerprint(root)
        last = json.loads(stamp.read_text()) if stamp.exists() else {}
        if now == last and not fresh and not missing_pages(root, site):
            return site
        stamp.unlink(missing_ok=True)
        if fresh or {**now, "pages": ""} != {**last, "pages": ""}:
            shutil.rmtree(site, ignore_errors=True)
            shutil.rmtree(work / ".doctrees", ignore_errors=True)
        run_jupyter_book(root, work.parent)
        if faults := missing_pages(root, site):
            raise SiteError("\n".join(faults))
        stamp.write_text(json.dumps(now))
    return site
