"""pytest plugin: a skip without a reason is a failure.

A test that does not run proves nothing, so the output must say why. Loaded
by the root ``conftest.py``.
"""

from __future__ import annotations

import re
from collections.abc import Generator
from typing import Any

import pytest

# What pytest itself writes when nobody gave a reason.
NO_REASON = re.compile(r"^(Skipped:?\s*)?(unconditional skip)?$")


def has_reason(longrepr: Any) -> bool:
    """Whether a skipped report says why: ``(path, line, reason)``.

    >>> has_reason(("a.py", 1, "Skipped: no browser here"))
    True
    >>> has_reason(("a.py", 1, "Skipped: unconditional skip"))
    False
    """
    reason = longrepr[2] if isinstance(longrepr, tuple) else str(longrepr)
    return NO_REASON.match(reason.strip()) is None


def _require_reason(report: Any) -> None:
    skipped = report.outcome == "skipped" and not hasattr(report, "wasxfail")
    if skipped and not has_reason(report.longrepr):
        report.outcome = "failed"
        report.longrepr = "got a skip without a reason, expected reason='...'"


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_makereport() -> Generator[None, Any, Any]:
    """Turn a test skipped without a reason into a failure."""
    report = yield
    _require_reason(report)
    return report


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_make_collect_report() -> Generator[None, Any, Any]:
    """Turn a module skipped without a reason into an error."""
    report = yield
    _require_reason(report)
    return report
