"""Teach nbval to compare numbers, and to run kernels as ``nb.py`` does.

The root ``conftest.py`` loads this for ``pytest --nbval book``; a run that
does not see that file can name it: ``pytest -p bookcheck.nbval_plugin``.
"""

from __future__ import annotations

import functools
import os
import tempfile
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from bookcheck.compare_outputs import differences, reconcile
from nbtools.environment import kernel_environment

_LONGEST = 2000
_SAVED = pytest.StashKey[dict[str, str]]()
_FOLDER = pytest.StashKey[tempfile.TemporaryDirectory[str]]()
_MARK = "_cutaway_compares_numbers"


def pytest_configure(config: pytest.Config) -> None:
    """Pin threads, hash seed and IPython profile for nbval's kernels.

    Kernels inherit the environment of pytest; it is put back at the end.
    """
    if not config.getoption("--nbval", default=False) or _SAVED in config.stash:
        return
    config.stash[_SAVED] = dict(os.environ)
    config.stash[_FOLDER] = tempfile.TemporaryDirectory()
    os.environ.update(kernel_environment(config.stash[_FOLDER].name))


def pytest_unconfigure(config: pytest.Config) -> None:
    """Put the environment back."""
    if _SAVED in config.stash:
        os.environ.clear()
        os.environ.update(config.stash[_SAVED])
        config.stash[_FOLDER].cleanup()
        del config.stash[_SAVED]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Wrap the comparison of every notebook cell; say why one is skipped."""
    if type(item).__name__ != "IPyNbCell" or hasattr(item, _MARK):
        return
    reason = item.cell.metadata.get("reason")  # type: ignore[attr-defined]
    if item.options["skip"] and reason:  # type: ignore[attr-defined]
        item.add_marker(pytest.mark.skip(reason=str(reason)))
    original = item.compare_outputs  # type: ignore[attr-defined]
    setattr(item, _MARK, True)
    item.compare_outputs = functools.partial(  # type: ignore[attr-defined]
        _compare, item, original
    )


def _compare(
    item: Any,
    original: Callable[..., bool],
    test: Sequence[Any],
    ref: Sequence[Any],
    skip_compare: tuple[str, ...] | None = None,
) -> bool:
    """Compare with agreeing values made equal, and report the first."""
    same = original(reconcile(test, ref), ref, skip_compare)
    if not same:
        report = [
            line if len(line) <= _LONGEST else line[:_LONGEST] + " [...]"
            for line in item.comparison_traceback
        ]
        item.comparison_traceback = [*differences(test, ref), *report]
    return same
