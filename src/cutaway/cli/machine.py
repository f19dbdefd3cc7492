"""What this machine has of what Cutaway needs."""

from __future__ import annotations

import os
import platform
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Literal

from cutaway.cli.browser import VARIABLE, NoBrowserError, find_browser

Status = Literal["ok", "missing", "absent", "info"]

MIN_PYTHON = (3, 11)
MIN_MEMORY_BYTES = 2 * 10**9
# What the package depends on, beside torch and what draws these lines.
REQUIRED = (
    "numpy",
    "regex",
    "jinja2",
    "filelock",
    "platformdirs",
    "matplotlib",
)
OPTIONAL = ("triton", "jupyter-book", "jupyterlab", "playwright")


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for.

    Attributes:
        name: What.
        status: ``"ok"``; ``"missing"`` if it is required and not there;
            ``"absent"`` if only some of the work needs it; ``"info"``.
        value: What was found.
        fix: What to do about it; empty if nothing.
    """

    name: str
    status: Status
    value: str
    fix: str = ""


def look_around(model: str) -> list[Finding]:
    """Examine the machine, from the interpreter to the browser.

    Args:
        model: Name of the model whose weights are looked for; nothing is
            downloaded.
    """
    return [
        python(),
        Finding("system", "info", platform.platform()),
        cores(),
        _examined("memory", memory),
        *(package(name, required=True) for name in REQUIRED),
        torch(),
        _examined("cache", cache),
        _examined("weights", lambda: weights(model)),
        *(package(name, required=False) for name in OPTIONAL),
        browser(),
    ]


def _examined(name: str, examine: Callable[[], Finding]) -> Finding:
    """Examine something, unless a package that this takes is missing."""
    try:
        return examine()
    except ImportError as error:
        found = f"cannot be examined: {error}"
        return Finding(name, "missing", found, "install what is missing")


def python() -> Finding:
    """The interpreter."""
    found = f"{platform.python_version()} at {sys.executable}"
    if sys.version_info >= MIN_PYTHON:
        return Finding("python", "ok", found)
    wanted = ".".join(map(str, MIN_PYTHON))
    return Finding("python", "missing", found, f"install Python {wanted}+")


def cores() -> Finding:
    """The processor cores that this process may use."""
    total = os.cpu_count() or 1
    usable = total
    if hasattr(os, "sched_getaffinity"):
        usable = len(os.sched_getaffinity(0))
    return Finding("cores", "info", f"{usable} usable of {total}")


def memory() -> Finding:
    """The main memory."""
    from cutaway.roofline import physical_memory_bytes

    size = physical_memory_bytes()
    found = f"{size / 1e9:.1f} GB ({size / 2**30:.1f} GiB)"
    if size >= MIN_MEMORY_BYTES:
        return Finding("memory", "ok", found)
    fix = "close other programs: a chapter takes up to 2 GB"
    return Finding("memory", "absent", found, fix)


def package(name: str, *, required: bool) -> Finding:
    """A Python package, found without importing it."""
    try:
        return Finding(name, "ok", version(name))
    except PackageNotFoundError:
        status = "missing" if required else "absent"
        return Finding(name, status, "not installed", f"pip install {name}")


def torch() -> Finding:
    """PyTorch, imported to see that it works."""
    try:
        import torch
    except (ImportError, OSError) as error:
        fix = "pip install torch==2.13.0"
        return Finding("torch", "missing", f"cannot be imported: {error}", fix)
    threads = torch.get_num_threads()
    plural = "" if threads == 1 else "s"
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
    found = f"{torch.__version__}, {threads} thread{plural}, GPU: {gpu}"
    return Finding("torch", "ok", found)


def cache() -> Finding:
    """The folder that holds what was fetched, and the room there."""
    from cutaway.weights import cache_dir

    folder = cache_dir()
    there = folder
    while not there.exists():
        there = there.parent
    free = shutil.disk_usage(there).free
    found = f"{folder} ({free / 1e9:.1f} GB free)"
    if os.access(there, os.W_OK):
        return Finding("cache", "ok", found)
    fix = "set CUTAWAY_CACHE to a folder that can be written"
    return Finding("cache", "absent", f"{found}, not writable", fix)


def weights(model: str) -> Finding:
    """The model's file, its hash checked."""
    from cutaway.weights import FetchError, locate

    try:
        path = locate(model)
    except FetchError as error:
        fix = "remove that file or unset CUTAWAY_MODELS"
        return Finding("weights", "missing", str(error), fix)
    if path is None:
        fix = "cutaway doctor --fetch (93 MB), or set CUTAWAY_MODELS"
        return Finding("weights", "missing", f"{model} is not here yet", fix)
    size = path.stat().st_size
    found = f"{path} ({size / 1e6:.1f} MB, sha256 verified)"
    return Finding("weights", "ok", found)


def browser() -> Finding:
    """A Chromium-like browser, which only the tests of the site need."""
    try:
        return Finding("browser", "ok", str(find_browser()))
    except NoBrowserError as error:
        fix = f"install Chromium or set {VARIABLE} to test the site"
        return Finding("browser", "absent", str(error), fix)
