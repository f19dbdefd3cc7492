"""Where a Chromium is found: for ``doctor``, and for the tests of the site."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from cutaway.core.errors import CutawayError

VARIABLE = "CUTAWAY_CHROMIUM"
COMMANDS = (
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
)
PLACES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:/Program Files/Google/Chrome/Application/chrome.exe",
    "C:/Program Files (x86)/Google/Chrome/Application/chrome.exe",
)


class NoBrowserError(CutawayError):
    """No Chromium was found."""


def find_browser() -> Path:
    """Return a Chromium or Chrome.

    Raises:
        NoBrowserError: There is none; the message says how to name one.
    """
    named = os.environ.get(VARIABLE)
    if named:
        if not Path(named).is_file():
            raise NoBrowserError(VARIABLE, repr(named), "a file")
        return Path(named)
    for command in COMMANDS:
        if found := shutil.which(command):
            return Path(found)
    for place in PLACES:
        if Path(place).is_file():
            return Path(place)
    raise NoBrowserError(
        "browser",
        f"none of {', '.join(COMMANDS)}",
        f"one of them, or {VARIABLE} set to its path",
    )
