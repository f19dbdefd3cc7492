"""A model on disk, read whole: sizes, tokenizer and weights."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from cutaway.core.checks import check
from cutaway.core.config import ModelConfig
from cutaway.decoder.params import Params
from cutaway.decoder.support import check_supported
from cutaway.tokenizer import Tokenizer
from cutaway.weights import GGUFFile, HFFolder


@dataclass(frozen=True)
class Checkpoint:
    """What a file or a folder says of a model.

    Attributes:
        config: Its sizes.
        params: Its weights, in memory.
        tokenizer: Its tokenizer.
    """

    config: ModelConfig
    params: Params
    tokenizer: Tokenizer


def load_checkpoint(
    path: str | os.PathLike[str], *, impl: str, dtype: str = "float32"
) -> Checkpoint:
    """Read a GGUF file or a Hugging Face folder.

    Args:
        path: A ``.gguf`` file, or a folder with ``config.json``,
            ``model.safetensors`` and ``tokenizer.json``.
        impl: ``"numpy"`` or ``"torch"``: what the arrays are.
        dtype: ``"float32"`` or ``"float64"``.

    Raises:
        ArgumentError: It is neither, or the model has what the decoder
            does not compute.
        CutawayError: It is broken; of the kind that names its format.

    Cost: 4 bytes of memory a weight in float32.

    >>> from cutaway.weights import fetch
    >>> checkpoint = load_checkpoint(fetch(), impl="numpy")
    >>> checkpoint.config.rope_layout, checkpoint.tokenizer.vocab_size
    ('interleaved', 49152)
    """
    place = Path(path)
    if place.is_dir():
        return _from_hf(place, impl, dtype)
    expected = "a .gguf file or a folder with config.json"
    check(place.suffix.lower() == ".gguf", "path", repr(str(place)), expected)
    return _from_gguf(place, impl, dtype)


def _from_gguf(path: Path, impl: str, dtype: str) -> Checkpoint:
    with GGUFFile(path) as file:
        config = ModelConfig.from_gguf(
            file.metadata,
            tie_embeddings="output.weight" not in file.tensors,
        )
        check_supported(config)
        tokenizer = Tokenizer.from_gguf(file.metadata)
        params = Params.from_gguf(file, config, impl=impl, dtype=dtype)
    return Checkpoint(config, params, tokenizer)


def _from_hf(path: Path, impl: str, dtype: str) -> Checkpoint:
    with HFFolder(path) as folder:
        config = ModelConfig.from_hf(folder.config)
        check_supported(config)
        tokenizer = folder.tokenizer()
        params = Params.from_hf(folder, config, impl=impl, dtype=dtype)
    return Checkpoint(config, params, tokenizer)
