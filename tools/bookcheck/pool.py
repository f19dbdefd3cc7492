"""The numbers that a section prints: what its prose may rest on.

A line of output or a row of a table counts if it has at most 12 numbers:
a long listing would support almost any. Pictures, traces, shown source,
what graders say and the ledger do not count, nor do outputs that are not
compared, such as times: a number that may change cannot carry a sentence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from bs4 import BeautifulSoup, Tag

from bookcheck.numbers import Number, find_numbers
from bookcheck.units import Unit

MOST_NUMBERS = 12
_ROUNDED_SHARE = Decimal("0.05")
_ESCAPE = re.compile(r"\x1b\[[0-9;]*m")
_REMOVED = "svg, script, style, template, .cutaway-source, .cutaway-ledger"
_UNTRUSTED = frozenset(
    ("nbval-ignore-output", "nbval-skip", "exercise", "solution")
)
_BLOCKS = (
    "p", "div", "li", "pre", "br", "tr", "caption", "summary", "details",
    "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "table", "section",
)  # fmt: skip
# What a label counts is not what it is counted by: "time per layer".
_NOT_LABEL = re.compile(
    r"\b(?:per|each|every|in|of|with|for)\s+(?:an? |the )?\w+"
)
# A single letter is a unit only in brackets: "time (s)".
_WORD = re.compile(
    r"(?<=[(\[])[^\W\d_](?=[)\]])|[^\W\d_]{2,}(?:/[^\W\d_]+)*|%|×"
)
_CUT = re.compile(r"[,;|\n]")
_NEXT_LABEL = re.compile(r"\s*[:=]|[^\S\n]+\d")
_VAGUE = ("request", "number", "model", "file", "test", "example", "point")


@dataclass(frozen=True)
class Printed:
    """A number of an output.

    Attributes:
        value: Its value.
        units: The units it may have been printed in; empty: none shown.
        line: The line it stands in.
    """

    value: Decimal
    units: frozenset[Unit]
    line: str


def printed_numbers(notebook: dict[str, Any]) -> list[Printed]:
    """Return the numbers of a section's outputs.

    Args:
        notebook: The file's JSON.
    """
    numbers: list[Printed] = []
    for output in _trusted_outputs(notebook):
        for line, header in _lines(output):
            found = numbers_in(line, header)
            if len(found) <= MOST_NUMBERS:
                numbers += found
    return numbers


def _trusted_outputs(notebook: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the outputs that nbval compares and that tell of the subject."""
    for cell in notebook.get("cells", []):
        if not _UNTRUSTED & set(cell.get("metadata", {}).get("tags", [])):
            yield from cell.get("outputs", [])


def numbers_in(line: str, header: str = "") -> list[Printed]:
    """Return the numbers of one line, with the units that it shows.

    The unit stands behind the number, or a label in front of it names it
    (``layers: 30``), or the column's header does.

    >>> [n.units for n in numbers_in("prompt: 37")]
    [frozenset()]
    """
    printed, start = [], 0
    for number in find_numbers(line, prose=False):
        label = _named(_CUT.split(line[start : number.start])[-1])
        start = number.start + len(number.text)
        units = label or _named(header)
        if number.unit is not None:
            units = {number.unit} | (label if number.shared else set())
            # In "tokens: 37 layers: 30" the layers belong to the 30.
            counted = not number.unit.measured
            if counted and label and _NEXT_LABEL.match(line, start):
                start, units = number.start, label
        printed.append(Printed(number.value, frozenset(units), line.strip()))
    return printed


def supports(number: Number, printed: Printed) -> bool:
    """Tell whether a printed number is the one that the prose states.

    Integers must be equal. A decimal, or any number after "about", must
    be what the printed one rounds to; and "about" allows 5 % at most.

    Args:
        number: From the prose.
        printed: From an output, or a fact.
    """
    scale = _scale(number.unit, printed.units)
    if scale is None:
        return False
    value = printed.value * scale
    if number.value >= 0:
        value = abs(value)
    gap = abs(value - number.value)
    step = number.step
    if number.about:
        if gap > _ROUNDED_SHARE * abs(number.value):
            return False
        step = max(step, _last_place(number.value))
    elif not number.decimal:
        return gap == 0
    return gap * 2 <= step


def _last_place(value: Decimal) -> Decimal:
    """Return what the last digit that is not zero is worth."""
    exponent = int(value.normalize().as_tuple().exponent)
    return Decimal(1).scaleb(exponent)


def _scale(unit: Unit | None, shown: frozenset[Unit]) -> Decimal | None:
    """Return what turns a printed value into the prose's unit.

    None where the two are of different kinds.
    """
    if unit is None or not shown:
        return Decimal(1)
    over = unit.dimension.partition("/")[0]
    for other in shown:
        if other.dimension == unit.dimension:
            return other.scale / unit.scale
        # "9 heads a layer" may rest on a line that prints 9 heads.
        per_thing = unit.dimension != over and not unit.dimension.endswith(
            "/second"
        )
        if per_thing and other.dimension == over:
            return other.scale / unit.scale
    return None


def _named(label: str) -> frozenset[Unit]:
    """Return the units that a label or a heading names."""
    words = _WORD.findall(_NOT_LABEL.sub(" ", label))
    found = [find_numbers(f"1 {word}", prose=False) for word in words]
    units = {numbers[0].unit for numbers in found if numbers}
    return frozenset(
        unit
        for unit in units
        if unit is not None and unit.dimension not in _VAGUE
    )


def _lines(output: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the lines of one output, each with its column's header."""
    kind = output.get("output_type")
    if kind == "stream":
        yield from _text_lines(output.get("text", ""))
    elif kind == "error":
        yield from _text_lines(output.get("evalue", ""))
    else:
        data = output.get("data", {})
        if "text/html" in data:
            yield from _html_lines(_joined(data["text/html"]))
        else:
            for name in ("text/markdown", "text/plain"):
                if name in data:
                    yield from _text_lines(data[name])
                    break


def _joined(text: str | list[str]) -> str:
    return text if isinstance(text, str) else "".join(text)


def _text_lines(text: str | list[str]) -> Iterator[tuple[str, str]]:
    for line in _ESCAPE.sub("", _joined(text)).splitlines():
        yield line, ""


def _html_lines(markup: str) -> Iterator[tuple[str, str]]:
    """Yield table cells with their headers, and the lines of the rest."""
    page = BeautifulSoup(markup, "html.parser")
    for element in page.select(_REMOVED):
        element.decompose()
    for table in page.find_all("table"):
        yield from _table_lines(table)
        table.decompose()
    for block in page.find_all(_BLOCKS):
        block.insert_before("\n")
        block.append("\n")
    yield from _text_lines(page.get_text())


def _table_lines(table: Tag) -> Iterator[tuple[str, str]]:
    """Yield the cells of a table's rows that are not too long."""
    headers: list[str] = []
    for row in table.find_all("tr"):
        cells = row.find_all(["td", "th"])
        texts = [cell.get_text(" ", strip=True) for cell in cells]
        if all(cell.name == "th" for cell in cells):
            headers = texts
        if len(numbers_in(" | ".join(texts))) > MOST_NUMBERS:
            continue
        for column, text in enumerate(texts):
            header = headers[column] if column < len(headers) else ""
            yield text, "" if text == header else header
