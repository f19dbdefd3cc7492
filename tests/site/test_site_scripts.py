"""What holds for every script of the site that is our own."""

from __future__ import annotations

import re

import pytest

from sitebook.widget_pages import STATIC

SCRIPTS = sorted((STATIC / "js").glob("*.js"))
BANNED = r"\b(import|export|fetch|XMLHttpRequest|eval|innerHTML|https?:)"


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_script_is_small_classic_and_asks_for_nothing(script):
    source = script.read_text("utf-8")
    assert len(source.encode()) <= 15_000
    code = re.sub(r"/\*.*?\*/", "", source, flags=re.S)
    code = code.replace("http://www.w3.org/2000/svg", "")
    assert re.findall(BANNED, code) == []
