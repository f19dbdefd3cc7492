"""Finding the browser: a missing one is a skip here and a failure in CI."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from cutaway.cli.browser import NoBrowserError, find_browser

ROOT = Path(__file__).resolve().parents[2]


def test_variable_names_the_browser(tmp_path, monkeypatch):
    program = tmp_path / "my-chromium"
    program.touch()
    monkeypatch.setenv("CUTAWAY_CHROMIUM", str(program))
    assert find_browser() == program


def test_variable_that_names_no_file_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("CUTAWAY_CHROMIUM", str(tmp_path / "none"))
    with pytest.raises(NoBrowserError, match="CUTAWAY_CHROMIUM: got"):
        find_browser()


@pytest.mark.parametrize(
    "name", ["google-chrome", "chromium", "chromium-browser"]
)
def test_browser_is_found_on_the_path(tmp_path, monkeypatch, name):
    program = tmp_path / name
    program.touch(mode=0o755)
    monkeypatch.delenv("CUTAWAY_CHROMIUM", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    if os.name == "nt":
        pytest.skip("programs have a suffix on Windows")
    assert find_browser() == program


@pytest.mark.parametrize(
    ("ci", "status", "verdict"),
    [("true", 1, "the site was not tested"), ("", 0, "needs a browser")],
)
def test_missing_browser_fails_only_in_ci(tmp_path, ci, status, verdict):
    page = tmp_path / "book" / "page.html"
    page.parent.mkdir()
    page.write_text("<article><h1>One</h1></article>")
    test = f"{Path(__file__).with_name('test_site_pages.py')}"
    done = subprocess.run(
        [sys.executable, "-m", "pytest", test, "-q", "-rs", "-p",
         "no:cacheprovider", "-k", "page_has_no_fault"],
        capture_output=True,
        text=True,
        cwd=ROOT,
        check=False,
        env={
            **os.environ,
            "CI": ci,
            "CUTAWAY_SITE": str(tmp_path),
            "CUTAWAY_CHROMIUM": str(tmp_path / "none"),
        },
    )  # fmt: skip
    assert done.returncode == status, done.stdout
    assert verdict in done.stdout
