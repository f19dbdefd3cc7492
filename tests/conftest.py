"""Fixtures for every area's tests."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest


@pytest.fixture(scope="session")
def model_path() -> Path:
    """The real model's GGUF file, fetched on first use."""
    from cutaway.weights import fetch

    return fetch()


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """A headless Chromium; without one, a skip here and a failure in CI."""
    from bookcheck.site_browser import open_browser
    from cutaway.cli.browser import NoBrowserError

    try:
        with open_browser() as opened:
            yield opened
    except NoBrowserError as error:
        if os.environ.get("CI", "").lower() in ("1", "true"):
            pytest.fail(f"the site was not tested: {error}")
        pytest.skip(f"needs a browser: {error}")
