"""Every page of the built site, opened in a browser."""

from __future__ import annotations

import pytest

from bookcheck.site import BEHAVIOURS, check_behaviour, visit, visited_pages

pytestmark = pytest.mark.browser


def listed(findings) -> str:
    return "\n".join(str(finding) for finding in findings)


def test_page_has_no_fault(site, browser, page_name):
    findings = visit(browser, site.folder, page_name)
    assert not findings, listed(findings)


@pytest.mark.parametrize("name", BEHAVIOURS)
def test_site_works(site, browser, name):
    findings = check_behaviour(browser, site, name)
    assert not findings, listed(findings)


def test_no_page_stays_closed(site, request):
    opened = {
        item.callspec.params["page_name"]
        for item in request.session.items
        if "page_name" in getattr(item, "fixturenames", ())
    }
    assert set(visited_pages(site)) == opened
