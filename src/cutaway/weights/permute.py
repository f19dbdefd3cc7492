"""The order of the rows of wq and wk: which dimensions make a pair."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check, check_int

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Shaped

    from cutaway.core.block_config import RopeLayout

GGUF_ROPE_LAYOUTS: Mapping[str, RopeLayout] = MappingProxyType(
    {
        "llama": "interleaved",
        "llama4": "interleaved",
        "baichuan": "interleaved",
        "chatglm": "interleaved",
        "command-r": "interleaved",
        "deepseek2": "interleaved",
        "granite": "interleaved",
        "internlm2": "interleaved",
        "minicpm": "interleaved",
        "mistral3": "interleaved",
        "olmo": "interleaved",
        "smollm3": "interleaved",
        "starcoder": "interleaved",
        "bert": "half_split",
        "falcon": "half_split",
        "gemma": "half_split",
        "gemma2": "half_split",
        "gemma3": "half_split",
        "gpt-oss": "half_split",
        "minicpm3": "half_split",
        "olmo2": "half_split",
        "phi2": "half_split",
        "phi3": "half_split",
        "qwen": "half_split",
        "qwen2": "half_split",
        "qwen2moe": "half_split",
        "qwen3": "half_split",
        "qwen3moe": "half_split",
        "stablelm": "half_split",
        "starcoder2": "half_split",
    }
)
"""Which pairs llama.cpp turns, by ``general.architecture`` of the file.

It calls ``interleaved`` NORM and ``half_split`` NEOX. Rows are permuted at
conversion only where the layout of the file differs from that of the
original weights: never for ``half_split``, and not for every
``interleaved`` one either, since some were interleaved from the start.

Source: llama.cpp, src/llama-model.cpp, ``llama_model_rope_type``.
"""


def permute_rows(
    weight: Shaped[Any, "heads*head_dim ..."], num_heads: int
) -> Shaped[Any, "heads*head_dim ..."]:
    """Reorder rows of wq or wk from half-split to interleaved pairs.

    Within each head, row s * head_dim/2 + j moves to row 2j + s: the two
    halves are shuffled into one another like two packs of cards. RoPE over
    neighbours then turns the very pairs it turned over halves before, and
    the product of q and k does not notice the new order. The rows of wv
    and wo stay where they are.

    Args:
        weight: ``[num_heads * head_dim, ...]``, an array or a tensor: the
            matrix of q or k, its bias, or anything with such rows.
        num_heads: Query heads for wq, key/value heads for wk.

    Returns:
        A new array of the same shape and kind; ``weight`` is unchanged.

    Raises:
        ArgumentError: The rows are not heads of an even width.

    Cost: one copy.
    Source: llama.cpp, conversion/llama.py, ``permute``.
    Differs: the script of transformers that reads Meta's files calls the
    way back, ``unpermute_rows``, by this name.

    >>> permute_rows(np.array([0, 1, 2, 10, 11, 12]), num_heads=1)
    array([ 0, 10,  1, 11,  2, 12])
    """
    half = _head_dim(weight, num_heads) // 2
    rows = np.arange(weight.shape[0]).reshape(num_heads, 2, half)
    return weight[rows.swapaxes(1, 2).ravel()]


def unpermute_rows(
    weight: Shaped[Any, "heads*head_dim ..."], num_heads: int
) -> Shaped[Any, "heads*head_dim ..."]:
    """Reorder rows of wq or wk from interleaved to half-split pairs.

    The inverse of ``permute_rows``: row 2j + s of a head moves to row
    s * head_dim/2 + j.

    Args:
        weight: As for ``permute_rows``.
        num_heads: As for ``permute_rows``.

    Returns:
        A new array of the same shape and kind; ``weight`` is unchanged.

    Raises:
        ArgumentError: As for ``permute_rows``.

    Cost: one copy.
    Source: transformers, models/llama/convert_llama_weights_to_hf.py.

    >>> unpermute_rows(np.array([0, 10, 1, 11, 2, 12]), num_heads=1)
    array([ 0,  1,  2, 10, 11, 12])
    """
    half = _head_dim(weight, num_heads) // 2
    rows = np.arange(weight.shape[0]).reshape(num_heads, half, 2)
    return weight[rows.swapaxes(1, 2).ravel()]


def _head_dim(weight: Any, num_heads: int) -> int:
    """Return the width of a head, or say why the rows are not heads."""
    check_int("num_heads", num_heads, low=1)
    shape = tuple(weight.shape)
    rows = shape[0] if shape else 0
    fits = rows > 0 and rows % (2 * num_heads) == 0
    expected = f"rows for {num_heads} heads of an even width"
    check(fits, "weight.shape", shape, expected)
    return rows // num_heads
