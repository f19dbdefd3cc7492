"""What a command line calls a model: a name, a file, or a folder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cutaway.core.config import ModelConfig
from cutaway.core.errors import ArgumentError

EXPECTED = (
    "a name (--list shows them), a .gguf file, a config.json, "
    "or a folder with one"
)


@dataclass(frozen=True, kw_only=True)
class NamedModel:
    """A model whose sizes are known; its weights need not be here.

    Attributes:
        name: What it is called on the command line.
        config: Its configuration.
        source: Where that was read.
        tensor_bytes: Bytes of the weights as they stand in a GGUF file;
            None where there is no such file.
    """

    name: str
    config: ModelConfig
    source: str
    tensor_bytes: int | None = None


def find_model(model: str) -> NamedModel:
    """Return the sizes of a model; no weights are read.

    Args:
        model: A key of ``CONFIGS`` or of ``cutaway.weights.MODELS``, or
            the path of a GGUF file, a ``config.json`` or its folder. Names
            go first: ``./gpt2`` is a folder, ``gpt2`` is not.

    Raises:
        ArgumentError: It is none of these, or the file describes a model
            that cannot be expressed.
        CutawayError: A GGUF file is broken.

    >>> find_model("Llama-3.1-8B").config.num_layers
    32
    """
    from cutaway.roofline import CONFIG_SOURCES, CONFIGS
    from cutaway.weights import MODELS

    key = model.lower()
    if key in CONFIGS:
        source = CONFIG_SOURCES[key]
        return NamedModel(name=key, config=CONFIGS[key], source=source)
    if key in MODELS:
        return _from_cache(key)
    path = Path(model)
    if path.exists():
        return _from_path(path)
    raise ArgumentError("model", repr(model), EXPECTED)


def _from_path(path: Path) -> NamedModel:
    """Read a file or a folder that is there."""
    if path.suffix.lower() == ".gguf":
        return _from_gguf(path, path.name)
    if path.is_dir():
        path = path / "config.json"
    if path.suffix.lower() != ".json" or not path.is_file():
        raise ArgumentError("model", repr(str(path)), EXPECTED)
    config = ModelConfig.from_hf(_read_json(path))
    return NamedModel(name=str(path), config=config, source=path.name)


def _read_json(path: Path) -> Any:
    """Parse a file, or say why it cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        got = error.strerror or type(error).__name__
        raise ArgumentError(str(path), got, "a readable file") from None
    except ValueError as error:
        raise ArgumentError(str(path), str(error), "JSON in UTF-8") from None


def _from_cache(name: str) -> NamedModel:
    """Read the file of a model that was fetched before."""
    from cutaway.weights import locate

    path = locate(name)
    if path is None:
        expected = "a model that was fetched: cutaway doctor --fetch"
        raise ArgumentError("model", f"{name!r}, not here yet", expected)
    return _from_gguf(path, name)


def _from_gguf(path: Path, name: str) -> NamedModel:
    """Read metadata and the list of tensors."""
    from cutaway.weights import GGUFFile

    with GGUFFile(path) as file:
        tied = "output.weight" not in file.tensors
        config = ModelConfig.from_gguf(file.metadata, tie_embeddings=tied)
        size = sum(tensor.nbytes for tensor in file.tensors.values())
    return NamedModel(
        name=name, config=config, source=path.name, tensor_bytes=size
    )
