from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from cutaway.cli import main
from oracles.tiny_model import write_tiny_model


@dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str


@pytest.fixture(scope="session")
def tiny_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tiny")
    return write_tiny_model(folder / "tiny.gguf", context=200)


@pytest.fixture
def run(monkeypatch, capsys) -> Callable[..., Ended]:
    """Run the command line in this process, as the console script would."""

    def run(*args: object, stdin: str | bytes = "") -> Ended:
        data = stdin.encode() if isinstance(stdin, str) else stdin
        monkeypatch.setattr(sys, "argv", ["cutaway", *map(str, args)])
        monkeypatch.setattr(
            sys, "stdin", io.TextIOWrapper(io.BytesIO(data), encoding="utf-8")
        )
        monkeypatch.setenv("COLUMNS", "80")
        monkeypatch.setenv("NO_COLOR", "1")
        try:
            code = main()
        except SystemExit as end:
            code = end.code or 0
        said = capsys.readouterr()
        return Ended(code, said.out, said.err)

    return run
