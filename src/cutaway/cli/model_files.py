"""What a command line calls a model: a name, a file, or a folder."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cutaway.core.config import ModelConfig
from cutaway.core.errors import ArgumentError, CutawayError

if TYPE_CHECKING:
    from cutaway.roofline import KVLayout

EXPECTED = (
    "a name (--list shows them), a .gguf file, a config.json, "
    "or a folder with one"
)


@dataclass(frozen=True, kw_only=True)
class NamedModel:
    """A model whose sizes are known; its weights need not be here.

    Attributes:
        name: What it is called on the command line.
        source: Where its sizes were read.
        layout: What its layers cache.
        config: Its configuration; None where only the cache is known.
        max_seq_len: Tokens it was made for, if that is known.
        tensor_bytes: Bytes of the weights as they stand in a GGUF file;
            None where there is no such file.
    """

    name: str
    source: str
    layout: KVLayout
    config: ModelConfig | None = None
    max_seq_len: int | None = None
    tensor_bytes: int | None = None

    @property
    def whole(self) -> ModelConfig:
        """The configuration, where all of the model is known.

        Raises:
            ArgumentError: Only the cache is.
        """
        if self.config is None:
            expected = "a model of which more than the cache is known"
            raise ArgumentError("model", repr(self.name), expected)
        return self.config


def _whole_model(
    name: str, source: str, config: ModelConfig, tensor_bytes: int | None = None
) -> NamedModel:
    """Return a model of which all is known."""
    from cutaway.roofline import kv_layout

    return NamedModel(
        name=name,
        source=source,
        layout=kv_layout(config),
        config=config,
        max_seq_len=config.max_seq_len,
        tensor_bytes=tensor_bytes,
    )


def find_model(model: str) -> NamedModel:
    """Return the sizes of a model; no weights are read.

    Args:
        model: A key of ``CONFIGS``, of ``CACHE_FILES`` or of
            ``cutaway.weights.MODELS``, or the path of a GGUF file, a
            ``config.json`` or its folder. Names go first: ``./gpt2`` is a
            folder, ``gpt2`` is not.

    Raises:
        ArgumentError: It is none of these, or the file describes a model
            that cannot be expressed.
        CutawayError: A GGUF file is broken.

    >>> find_model("Llama-3.1-8B").whole.num_layers
    32
    """
    from cutaway.roofline import (
        CACHE_FILES,
        CACHE_SOURCES,
        CONFIG_SOURCES,
        CONFIGS,
    )
    from cutaway.weights import MODELS

    key = model.lower()
    if key in CONFIGS:
        return _whole_model(key, CONFIG_SOURCES[key], CONFIGS[key])
    if key in CACHE_FILES:
        return _cache_only(key, CACHE_SOURCES[key], CACHE_FILES[key])
    if key in MODELS:
        return _from_cache(key)
    if os.path.exists(model):  # Path.exists raises where this is False
        return _from_path(Path(model))
    raise ArgumentError("model", repr(model), EXPECTED)


def _from_path(path: Path) -> NamedModel:
    """Read a file or a folder that is there."""
    if path.suffix.lower() == ".gguf":
        return _from_gguf(path, path.name)
    if path.is_dir():
        path = path / "config.json"
    if path.suffix.lower() != ".json" or not path.is_file():
        raise ArgumentError("model", repr(str(path)), EXPECTED)
    return _from_hf(str(path), path.name, _read_json(path))


def _from_hf(name: str, source: str, file: Any) -> NamedModel:
    """Read the whole configuration, or, failing that, the cache."""
    try:
        return _whole_model(name, source, ModelConfig.from_hf(file))
    except CutawayError as error:
        try:
            return _cache_only(name, source, file)
        except CutawayError as second:
            # Of a type that only the cache's reader knows, its own error.
            unknown = error.name == "model_type"
            raise (second if unknown else error) from None


def _cache_only(name: str, source: str, file: Any) -> NamedModel:
    """Read what a model caches, and nothing else."""
    from cutaway.roofline import kv_layout_from_hf

    layout = kv_layout_from_hf(file)
    text = file.get("text_config") or file
    length = text.get("max_position_embeddings")
    known = isinstance(length, int) and length > 0
    return NamedModel(
        name=name,
        source=source,
        layout=layout,
        max_seq_len=length if known else None,
    )


def _read_json(path: Path) -> Any:
    """Parse a file, or say why it cannot be read."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        got = error.strerror or type(error).__name__
        raise ArgumentError(str(path), got, "a readable file") from None
    except (ValueError, RecursionError) as error:
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
    return _whole_model(name, path.name, config, size)
