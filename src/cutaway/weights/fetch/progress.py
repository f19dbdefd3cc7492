"""A progress bar for a download, on a terminal only."""

from __future__ import annotations

import contextlib
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

_INTERVAL_S = 0.2


@contextlib.contextmanager
def watch(folder: Path, label: str, total_bytes: int) -> Iterator[None]:
    """Show how a folder grows while the block runs.

    Whatever tool downloads, its bytes arrive in the folder: so the bar
    needs no help from the tool. It is drawn on standard error, and nothing
    is drawn where that is not a terminal.

    Args:
        folder: Where the bytes arrive.
        label: What to call the work.
        total_bytes: About how large the folder will be in the end.
    """
    if not sys.stderr.isatty():
        yield
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
    )

    done = threading.Event()
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(label, total=total_bytes)

        def poll() -> None:
            while not done.wait(_INTERVAL_S):
                size = min(_folder_bytes(folder), total_bytes)
                bar.update(task, completed=size)

        thread = threading.Thread(target=poll, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()


def _folder_bytes(folder: Path) -> int:
    """Return the bytes of all files in a folder that others write to."""
    total = 0
    for path in folder.rglob("*"):
        # A file may vanish between being listed and being measured.
        with contextlib.suppress(OSError):
            total += path.lstat().st_size
    return total
