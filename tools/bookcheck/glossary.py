"""Terms: bold at first use, and every bold term stands in the glossary."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from pathlib import Path

# Bold text that ends a sentence is a run-in heading, not a term.
BOLD = re.compile(r"(?<!\*)\*\*([^*]+?)\*\*(?!\*)", re.S)
CODE = re.compile(r"```.*?```|`[^`]*`|\$[^$]*\$", re.S)


def glossary_terms(page: Path) -> set[str]:
    """Return the terms of a page's ``{glossary}`` directive, lower case."""
    text = page.read_text(encoding="utf-8")
    body = re.search(r"```\{glossary\}\n(.*?)\n```", text, re.S)
    if body is None:
        return set()
    return {
        line.strip().lower()
        for line in body[1].splitlines()
        if line and not line[0].isspace() and not line.startswith(":")
    }


def bold_terms(notebook: Path) -> list[str]:
    """Return the bold terms of a notebook's prose, in order."""
    cells = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    terms: list[str] = []
    for cell in cells:
        if cell["cell_type"] != "markdown":
            continue
        text = CODE.sub(" ", "".join(cell["source"]))
        terms += [
            " ".join(term.split()).lower()
            for term in BOLD.findall(text)
            if term.rstrip()[-1] not in ".?!:"
        ]
    return terms


def is_form_of(term: str, entry: str) -> bool:
    """Whether a term is the entry or its plural.

    >>> is_form_of("queries", "query"), is_form_of("tokens", "token")
    (True, True)
    """
    plural = entry[:-1] + "ies" if entry.endswith("y") else entry + "s"
    return term in (entry, plural)


def findings(notebooks: Iterable[Path], page: Path) -> list[str]:
    """List terms that one of glossary and sections has and the other lacks."""
    entries = glossary_terms(page)
    problems: list[str] = []
    used: set[str] = set()
    for notebook in notebooks:
        for term in bold_terms(notebook):
            match = {entry for entry in entries if is_form_of(term, entry)}
            used |= match
            if not match:
                problems.append(
                    f"{notebook.name}: got the term {term!r}, "
                    f"expected an entry in {page.name}"
                )
    problems += [
        f"{page.name}: got {entry!r}, expected a term that some section "
        "introduces in bold"
        for entry in sorted(entries - used)
    ]
    return problems
