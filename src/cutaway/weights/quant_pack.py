"""From float weights to the packed bytes of a tensor."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from cutaway.core.checks import check, check_choice
from cutaway.core.errors import ArgumentError
from cutaway.weights import pack_blocks, pack_superblocks
from cutaway.weights.block_types import BLOCK_TYPES

if TYPE_CHECKING:
    from jaxtyping import Float, UInt8

QUANTIZERS: Mapping[str, Callable[[Any, Any], None]] = MappingProxyType(
    {
        "F32": pack_blocks.f32,
        "F16": pack_blocks.f16,
        "BF16": pack_blocks.bf16,
        "Q4_0": pack_blocks.q4_0,
        "Q4_1": pack_blocks.q4_1,
        "Q5_0": pack_blocks.q5_0,
        "Q5_1": pack_blocks.q5_1,
        "Q8_0": pack_blocks.q8_0,
        "MXFP4": pack_blocks.mxfp4,
        "Q4_K": pack_superblocks.q4_k,
        "Q5_K": pack_superblocks.q5_k,
        "Q6_K": pack_superblocks.q6_k,
    }
)
"""The types that floats can be packed in, with the function for each."""

# A chunk and its temporary arrays stay in the L2 cache.
_CHUNK_ELEMENTS = 1 << 15
# Scales and minima are float16; these types have none.
_WIDE_RANGE = ("F32", "BF16", "MXFP4")
_LARGEST_HALF = float(np.finfo(np.float16).max)


def quantize(
    weights: Float[Any, "... row"], type_name: str
) -> UInt8[Any, "... row_bytes"]:
    """Pack float weights: the reverse of ``dequantize``, up to rounding.

    Each block of a row gets a scale that fits its own largest weight (or
    its minimum and maximum), and each weight becomes the nearest level.
    The k-quants search for the scales that lose least.

    Args:
        weights: Finite floats, at least one axis; the last one is a whole
            number of blocks. Not changed.
        type_name: One of ``QUANTIZERS``, such as ``Q4_1``.

    Returns:
        The packed bytes, the shape that of ``weights`` with the last axis
        in bytes.

    Raises:
        ArgumentError: The type is unknown, the rows do not fit its blocks,
            or a weight is not finite or too large for a float16 scale.

    Cost: O(elements); a second or two for the 134.5 million weights of
    SmolLM2-135M in the types with blocks of 32, some five times that in
    the k-quants.
    Source: ggml, src/ggml-quants.c, the functions ending in ``_ref``.
    Differs: bit-equal to ``gguf.quants.quantize``, which has no k-quants;
    in those, sums added in another order may choose another scale of
    nearly the same loss.

    >>> weights = np.linspace(-1, 2, 32, dtype=np.float32)
    >>> raw = quantize(weights, "Q4_1")
    >>> raw.shape, raw.view("<f2")[:2]
    ((20,), array([ 0.2, -1. ], dtype=float16))
    """
    check_choice("type_name", type_name, QUANTIZERS)
    kind = BLOCK_TYPES[type_name]
    array = _check_weights(weights, kind.block_size)
    limit = np.finfo(np.float32).max
    if type_name not in _WIDE_RANGE:
        limit = _LARGEST_HALF
    x = array.reshape(-1, kind.block_size)
    out = np.empty((len(x), kind.block_bytes), np.uint8)
    step = max(1, _CHUNK_ELEMENTS // kind.block_size)
    for start in range(0, len(x), step):
        part = x[start : start + step].astype(np.float32)
        largest = np.abs(part).max()
        if not largest <= limit:  # NaN is not less than anything
            expected = f"finite numbers of at most {limit:.6g}"
            raise ArgumentError("weights", largest, expected)
        QUANTIZERS[type_name](part, out[start : start + step])
    row_bytes = array.shape[-1] // kind.block_size * kind.block_bytes
    return out.reshape(*array.shape[:-1], row_bytes)


def _check_weights(weights: Any, block_size: int) -> np.ndarray:
    """Return the weights as an array whose rows are whole blocks."""
    array = np.asarray(weights)
    check(
        array.dtype in (np.float16, np.float32, np.float64),
        "weights.dtype",
        array.dtype,
        "float16, float32 or float64",
    )
    check(
        array.ndim > 0 and array.shape[-1] % block_size == 0,
        "weights.shape",
        array.shape,
        f"a last axis that is a multiple of {block_size}",
    )
    return array
