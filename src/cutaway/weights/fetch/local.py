"""Find a model that is already on this machine, and check it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from cutaway.core.errors import CutawayError
from cutaway.weights.fetch.catalog import ModelSource
from cutaway.weights.fetch.places import models_dir, models_path, stamps_dir
from cutaway.weights.fetch.trust import mismatch


class FetchError(CutawayError):
    """A model could not be had: what to put where, and what was tried.

    Attributes:
        tried: What each place answered, one text a place.
    """

    def __init__(
        self, name: str, got: object, expected: str, tried: Sequence[str] = ()
    ) -> None:
        super().__init__(name, got, expected)
        self.tried = tuple(tried)

    def __str__(self) -> str:
        places = "".join(f"\n  - {answer}" for answer in self.tried)
        return super().__str__() + (f"\nTried:{places}" if places else "")


def from_variable(source: ModelSource) -> Path | str:
    """Find the file where ``CUTAWAY_MODELS`` points.

    The variable names the file itself, under any name, or a folder that
    holds it, directly or one level down.

    Returns:
        The file, used in place and never changed; or why there is none.

    Raises:
        FetchError: The file there is not the pinned one. Whoever sets the
            variable wants that file: to take another would hide a mistake.
    """
    chosen = models_path()
    if chosen is None:
        return "CUTAWAY_MODELS is not set"
    try:
        for path in _candidates(chosen, source.file_name):
            wrong = mismatch(path, source.file_sha256, stamps_dir())
            if wrong is None:
                return path
            raise FetchError(
                f"CUTAWAY_MODELS, model {source.name}",
                wrong,
                f"the file with sha256 {source.file_sha256}",
            )
    except OSError as error:
        return f"CUTAWAY_MODELS: {error}"
    return f"CUTAWAY_MODELS: no {source.file_name} in {chosen}"


def from_cache(source: ModelSource, *, remove_bad: bool) -> Path | str:
    """Find the file in the cache.

    Args:
        source: The file wanted.
        remove_bad: Delete a file of that name with another hash. Only for
            the holder of the lock: another process may be replacing it.

    Returns:
        The file, or why there is none.
    """
    path = models_dir() / source.file_name
    try:
        if not path.is_file():
            return f"cache: no {source.file_name} in {path.parent}"
        wrong = mismatch(path, source.file_sha256, stamps_dir())
        if wrong is None:
            return path
        if not remove_bad:
            return f"cache: {wrong}"
        path.unlink()
        return f"cache: {wrong}; the file was removed"
    except OSError as error:
        return f"cache: {error}"


def _candidates(chosen: Path, file_name: str) -> list[Path]:
    if chosen.is_file():
        return [chosen] if chosen.suffix != ".whl" else []
    places = [chosen / file_name, *sorted(chosen.glob(f"*/{file_name}"))]
    return [path for path in places if path.is_file()]
