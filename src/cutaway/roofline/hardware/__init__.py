"""Machines by name, with the figures that a roofline needs."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cutaway.core.checks import check_choice
from cutaway.roofline.hardware.spec import Hardware
from cutaway.roofline.hardware.table import GPUS

__all__ = ["HARDWARE", "Hardware", "hardware"]

HARDWARE: Mapping[str, Hardware] = MappingProxyType(GPUS)
"""Accelerators by name; peaks are dense, each with its source."""


def hardware(name: str) -> Hardware:
    """Return a named accelerator of the table.

    Args:
        name: A key of ``HARDWARE``; case does not matter.

    Raises:
        ArgumentError: The name is unknown; the message lists the known.

    >>> hardware("H100-SXM").memory_bytes
    80000000000
    """
    key = str(name).lower()
    check_choice("hardware", key, tuple(HARDWARE))
    return HARDWARE[key]
