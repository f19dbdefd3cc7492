"""Decide whether a file is the one that was pinned, quickly if possible.

Hashing 98 MB takes a tenth of a second or more, so a good result is
remembered in a *stamp*: a small file beside the cache that holds hash, size
and time of change. While size and time agree, the stamp is believed; if they
do not, or there is no stamp, the file is hashed again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from pathlib import Path


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def mismatch(path: Path, sha256: str, stamps: Path) -> str | None:
    """Say how a file differs from the pinned one; None if it does not.

    Args:
        path: The file.
        sha256: The hash it must have.
        stamps: Folder of the stamps. It is made if need be; if it cannot
            be written, the file is hashed on every call.

    Returns:
        ``None``, or a phrase that names the hash found and the one wanted.
    """
    facts = _facts(path, sha256)
    if _read(_stamp_path(path, stamps)) == facts:
        return None
    found = sha256_of(path)
    if found != sha256:
        return f"{path}: sha256 is {found}, expected {sha256}"
    _write(_stamp_path(path, stamps), facts)
    return None


def remember(path: Path, sha256: str, stamps: Path) -> None:
    """Stamp a file that has just been hashed."""
    _write(_stamp_path(path, stamps), _facts(path, sha256))


def _facts(path: Path, sha256: str) -> dict[str, str | int]:
    state = path.stat()
    return {
        "path": str(path.resolve()),
        "sha256": sha256,
        "size": state.st_size,
        "mtime_ns": state.st_mtime_ns,
    }


def _write(stamp: Path, facts: dict[str, str | int]) -> None:
    """Write a stamp so that a reader sees all of it or nothing."""
    partial = stamp.with_name(f"{stamp.name}.{os.getpid()}")
    # A cache that cannot be written costs time, not trust.
    with contextlib.suppress(OSError):
        stamp.parent.mkdir(parents=True, exist_ok=True)
        partial.write_text(json.dumps(facts), encoding="utf-8")
        partial.replace(stamp)


def _stamp_path(path: Path, stamps: Path) -> Path:
    key = hashlib.sha256(str(path.resolve()).encode()).hexdigest()[:16]
    return stamps / f"{path.name}.{key}.json"


def _read(stamp: Path) -> object:
    """Return what a stamp says; None if it is absent or damaged."""
    try:
        return json.loads(stamp.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
