"""The lock serves every platform and never the machine that made it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import lock

LINES = lock.LOCK.read_text().splitlines()
PINS = [line for line in LINES if re.match(r"[A-Za-z0-9]", line)]


def test_lock_has_pins():
    assert len(PINS) > 100


def test_lock_names_neither_torch_nor_cuda_libraries():
    assert [pin for pin in PINS if lock.DROPPED.match(pin)] == []


def test_lock_names_no_local_version():
    assert [pin for pin in PINS if re.search(r"==[^ ;]*\+", pin)] == []


def test_every_pin_is_exact_and_hashed():
    text = lock.LOCK.read_text()
    entries = re.split(r"\n(?=[A-Za-z0-9])", text)[1:]
    assert len(entries) == len(PINS)
    for entry in entries:
        assert re.match(r"[a-z0-9][a-z0-9._-]*==", entry), entry[:60]
        assert "--hash=sha256:" in entry, entry[:60]


def test_lock_names_no_host():
    assert "://" not in lock.LOCK.read_text()


def test_triton_is_pinned_for_linux_as_torch_requires():
    found = [pin for pin in PINS if pin.startswith("triton==")]
    assert len(found) == 1
    assert "sys_platform == 'linux'" in found[0]


@pytest.mark.parametrize(
    "dropped", ["torch==2.13.0", "nvidia-cublas==13.1", "cuda-toolkit==13.0.3"]
)
def test_without_torch_drops_the_entry_with_its_hashes(dropped):
    text = f"aa==1 \\\n    --hash=sha256:1\n{dropped} \\\n    --hash=sha256:2\nbb==2 \\\n    --hash=sha256:3\n"
    assert lock.without_torch(text) == lock.HEADER + (
        "aa==1 \\\n    --hash=sha256:1\nbb==2 \\\n    --hash=sha256:3\n"
    )


def test_torchvision_would_be_kept():
    text = "torchvision==1 \\\n    --hash=sha256:1\n"
    assert "torchvision" in lock.without_torch(text)


def test_lock_covers_the_direct_dependencies():
    project = (lock.ROOT / "pyproject.toml").read_text()
    named = re.findall(r'^    "([a-z0-9-]+)[>=\[]', project, re.M)
    pinned = {pin.split("==")[0] for pin in PINS}
    assert len(named) > 30
    assert sorted(set(named) - pinned - {"torch"}) == []


def test_no_unlocked_requirement_stands_beside_the_lock():
    text = Path(lock.ROOT, "environment.yml").read_text()
    assert "torch" not in text
