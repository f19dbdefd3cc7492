"""Fixtures for every area's tests."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def model_path() -> Path:
    """The real model's GGUF file, fetched on first use."""
    from cutaway.weights import fetch

    return fetch()
