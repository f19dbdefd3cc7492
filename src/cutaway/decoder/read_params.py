"""Reading weights from a file: every one, and nothing left out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check, check_choice
from cutaway.core.config import ModelConfig
from cutaway.core.errors import ArgumentError
from cutaway.decoder.shapes import weight_shapes
from cutaway.weights import Stored, find_stored

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cutaway.weights import GGUFFile, HFFolder

    Read = Callable[[str, tuple[int, ...]], np.ndarray]

OUTPUT = "lm_head.weight"


def check_layout(config: ModelConfig, layout: str) -> None:
    """Raise unless the rows of q and k lie in the order of a format.

    Args:
        config: The model; without RoPE there is no order.
        layout: The order of the format.

    Raises:
        ArgumentError: It is another.
    """
    got = config.rope_layout
    fits = got == layout or config.rope_theta is None
    check(fits, "config.rope_layout", repr(got), repr(layout))


def reader(
    file: GGUFFile | HFFolder,
    stored: Mapping[str, Stored],
    config: ModelConfig,
    dtype: str,
) -> Read:
    """Return what reads a weight of a file by its name and shape.

    Args:
        file: The file, which must stay open.
        stored: Where it keeps each weight.
        config: The model.
        dtype: ``"float32"`` or ``"float64"``.

    Raises:
        ArgumentError: The format has no place for a weight of the model,
            or the file holds a tensor that would be left out.
    """
    check_choice("dtype", dtype, ("float32", "float64"))
    wanted = {name: find_stored(stored, name) for name in weight_shapes(config)}
    used = {tensor for place in wanted.values() for tensor in place.names}
    twin = wanted["embed"].names[0] if config.tie_embeddings else None
    for tensor in sorted(file.tensors.keys() - used):
        if not _is_redundant(tensor, file, twin):
            expected = "no tensor that this decoder does not use"
            raise ArgumentError("file.tensors", tensor, expected)

    def read(name: str, shape: tuple[int, ...]) -> np.ndarray:
        return wanted[name].read(file, shape, np.dtype(dtype).type)

    return read


def _is_redundant(
    tensor: str, file: GGUFFile | HFFolder, twin: str | None
) -> bool:
    """Whether a tensor repeats what the others say, as older folders do.

    They hold the rotary frequencies, and with tied embeddings an output
    matrix that is the embedding (``twin``) once more.
    """
    if tensor.endswith(".rotary_emb.inv_freq"):
        return True
    if tensor != OUTPUT or twin not in file.tensors:
        return False
    return np.array_equal(file.raw(tensor), file.raw(twin))
