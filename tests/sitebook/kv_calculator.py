"""A page with the KV-cache calculator, and how to operate it.

The fixtures reach the tests through ``conftest.py``.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from cutaway.book import figure
from cutaway.book.kv_calculator import calculator_data

DATA = calculator_data("llama-3.1-8b", "h100-sxm", tokens=8192)
MODELS = [entry["name"] for entry in DATA["models"]]
SELECTS = ".cw-field select"
SLIDERS = ".cw-field input[type=range]"
OWN = ".cw-own input"


@pytest.fixture(scope="session")
def calculator_page(widget_page) -> Path:
    """The page's file."""
    fig, ax = figure.subplots()
    ax.plot([1, 2], [1, 2])
    return widget_page(
        "calculator",
        DATA,
        widget="kv-calculator",
        fig=fig,
        alt="Two lines that rise together and part where the windows end.",
    )


@pytest.fixture
def calculator(open_page, calculator_page):
    """The page, open in a browser."""
    viewport = {"width": 1000, "height": 1000}
    return open_page(calculator_page, viewport=viewport)


def choose(tab, model: str) -> None:
    """Choose a model by its name."""
    tab.locator(SELECTS).first.select_option(label=model)


def readings(tab) -> dict:
    """The table as text, by row."""
    return {
        row.locator("th").inner_text(): row.locator("td").all_text_contents()
        for row in tab.locator(".cw-table tbody tr").all()
    }


def said(tab) -> str:
    """The sentence below the panels."""
    return tab.locator(".cw-said").inner_text()
