"""Every number in the prose is printed by the section, or is cited.

Checked are a number with a measured unit (bytes, seconds, FLOP, %, ×,
tokens/s, million ...), a count (tokens, layers, steps ...) from 10 on, and
a bare number of three or more digits. Each must be a number of the
section's outputs, or a fact of the registry whose source the same cell
cites, or an exception with a reason in the cell's metadata. Pages without
cells may use facts only.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from bookcheck.markdown import citations, front_matter, prose_of, sections
from bookcheck.numbers import Number, find_numbers
from bookcheck.pool import Printed, numbers_in, printed_numbers, supports
from cutaway.book.registry import load

SMALLEST_COUNT = 10
FEWEST_DIGITS = 3
MOST_EXCEPTIONS = 5
YEARS = range(1950, 2036)
LEAK_UNITS = ("tokens", "layers", "heads", "steps", "MB", "ms", "%", "×")

Facts = Mapping[str, list[Printed]]


@dataclass(frozen=True)
class Finding:
    """A number in the prose that nothing supports.

    Attributes:
        path: The notebook or page.
        cell: Id of the cell; of a page, its heading's line.
        line: Line within the cell, or within the page, from 1.
        number: The number as written.
        why: What is wrong with it.
    """

    path: Path
    cell: str
    line: int
    number: str
    why: str

    def __str__(self) -> str:
        return f"{self.path} [{self.cell}] line {self.line}: {self.why}"


def check_book(folder: Path, facts_path: Path) -> list[Finding]:
    """Check all notebooks and pages below a folder.

    A folder without notebooks is itself a finding.

    Args:
        folder: The book.
        facts_path: Its registry of published figures.
    """
    facts = cited_numbers(facts_path)
    notebooks, pages = _files(folder, ".ipynb"), _files(folder, ".md")
    findings = []
    if not notebooks:
        findings.append(Finding(folder, "", 0, "", "no notebook was found"))
    for path in notebooks:
        findings += _check_notebook(path, facts)
    for path in pages:
        findings += _check_page(path, facts)
    return findings


def check_notebook(path: Path, facts_path: Path) -> list[Finding]:
    """Return the unsupported numbers of a notebook's markdown cells."""
    return _check_notebook(path, cited_numbers(facts_path))


def check_page(path: Path, facts_path: Path) -> list[Finding]:
    """Return the unsupported numbers of a markdown page."""
    return _check_page(path, cited_numbers(facts_path))


def cited_numbers(facts_path: Path) -> Facts:
    """Return the numbers of the registry, by the source they come from."""
    numbers: dict[str, list[Printed]] = {}
    for fact in load(facts_path):
        values = fact.value if isinstance(fact.value, tuple) else (fact.value,)
        for value in values:
            shown = f"{value!r}" if not isinstance(value, str) else value
            found = numbers_in(f"{shown} {fact.unit}")
            numbers.setdefault(fact.source, []).extend(found)
    return numbers


def numbers_to_check(source: str) -> list[Number]:
    """Return the numbers of a markdown text that need support.

    >>> [n.text for n in numbers_to_check("30 layers, 2 of them, 512 wide")]
    ['30 layers', '512']
    """
    return [n for n in find_numbers(prose_of(source)) if _is_checked(n)]


def leak(path: Path, digits: int) -> float:
    """Return the share of wrong integers that a notebook would let pass.

    All integers of so many digits are tried, with each of some units and,
    from three digits on, bare.

    Args:
        path: A notebook.
        digits: How many digits the integers have.
    """
    pool = printed_numbers(_read(path))
    phrases = [f"{{}} {unit}" for unit in LEAK_UNITS]
    phrases += ["{}"] if digits >= FEWEST_DIGITS else []
    tried = passed = 0
    for integer in range(10 ** (digits - 1), 10**digits):
        for phrase in phrases:
            [number] = find_numbers(phrase.format(integer))
            tried += 1
            passed += any(supports(number, printed) for printed in pool)
    return passed / tried


def _is_checked(number: Number) -> bool:
    """Tell whether a number of the prose claims something measurable."""
    if number.scaled:
        return True
    if number.unit is None:
        year = number.digits == 4 and not number.decimal
        if year and "," not in number.text and int(number.value) in YEARS:
            return False
        return number.digits >= FEWEST_DIGITS
    if number.unit.measured or number.decimal:
        return True
    return abs(number.value) >= SMALLEST_COUNT


def _check_notebook(path: Path, facts: Facts) -> list[Finding]:
    notebook = _read(path)
    pool = printed_numbers(notebook)
    findings, exceptions = [], 0
    for index, cell in enumerate(notebook.get("cells", [])):
        metadata = cell.get("metadata", {})
        if cell.get("cell_type") != "markdown":
            continue
        if metadata.get("cutaway", {}).get("header"):
            continue
        source = _text(cell.get("source", ""))
        allowed = metadata.get("numbers", {})
        exceptions += len(allowed)
        name = str(cell.get("id", f"cell {index}"))
        findings += _check_text(
            source, pool, facts, allowed, Finding(path, name, 1, "", "")
        )
    return findings + _too_many(path, exceptions)


def _check_page(path: Path, facts: Facts) -> list[Finding]:
    source = path.read_text(encoding="utf-8")
    numbers = front_matter(source).get("numbers")
    pairs = numbers.items() if isinstance(numbers, dict) else ()
    allowed = {str(key): reason for key, reason in pairs}
    findings: list[Finding] = []
    unused = dict(allowed)
    for start, text in sections(source):
        here = Finding(path, f"line {start}", start, "", "")
        used = {
            key: reason
            for key, reason in allowed.items()
            if any(_excepts(key, n) for n in numbers_to_check(text))
        }
        unused = {k: v for k, v in unused.items() if k not in used}
        findings += _check_text(text, [], facts, used, here)
    for key in unused:
        why = f"the exception for {key} is not needed"
        findings.append(Finding(path, "front matter", 1, key, why))
    return findings + _too_many(path, len(allowed))


def _check_text(
    source: str,
    pool: list[Printed],
    facts: Facts,
    allowed: Any,
    here: Finding,
) -> Iterator[Finding]:
    """Yield what is wrong with the numbers of one cell."""
    cited = [n for key in sorted(citations(source)) for n in facts.get(key, [])]
    unused = dict(allowed)
    for key, reason in allowed.items():
        if not (isinstance(reason, str) and reason.strip()):
            yield _at(here, 0, key, f"the exception for {key} has no reason")
    for number in numbers_to_check(source):
        line = source.count("\n", 0, number.start)
        if any(supports(number, printed) for printed in [*pool, *cited]):
            continue
        keys = [key for key in allowed if _excepts(key, number)]
        for key in keys:
            unused.pop(key, None)
        if not keys:
            why = _why(number, [*pool, *cited], facts)
            yield _at(here, line, number.text, why)
    for key in unused:
        yield _at(here, 0, key, f"the exception for {key} is not needed")


def _why(number: Number, pool: list[Printed], facts: Facts) -> str:
    """Say what is missing, and what comes near."""
    shown = " ".join(number.text.split())
    message = f"no output and no cited fact says {shown!r}"
    for printed in pool:
        if abs(printed.value) == abs(number.value):
            return f"{message}; in another unit: {printed.line!r}"
    for key, numbers in facts.items():
        if any(supports(number, printed) for printed in numbers):
            return f"{message}; a fact does: cite {key} in this cell"
    return message


def _excepts(key: str, number: Number) -> bool:
    """Tell whether an exception's key names a number of the prose."""
    written = [n.value for n in find_numbers(key, prose=False)]
    return written == [number.value]


def _too_many(path: Path, exceptions: int) -> list[Finding]:
    if exceptions <= MOST_EXCEPTIONS:
        return []
    why = f"got {exceptions} exceptions, expected at most {MOST_EXCEPTIONS}"
    return [Finding(path, "", 0, str(Decimal(exceptions)), why)]


def _at(here: Finding, line: int, number: str, why: str) -> Finding:
    return Finding(here.path, here.cell, here.line + line, number, why)


def _files(folder: Path, ending: str) -> list[Path]:
    """Return the files below a folder, hidden and built ones left out."""
    return sorted(
        path
        for path in folder.rglob(f"*{ending}")
        if not any(
            part.startswith((".", "_"))
            for part in path.relative_to(folder).parts
        )
        and not path.name.endswith(".nb.md")
    )


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text(encoding="utf-8"))


def _text(source: str | list[str]) -> str:
    return source if isinstance(source, str) else "".join(source)
