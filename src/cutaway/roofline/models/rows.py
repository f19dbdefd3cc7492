"""How a table of sizes becomes configurations."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cutaway.core.config import ModelConfig
from cutaway.core.config_checks import SIZES

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
        table: Sizes by name, in the order of ``SIZES``.
        shared: Fields of ``ModelConfig`` that all rows have.
    """
    shared = {"rope_layout": "half_split", **shared}
    return {
        name: Published(
            ModelConfig(**dict(zip(SIZES, sizes, strict=True)), **shared),
            source,
        )
        for name, sizes in table.items()
    }
