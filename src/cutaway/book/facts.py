"""Published figures beside our own: verdicts and the ledger's table.

A figure of the literature may stand in the prose only if it is in the
registry; what the package can compute, it computes, and the two are
compared here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from html import escape
from pathlib import Path
from typing import Any

from cutaway.book.expression import evaluate
from cutaway.book.output import show_html
from cutaway.book.registry import Fact, FactsError, Value, load
from cutaway.core.errors import CutawayError

__all__ = [
    "Fact",
    "FactsError",
    "Ledger",
    "Verdict",
    "ledger_table",
    "load",
    "show_ledger",
    "verify",
]

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
QUOTED = "quoted only"


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """How our value relates to a published one.

    Attributes:
        fact: The published figure.
        computed: Our value, or None where there is none.
        outcome: ``reproduced``, ``within x %``, ``not reproduced`` or
            ``quoted only``.
    """

    fact: Fact
    computed: Value | None
    outcome: str


def verify(fact: Fact) -> Verdict:
    """Compute a fact's value and compare it with the published one.

    Args:
        fact: An entry of the registry.

    Raises:
        FactsError: The value cannot be computed; or it differs by more
            than the tolerance and no ``why`` explains it; or it agrees
            though a ``why`` says that it does not.

    >>> half = Fact(id="half", text="A half.", value=0.5, source="x",
    ...             where="p. 1", compute="cutaway.core:1 / 2")
    >>> verify(half).outcome
    'reproduced'
    """
    if fact.compute is None:
        if fact.why is not None:
            raise FactsError(f"{fact.id}.why", fact.why, "no why: quoted only")
        return Verdict(fact=fact, computed=None, outcome=QUOTED)
    computed = _computed(fact)
    outcome = _outcome(fact, computed)
    if outcome == NOT_REPRODUCED and fact.why is None:
        near = f"{_shown(fact.value)} (tolerance: {_allowed(fact)}), or a why"
        raise FactsError(f"{fact.id}.value", _shown(computed), near)
    if outcome != NOT_REPRODUCED and fact.why is not None:
        raise FactsError(f"{fact.id}.why", fact.why, f"no why: {outcome}")
    return Verdict(fact=fact, computed=computed, outcome=outcome)


def _computed(fact: Fact) -> Value:
    """Return our value, of the same kind as the published one."""
    assert fact.compute is not None
    try:
        value: Any = evaluate(fact.compute)
    except (CutawayError, ArithmeticError, LookupError, TypeError) as error:
        raise FactsError(
            f"{fact.id}.compute", f"{fact.compute} ({error})", "a value"
        ) from error
    if isinstance(value, (list, tuple)):
        value = tuple(value)
    plain = value if isinstance(value, (int, float, str, tuple)) else None
    both_text = isinstance(plain, str) == isinstance(fact.value, str)
    both_many = isinstance(plain, tuple) == isinstance(fact.value, tuple)
    if plain is None or not both_text or not both_many:
        raise FactsError(
            f"{fact.id}.compute", repr(value), f"a value like {fact.value!r}"
        )
    return plain


def _outcome(fact: Fact, computed: Value) -> str:
    """Return the verdict's words for two values of one kind."""
    if computed == fact.value:
        return REPRODUCED
    if isinstance(computed, str) or isinstance(fact.value, str):
        return NOT_REPRODUCED
    ours, theirs = _numbers(computed), _numbers(fact.value)
    if len(ours) != len(theirs):
        return NOT_REPRODUCED
    gaps = [abs(a - b) for a, b in zip(ours, theirs, strict=True)]
    # A published 0.3 stands for decimal 0.3; binary rounding is no gap.
    slack = [1e-12 * abs(b) for b in theirs]
    limits = [fact.absolute + s for s in slack]
    if all(gap <= limit for gap, limit in zip(gaps, limits, strict=True)):
        return REPRODUCED
    shares = [
        gap / abs(b) if b else float("inf")
        for gap, b in zip(gaps, theirs, strict=True)
    ]
    if max(shares) <= fact.relative:
        return f"within {_ceiling(100 * max(shares))} %"
    return NOT_REPRODUCED


def _numbers(value: Value) -> tuple[int | float, ...]:
    assert not isinstance(value, str)
    return value if isinstance(value, tuple) else (value,)


def _ceiling(number: float) -> str:
    """Return a number rounded up to two significant digits."""
    context = Context(prec=2, rounding=ROUND_CEILING)
    rounded = context.create_decimal(repr(number)).normalize()
    return f"{rounded:f}"


def _allowed(fact: Fact) -> str:
    if fact.relative:
        return f"{Decimal(repr(100 * fact.relative)):g} %"
    return f"{fact.absolute:g}"


def _shown(value: Value | None) -> str:
    """Return a value for people: grouped integers, five-digit floats."""
    if value is None:
        return "–"
    if isinstance(value, tuple):
        return ", ".join(_shown(item) for item in value)
    if isinstance(value, str):
        return value
    if isinstance(value, int) or abs(value) >= 1e4:
        return f"{round(value):,}"
    return f"{value:.5g}"


@dataclass(frozen=True)
class Ledger:
    """The verdicts of all facts, as rows and as tables.

    Attributes:
        verdicts: One a fact, in the order of the registry.
        title: What they are about.
    """

    verdicts: tuple[Verdict, ...]
    title: str = "Published figures"

    HEADINGS = ("Fact", "Published", "Computed here", "Verdict", "Source")

    def by_group(self) -> list[Ledger]:
        """Return a ledger for each heading of the registry, in order."""
        groups: dict[str, list[Verdict]] = {}
        for item in self.verdicts:
            groups.setdefault(item.fact.group or self.title, []).append(item)
        return [Ledger(tuple(found), name) for name, found in groups.items()]

    def rows(self) -> list[tuple[str, str, str, str, str]]:
        """Return the cells of the table, as text."""
        return [
            (
                item.fact.text,
                f"{_shown(item.fact.value)} {item.fact.unit}".strip(),
                _shown(item.computed),
                item.outcome + (f": {item.fact.why}" if item.fact.why else ""),
                f"{item.fact.source}, {item.fact.where}",
            )
            for item in self.verdicts
        ]

    def html(self) -> str:
        """Return a table with headings for rows and columns."""
        head = "".join(f'<th scope="col">{h}</th>' for h in self.HEADINGS)
        body = []
        for item, row in zip(self.verdicts, self.rows(), strict=True):
            claim, *middle, _ = map(escape, row)
            key, where = item.fact.source, escape(item.fact.where)
            cells = "".join(f"<td>{cell}</td>" for cell in middle)
            body.append(
                f'<tr id="fact-{item.fact.id}"><th scope="row">{claim}</th>'
                f'{cells}<td><a href="references.html#{key}">{key}</a>, '
                f"{where}</td></tr>"
            )
        return "\n".join(
            [
                '<div class="cutaway-ledger" role="region" tabindex="0"'
                f' aria-label="Ledger: {escape(self.title)}">',
                "<table>",
                f"<caption>{escape(self.title)}</caption>",
                f"<thead><tr>{head}</tr></thead>",
                "<tbody>",
                *body,
                "</tbody></table></div>",
            ]
        )

    def text(self) -> str:
        """Return the table for a terminal, one fact a line."""
        return "\n".join(" | ".join(row) for row in self.rows())


def ledger_table(path: str | Path) -> Ledger:
    """Verify every fact of a registry.

    Args:
        path: The registry's TOML file.

    Raises:
        FactsError: As for ``load`` and ``verify``.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> entry = ["[peak]", 'text = "Peak."', "value = 989.4",
    ...     'source = "a2022"', 'where = "p. 1"',
    ...     'compute = "cutaway.roofline:132 * 4096 * 1.83 / 1000"',
    ...     "tolerance = { absolute = 0.05 }"]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "facts.toml")
    ...     _ = path.write_text("\\n".join(entry))
    ...     print(ledger_table(path).text())
    Peak. | 989.4 | 989.43 | reproduced | a2022, p. 1
    """
    facts: Sequence[Fact] = load(path)
    return Ledger(tuple(verify(fact) for fact in facts))


def show_ledger(path: str | Path) -> None:
    """Display the ledger of a registry as the output of a cell.

    One table for each heading of the registry.

    Args:
        path: The registry's TOML file.

    Raises:
        FactsError: As for ``load`` and ``verify``: a wrong fact cannot be
            shown.
    """
    for ledger in ledger_table(path).by_group():
        show_html(ledger.html(), ledger.text())
