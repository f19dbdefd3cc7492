"""How a table of sizes becomes configurations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cutaway.core.config import ModelConfig

COLUMNS = (
    "num_layers",
    "hidden_size",
    "num_heads",
    "num_kv_heads",
    "head_dim",
    "ffn_size",
    "vocab_size",
    "max_seq_len",
)
Sizes = tuple[int, int, int, int, int, int, int, int]


@dataclass(frozen=True)
class Published:
    """A model of the table, and where its sizes were read.

    Attributes:
        config: The configuration.
        source: The file or table that states it.
    """

    config: ModelConfig
    source: str


def rows(
    source: str, table: Mapping[str, Sizes], **shared: Any
) -> dict[str, Published]:
    """Return the models of a table whose other settings are the same.

    Args:
        source: Where the sizes were read.
        table: Sizes by name, in the order of ``COLUMNS``.
        shared: Fields of ``ModelConfig`` that all rows have.
    """
    shared = {"rope_layout": "half_split", **shared}
    return {
        name: Published(
            ModelConfig(**dict(zip(COLUMNS, sizes, strict=True)), **shared),
            source,
        )
        for name, sizes in table.items()
    }
