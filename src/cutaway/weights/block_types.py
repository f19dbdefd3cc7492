"""How GGUF packs numbers: the size of one block of every tensor type."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from cutaway.core.checks import check_choice, check_int
from cutaway.core.errors import ArgumentError


@dataclass(frozen=True)
class BlockType:
    """A tensor type: ``block_size`` elements packed in ``block_bytes`` bytes.

    A plain type such as F16 is a block of one element. A quantised type
    keeps one scale (or a scale and a minimum) for the elements of a block.

    Attributes:
        name: ggml's name of the type, such as ``Q4_1``.
        type_id: The number that stands for it in a file.
        block_size: Elements in a block; divides the length of a row.
        block_bytes: Bytes of a block, scales included.

    >>> BLOCK_TYPES["Q4_1"].bits_per_weight
    5.0
    """

    name: str
    type_id: int
    block_size: int
    block_bytes: int

    @property
    def bits_per_weight(self) -> float:
        """Bits that one element takes, its share of the scales included."""
        return 8 * self.block_bytes / self.block_size


# Source: ggml, src/ggml-common.h (block structures) and include/ggml.h (ids).
# Q8_1 and Q8_K hold activations during a product and never stand in a file.
_TYPES = (
    BlockType("F32", 0, 1, 4),
    BlockType("F16", 1, 1, 2),
    BlockType("Q4_0", 2, 32, 18),
    BlockType("Q4_1", 3, 32, 20),
    BlockType("Q5_0", 6, 32, 22),
    BlockType("Q5_1", 7, 32, 24),
    BlockType("Q8_0", 8, 32, 34),
    BlockType("Q8_1", 9, 32, 36),
    BlockType("Q2_K", 10, 256, 84),
    BlockType("Q3_K", 11, 256, 110),
    BlockType("Q4_K", 12, 256, 144),
    BlockType("Q5_K", 13, 256, 176),
    BlockType("Q6_K", 14, 256, 210),
    BlockType("Q8_K", 15, 256, 292),
    BlockType("IQ2_XXS", 16, 256, 66),
    BlockType("IQ2_XS", 17, 256, 74),
    BlockType("IQ3_XXS", 18, 256, 98),
    BlockType("IQ1_S", 19, 256, 50),
    BlockType("IQ4_NL", 20, 32, 18),
    BlockType("IQ3_S", 21, 256, 110),
    BlockType("IQ2_S", 22, 256, 82),
    BlockType("IQ4_XS", 23, 256, 136),
    BlockType("I8", 24, 1, 1),
    BlockType("I16", 25, 1, 2),
    BlockType("I32", 26, 1, 4),
    BlockType("I64", 27, 1, 8),
    BlockType("F64", 28, 1, 8),
    BlockType("IQ1_M", 29, 256, 56),
    BlockType("BF16", 30, 1, 2),
    BlockType("TQ1_0", 34, 256, 54),
    BlockType("TQ2_0", 35, 256, 66),
    BlockType("MXFP4", 39, 32, 17),
    BlockType("NVFP4", 40, 64, 36),
    BlockType("Q1_0", 41, 128, 18),
)

BLOCK_TYPES: Mapping[str, BlockType] = MappingProxyType(
    {kind.name: kind for kind in _TYPES}
)
"""Every tensor type the reader knows, by name."""

BLOCK_TYPES_BY_ID: Mapping[int, BlockType] = MappingProxyType(
    {kind.type_id: kind for kind in _TYPES}
)
"""The same types by the number that stands for them in a file."""

# Source: llama.cpp, src/llama-quant.cpp: what stands in for a type whose
# superblocks of 256 do not divide a row.
_SMALLER_BLOCKS: Mapping[str, str] = MappingProxyType(
    {
        "Q2_K": "IQ4_NL",
        "Q3_K": "IQ4_NL",
        "Q4_K": "Q5_0",
        "Q5_K": "Q5_1",
        "Q6_K": "Q8_0",
    }
)


def fitting_type(type_name: str, row_size: int) -> str:
    """Return the type, or what llama.cpp takes where its blocks do not fit.

    A block never crosses the end of a row. Where superblocks of 256 do not
    divide it, a type with blocks of 32 and more bits stands in.

    Args:
        type_name: A key of ``BLOCK_TYPES``.
        row_size: Elements of a row: the last axis of the tensor.

    Raises:
        ArgumentError: The type is unknown, or neither it nor a stand-in
            divides the row.

    Cost: O(1).
    Source: llama.cpp, src/llama-quant.cpp.
    Differs: where the stand-in does not fit either, it takes F16.

    >>> fitting_type("Q6_K", 1536), fitting_type("Q6_K", 576)
    ('Q6_K', 'Q8_0')
    """
    check_choice("type_name", type_name, BLOCK_TYPES)
    check_int("row_size", row_size, low=1)
    for name in (type_name, _SMALLER_BLOCKS.get(type_name, type_name)):
        if row_size % BLOCK_TYPES[name].block_size == 0:
            return name
    size = BLOCK_TYPES[name].block_size
    raise ArgumentError("row_size", row_size, f"a multiple of {size} ({name})")
