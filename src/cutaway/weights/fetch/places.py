"""Where models are kept, and where the user says that they are."""

from __future__ import annotations

import os
from pathlib import Path

import platformdirs


def cache_dir() -> Path:
    """Return the folder for fetched models; it may not exist yet.

    ``CUTAWAY_CACHE`` names it; without, it is the user's cache folder of
    the operating system, such as ``~/.cache/cutaway``.

    >>> cache_dir().is_absolute()
    True
    """
    chosen = os.environ.get("CUTAWAY_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    return platformdirs.user_cache_path("cutaway", appauthor=False)


def models_dir() -> Path:
    """Return the folder in the cache that holds the fetched models."""
    return cache_dir() / "models"


def models_path() -> Path | None:
    """Return the file or folder that ``CUTAWAY_MODELS`` names, if any."""
    chosen = os.environ.get("CUTAWAY_MODELS")
    return Path(chosen).expanduser().absolute() if chosen else None


def stamps_dir() -> Path:
    """Return the folder in the cache that holds the results of hashing."""
    return cache_dir() / "stamps"
