from __future__ import annotations

from pathlib import Path

import pytest

from cutaway import LLM
from oracles.tiny_model import write_tiny_model


@pytest.fixture(scope="session")
def tiny_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tiny_model(tmp_path_factory.mktemp("tiny") / "tiny.gguf")


@pytest.fixture(scope="session", params=["numpy", "torch"])
def tiny(request: pytest.FixtureRequest, tiny_path: Path) -> LLM:
    return LLM(tiny_path, impl=request.param)


@pytest.fixture(scope="session")
def llm() -> LLM:
    return LLM()
