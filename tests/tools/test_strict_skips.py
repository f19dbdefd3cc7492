"""A skip without a reason turns the run red; one with a reason does not."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

TOOLS = Path(__file__).resolve().parents[2] / "tools"


@pytest.fixture
def run(tmp_path):
    def run_test(body):
        (tmp_path / "test_it.py").write_text(f"import pytest\n{body}\n")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "strict_skips"]
        done = subprocess.run(
            [*command, "-p", "no:cacheprovider", str(tmp_path / "test_it.py")],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            env={"PYTHONPATH": str(TOOLS)},
            check=False,
        )
        return done.returncode, done.stdout

    return run_test


@pytest.mark.parametrize(
    "body",
    [
        "def test_a():\n    pytest.skip()",
        "@pytest.mark.skip\ndef test_a():\n    pass",
        "pytest.skip(allow_module_level=True)",
    ],
)
def test_skip_without_a_reason_fails(run, body):
    status, output = run(body)
    assert status != 0, output
    assert "without a reason" in output


@pytest.mark.parametrize(
    "body",
    [
        "def test_a():\n    pytest.skip('needs a browser')",
        "@pytest.mark.skip(reason='slow')\ndef test_a():\n    pass",
        "@pytest.mark.xfail(reason='known')\ndef test_a():\n    assert 0",
    ],
)
def test_skip_with_a_reason_passes(run, body):
    status, output = run(body)
    assert status == 0, output
