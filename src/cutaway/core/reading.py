"""Reading settings from a mapping that somebody else wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cutaway.core.checks import check_int, check_real
from cutaway.core.errors import ArgumentError


def required(mapping: Mapping[str, Any], key: str) -> Any:
    """Return ``mapping[key]`` or say which key the model lacks."""
    try:
        return mapping[key]
    except KeyError:
        raise ArgumentError(key, "no such key", "a value") from None


def read_count(
    mapping: Mapping[str, Any], key: str, default: int | None = None
) -> int:
    """Return a positive integer; without a default it must be there.

    An entry that is None counts as absent.

    >>> read_count({"n_layer": 12, "n_inner": None}, "n_inner", 3072)
    3072
    """
    value = mapping.get(key)
    if value is None:
        value = required(mapping, key) if default is None else default
    return check_int(key, value, low=1)


def read_real(
    mapping: Mapping[str, Any], key: str, default: float | None = None
) -> float:
    """Return a number; without a default it must be there.

    An entry that is None counts as absent.

    >>> read_real({"rope_theta": 10000}, "rope_theta")
    10000.0
    """
    value = mapping.get(key)
    if value is None:
        value = required(mapping, key) if default is None else default
    return check_real(key, value, 0)


def refuse(
    mapping: Mapping[str, Any], key: str, allowed: tuple[Any, ...]
) -> None:
    """Raise if a setting is there and is none of those allowed.

    >>> refuse({"hidden_act": "silu"}, "hidden_act", ("silu",))
    """
    value = mapping.get(key)
    if value is not None and value not in allowed:
        expected = " or ".join(repr(choice) for choice in (*allowed, None))
        raise ArgumentError(key, repr(value), expected)
