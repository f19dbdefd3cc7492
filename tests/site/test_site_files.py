"""The built site's files: links, texts for screen readers, heads, lists."""

from __future__ import annotations

import pytest

from bookcheck.site import FILE_CHECKS

# Needs the built site, so it runs with the tests that open it.
pytestmark = pytest.mark.browser


@pytest.mark.parametrize("name", FILE_CHECKS)
def test_files_have_no_fault(site, name):
    findings = list(FILE_CHECKS[name](site))
    assert not findings, "\n".join(map(str, findings))


def test_site_has_pages_of_text(site):
    assert site.text


def test_icon_fonts_of_the_theme_are_not_shipped(site):
    static = site.folder / "_static"
    assert not list(static.rglob("*fontawesome*"))
    assert not list(static.rglob("*.map"))
    fonts = list((static / "icons").glob("*.woff2"))
    assert fonts
    assert sum(font.stat().st_size for font in fonts) < 10_000


def test_mathjax_is_shipped_in_part(site):
    parts = list((site.folder / "_static" / "mathjax").rglob("*.*"))
    assert 10 < len(parts) < 60
    assert sum(part.stat().st_size for part in parts) < 1_500_000


def test_pages_without_formulas_do_not_name_mathjax(site):
    for page in site.text.values():
        has_math = page.soup.select_one("article .math") is not None
        assert ("mathjax/startup.js" in str(page.soup)) == has_math, page.name


def test_every_icon_in_use_is_in_the_subset(site):
    sheet = (site.folder / "_static" / "icons" / "icons.css").read_text()
    families = {"fa-solid", "fa-regular", "fa-brands", "fa-lg"}
    used = {
        name
        for page in site.pages.values()
        for icon in page.soup.select("i[class*='fa-']")
        for name in icon["class"]
        if name.startswith("fa-") and name not in families
    }
    assert len(used) > 5
    assert [name for name in used if f".{name}:before" not in sheet] == []
