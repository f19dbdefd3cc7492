"""Hygiene of a cell's tags and source."""

from __future__ import annotations

import hashlib
import io
import re
import tokenize
from collections.abc import Iterator
from difflib import get_close_matches
from typing import Any

MOST_LINES = 15
IGNORE = frozenset({"nbval-ignore-output", "pytest-validate-ignore-output"})
SKIP = frozenset({"nbval-skip"})
IGNORING = IGNORE | SKIP
RAISES = frozenset({"raises-exception", "nbval-raises-exception"})
_KNOWN = IGNORING | RAISES | {"nbval-check-output"}
_COMMENT = re.compile(r"^\s*#+\s*((?:NBVAL|PYTEST_VALIDATE)_[A-Z_]+)\s*$", re.M)
_QUIET = re.compile(r"^\s*%%capture\b", re.M)
_IMAGE = re.compile(r"!\[\s*\]\(|<img(?![^>]*\balt=[\"'][^\"'])", re.I)
_MAGIC = re.compile(r"^(\s*)(%{1,2}|!|\?)(?=\w)", re.M)

Cell = dict[str, Any]
Problems = Iterator[tuple[str, str]]


def source_of(cell: Cell) -> str:
    """Return a cell's source as one string."""
    source = cell.get("source", "")
    return source if isinstance(source, str) else "".join(source)


def tags_of(cell: Cell) -> set[str]:
    """Return a cell's tags."""
    return set(cell.get("metadata", {}).get("tags", []))


def tag_problems(cell: Cell) -> Problems:
    """Find tags that hide something without a word why."""
    tags = tags_of(cell)
    metadata = cell.get("metadata", {})
    for tag in sorted(tags - _KNOWN):
        near = get_close_matches(tag, _KNOWN, 1, 0.85)
        if near or tag.startswith("nbval"):
            hint = near[0] if near else "none of nbval's"
            yield "tag", f"unknown tag {tag!r}; meant is {hint}?"
    hiding = sorted(IGNORING & tags)
    if hiding and not str(metadata.get("reason", "")).strip():
        yield "reason", f"tag {hiding[0]!r} without a reason in the metadata"
    if hiding:
        yield from _stamp_problems(cell)
    errors = [
        output
        for output in cell.get("outputs", [])
        if output.get("output_type") == "error"
    ]
    if RAISES & tags and not errors:
        yield "raises", "tagged raises-exception, but no error is stored"
    if errors and not RAISES & tags:
        name = errors[0].get("ename", "?")
        yield "raises", f"a stored {name}, but no tag raises-exception"


def _stamp_problems(cell: Cell) -> Problems:
    """Nobody compares an ignored output: tie it to its source by a hash."""
    ours = cell.get("metadata", {}).get("cutaway", {})
    source = source_of(cell).encode()
    if ours.get("source") != hashlib.sha256(source).hexdigest()[:12]:
        yield (
            "stale",
            "the output of this ignored cell is not from its present source",
        )
    elif not cell.get("outputs"):
        yield "stale", "an ignored cell without output: nothing to ignore"


def source_problems(cell: Cell) -> Problems:
    """Find source that silences output, or that no page can show."""
    source = source_of(cell)
    if cell.get("cell_type") == "markdown":
        if _IMAGE.search(source):
            yield "alt", "an image without alternative text"
        return
    if cell.get("cell_type") != "code":
        return
    comment = _COMMENT.search(source)
    if comment:
        yield "comment", f"# {comment[1]} in the source; use a tag"
    if _ends_with_semicolon(source) or _QUIET.search(source):
        yield "silenced", "output is silenced by ; or %%capture"
    lines = len(source.splitlines())
    reason = cell.get("metadata", {}).get("cutaway", {}).get("long")
    if lines > MOST_LINES and not reason:
        yield (
            "long",
            f"{lines} lines, expected <= {MOST_LINES} "
            '(or cutaway: {"long": "the reason"} in the metadata)',
        )


def _ends_with_semicolon(source: str) -> bool:
    """Whether the last statement ends in a semicolon.

    >>> _ends_with_semicolon("plot();  # quiet")
    True
    >>> _ends_with_semicolon("print(';')")
    False
    """
    code = _MAGIC.sub(r"\1#", source)
    last = ""
    blank = (
        tokenize.COMMENT,
        tokenize.NL,
        tokenize.NEWLINE,
        tokenize.INDENT,
        tokenize.DEDENT,
        tokenize.ENDMARKER,
    )
    try:
        for token in tokenize.generate_tokens(io.StringIO(code).readline):
            if token.type not in blank:
                last = token.string
    except (tokenize.TokenError, SyntaxError):
        return source.rstrip().endswith(";")
    return last == ";"
