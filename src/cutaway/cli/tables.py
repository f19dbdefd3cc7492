"""Tables and lines that fit a terminal of 80 columns."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def print_facts(title: str, facts: Iterable[tuple[str, str]]) -> None:
    """Print a title and lines of a name and what is to be known."""
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    console.print(title, style="bold", markup=False)
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="cyan", no_wrap=True)
    grid.add_column()
    for name, value in facts:
        grid.add_row(name, value)
    console.print(grid)


def print_table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str]],
    *,
    left: int = 1,
) -> None:
    """Print a table whose columns, but for the first, are numbers.

    Args:
        title: A line above it.
        columns: Headings.
        rows: Cells, as many as headings.
        left: How many columns are words and stand at the left.
    """
    from rich import box
    from rich.console import Console
    from rich.table import Table

    console = Console(highlight=False)
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1), pad_edge=False)
    for index, heading in enumerate(columns):
        justify = "left" if index < left else "right"
        table.add_column(heading, justify=justify, no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console.print(f"\n{title}", style="bold", markup=False)
    console.print(table)


def print_note(text: str, style: str | None = None) -> None:
    """Print a line that is wrapped where the terminal ends."""
    from rich.console import Console

    Console(highlight=False).print(text, style=style, markup=False)


def seconds(value: float) -> str:
    """Return a time in the unit that suits it.

    >>> seconds(0.00479), seconds(2.5), seconds(3.2e-6)
    ('4.79 ms', '2.50 s', '3.20 µs')
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3)):
        if value >= size:
            return f"{value / size:.2f} {unit}"
    return f"{value / 1e-6:.2f} µs"


def count(value: float) -> str:
    """Return a large number in words' units beside its digits.

    >>> count(8_030_261_248)
    '8,030,261,248 (8.03 billion)'
    >>> count(134_515_008)
    '134,515,008 (134.5 million)'
    """
    if value >= 1e9:
        return f"{value:,} ({value / 1e9:.2f} billion)"
    return f"{value:,} ({value / 1e6:.1f} million)"


def per_second(value: float, unit: str) -> str:
    """Return a rate in thousands of millions, or in millions of them.

    >>> per_second(989.4e12, "FLOP"), per_second(19.1e9, "B")
    ('989.4 TFLOP/s', '19.1 GB/s')
    """
    if value >= 1e12:
        return f"{value / 1e12:,.4g} T{unit}/s"
    return f"{value / 1e9:,.4g} G{unit}/s"
