"""Which exercises a learner has solved, in one small local file.

The file is JSON in the user's data folder, or where
``CUTAWAY_PROGRESS_FILE`` points. Nothing is written when
``CUTAWAY_PROGRESS=off`` or ``CI=true``, so that the outputs stored in the
book never depend on it.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import platformdirs
from filelock import FileLock

from cutaway.core.errors import CutawayError

FORMAT_VERSION = 1


class ProgressError(CutawayError):
    """The progress file holds something else."""


@dataclass(frozen=True)
class Entry:
    """What is known about one exercise.

    Attributes:
        tries: Answers checked; an unanswered exercise does not count.
        solved: Whether one of them was right.
    """

    tries: int
    solved: bool


def progress_file(environ: Mapping[str, str] = os.environ) -> Path | None:
    """Return the file's path, or None when progress is off.

    >>> progress_file({"CI": "true"}) is None
    True
    """
    switch = environ.get("CUTAWAY_PROGRESS", "").lower()
    if switch == "off" or environ.get("CI", "").lower() in ("true", "1"):
        return None
    chosen = environ.get("CUTAWAY_PROGRESS_FILE")
    if chosen:
        return Path(chosen)
    return platformdirs.user_data_path("cutaway", False) / "progress.json"


def load(path: Path) -> dict[str, Entry]:
    """Read the file; one that does not exist is empty.

    Raises:
        ProgressError: The file is no progress file.
    """
    try:
        content = json.loads(path.read_text("utf-8"))
        if content["version"] != FORMAT_VERSION:
            raise ValueError(f"version {content['version']}")
        return {
            str(name): Entry(int(entry["tries"]), bool(entry["solved"]))
            for name, entry in content["exercises"].items()
        }
    except FileNotFoundError:
        return {}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ProgressError(
            str(path), f"unreadable ({error})", "progress in JSON, version 1"
        ) from None


def record(path: Path, exercise_id: str, solved: bool) -> str:
    """Count one try; return a notice for the learner, mostly empty.

    The file is replaced in one step, under a lock, so that two notebooks
    can write at once and an interruption leaves the old file. A file that
    cannot be read is set aside, never overwritten.

    Args:
        path: The progress file; its folder is made.
        exercise_id: Which exercise.
        solved: Whether this answer was right; once solved stays solved.
    """
    notice = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{path}.lock", timeout=10):
            try:
                entries = load(path)
            except ProgressError as error:
                aside = path.with_suffix(".broken")
                os.replace(path, aside)
                notice = f"Progress starts anew: {error}. Kept as {aside}."
                entries = {}
            old = entries.get(exercise_id, Entry(0, False))
            entries[exercise_id] = Entry(old.tries + 1, old.solved or solved)
            _write(path, entries)
    except OSError as error:  # filelock's Timeout is one
        notice = f"Progress was not saved: {error}."
    return notice


def _write(path: Path, entries: Mapping[str, Entry]) -> None:
    exercises = {
        name: {"tries": entry.tries, "solved": entry.solved}
        for name, entry in sorted(entries.items())
    }
    content = {"version": FORMAT_VERSION, "exercises": exercises}
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=1)
        os.replace(temporary, path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise
