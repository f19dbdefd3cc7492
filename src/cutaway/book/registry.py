"""The facts registry: published figures, each with its source."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from cutaway.core.errors import CutawayError

Value = int | float | str | tuple[int | float, ...]

_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")
_TABLE = re.compile(r"\[([a-z0-9-]+)\]")
_HEADING = re.compile(r"# --- (\S.*?) -+")
_BIB_KEY = re.compile(r"[a-z][a-z0-9-]*")
_TEXTS = ("text", "unit", "source", "where", "compute", "why")
_REQUIRED = ("text", "value", "source", "where")


class FactsError(CutawayError):
    """An entry of the registry is malformed, or not what we compute."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One published figure.

    Attributes:
        id: The entry's key: lower-case words joined by hyphens.
        text: The claim in one line.
        value: A number, a list of numbers or a text, as published.
        source: Key in the bibliography.
        where: Table, section or file entry within the source.
        unit: Unit of the value; empty for a pure number or a text.
        compute: ``"cutaway.module:expression"``, or None: quoted only.
        absolute: Largest difference that counts as reproduced.
        relative: Largest relative difference that counts as close.
        why: Why our value differs; given exactly when it does.
        group: The heading above the entry, ``# --- Heading ---`` in the
            file; empty if there is none.
    """

    id: str
    text: str
    value: Value
    source: str
    where: str
    unit: str = ""
    compute: str | None = None
    absolute: float = 0.0
    relative: float = 0.0
    why: str | None = None
    group: str = ""


def load(path: str | Path) -> tuple[Fact, ...]:
    """Read and check a registry, in the order of the file.

    Args:
        path: A TOML file with one table an entry.

    Raises:
        FactsError: The file is not TOML, or an entry lacks a field, has
            an unknown one or one of the wrong kind.

    >>> load("no-such-registry.toml")
    Traceback (most recent call last):
    cutaway.book.registry.FactsError: no-such-registry.toml: got ...
    """
    try:
        text = Path(path).read_text(encoding="utf-8")
        tables = tomllib.loads(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise FactsError(str(path), error, "a readable TOML file") from error
    groups = _groups(text)
    return tuple(
        _fact(key, table, groups.get(key, "")) for key, table in tables.items()
    )


def _groups(text: str) -> dict[str, str]:
    """Return the heading above each entry of a file."""
    groups, heading = {}, ""
    for line in map(str.strip, text.splitlines()):
        if found := _HEADING.fullmatch(line):
            heading = found[1]
        elif found := _TABLE.fullmatch(line):
            groups[found[1]] = heading
    return groups


def _fact(key: str, table: Any, group: str) -> Fact:
    """Return one entry, or say what is wrong with which field."""
    _require(bool(_ID.fullmatch(key)), key, key, "words joined by hyphens")
    _require(isinstance(table, dict), key, table, "a table")
    known = {field.name for field in fields(Fact)} | {"tolerance"}
    known -= {"id", "absolute", "relative", "group"}
    for name in table:
        listed = ", ".join(sorted(known))
        _require(name in known, f"{key}.{name}", "this field", listed)
    for name in _REQUIRED:
        _require(name in table, f"{key}.{name}", "nothing", "a value")
    for name in _TEXTS:
        text = table.get(name, "-")
        good = isinstance(text, str) and bool(text.strip())
        _require(good, f"{key}.{name}", repr(text), "a text")
    _require(
        "\n" not in table["text"], f"{key}.text", "several lines", "one line"
    )
    _require(
        bool(_BIB_KEY.fullmatch(table["source"])),
        f"{key}.source",
        repr(table["source"]),
        "a bibliography key: lower-case letters, digits, hyphens",
    )
    return Fact(
        id=key,
        group=group,
        **{name: table[name] for name in _TEXTS if name in table},
        value=_value(key, table["value"]),
        **_tolerance(key, table),
    )


def _value(key: str, value: Any) -> Value:
    """Return the published value: a number, a text or a list of numbers."""
    expected = "a finite number, a text or a list of numbers"
    if isinstance(value, str):
        _require(bool(value.strip()), f"{key}.value", repr(value), expected)
        return value
    if isinstance(value, list):
        good = bool(value) and all(_is_number(item) for item in value)
        _require(good, f"{key}.value", value, expected)
        return tuple(value)
    _require(_is_number(value), f"{key}.value", value, expected)
    return value


def _tolerance(key: str, table: Mapping[str, Any]) -> dict[str, Any]:
    """Return the tolerance's one entry, absolute or relative."""
    if "tolerance" not in table:
        return {}
    tolerance = table["tolerance"]
    expected = "{absolute = x} or {relative = x}, x > 0"
    good = (
        isinstance(tolerance, dict)
        and len(tolerance) == 1
        and set(tolerance) <= {"absolute", "relative"}
        and all(_is_number(x) and x > 0 for x in tolerance.values())
    )
    _require(good, f"{key}.tolerance", tolerance, expected)
    _require("compute" in table, f"{key}.tolerance", "no compute", "a compute")
    return {name: float(x) for name, x in tolerance.items()}


def _is_number(value: Any) -> bool:
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return number and math.isfinite(value)


def _require(good: bool, name: str, got: object, expected: str) -> None:
    if not good:
        raise FactsError(name, got, expected)
