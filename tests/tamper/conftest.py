"""The small book, made once, and what the checks say of it undamaged."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from tamper.copies import make_book


@pytest.fixture(scope="session")
def small_book(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The small book, executed; never changed, only copied."""
    return make_book(tmp_path_factory.mktemp("tamper") / "original")


@pytest.fixture
def copy_book(small_book: Path, tmp_path: Path) -> Callable[[], Path]:
    """A function that returns a fresh copy of the small book."""

    def copy() -> Path:
        return shutil.copytree(small_book, tmp_path / "copy")

    return copy
