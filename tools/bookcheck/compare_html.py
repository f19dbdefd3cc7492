"""Comparison of HTML and SVG: markup exact, drawings within 0.05 px.

Text between tags and the values of attributes follow the rules of
``compare``; so does JSON in a ``<script>``. Inside ``<svg>`` a coordinate
may move by 0.05 px, and a colour channel by 2 of 255. Source shown by
``show`` is no measurement: not a digit of it may differ.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from bookcheck.compare import first_difference, text_agrees

PIXELS = 0.05
CHANNEL = 2
SHOWN_SOURCE = 'class="cutaway-source"'

_PIECE = re.compile(
    r"""
      (?P<raw> <(?P<name> script | style )\b (?: "[^"]*" | '[^']*' | [^'">] )*>
               .*? </(?P=name)\s*> )
    | (?P<comment> <!-- .*? --> )
    | (?P<tag> </?[A-Za-z] (?: "[^"]*" | '[^']*' | [^'">] )* > )
    | (?P<text> [^<]+ | < )
    """,
    re.X | re.S | re.I,
)
_ATTRIBUTE = re.compile(
    r"""([^\s=>"'/]+) (?: \s*=\s* ( "[^"]*" | '[^']*' | [^\s"'>]+ ) )?""",
    re.X,
)
_COORDINATE = re.compile(
    r"d|points|viewbox|[xy][12]?|[cd][xy]|r[xy]?|width|height"
)
_MOVES = re.compile(r"(translate|rotate|[a-zA-Z]+)\s*\(([^)]*)\)")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_COLOUR = re.compile(r"#([0-9a-fA-F]{6}|[0-9a-fA-F]{3})\b")


@dataclass(frozen=True)
class Piece:
    """A tag, a text or the like, and whether it stands inside an SVG."""

    kind: str
    text: str
    in_svg: bool


def pieces(markup: str) -> Iterator[Piece]:
    """Split HTML into tags, texts, comments and raw elements."""
    depth = 0
    for match in _PIECE.finditer(markup):
        kind = match.lastgroup or "text"
        if match["raw"]:
            kind = "raw"
        text = match[0]
        if kind == "tag" and re.match(r"<svg\b", text, re.I):
            depth += not text.endswith("/>")
        inside = depth > 0
        if kind == "tag" and re.match(r"</svg\b", text, re.I):
            depth = max(0, depth - 1)
        if kind != "text" or text.strip():
            yield Piece(kind, text, inside)


def html_agrees(test: str, ref: str) -> bool:
    """Whether two pieces of HTML, SVG included, agree.

    >>> html_agrees('<svg><path d="M 1.00 2"/></svg>',
    ...             '<svg><path d="M 1.04 2"/></svg>')
    True
    >>> html_agrees("<b>37</b>", "<i>37</i>")
    False
    """
    if test == ref or SHOWN_SOURCE in ref:
        return test == ref
    return all(
        _piece_agrees(a, b) for a, b in zip_longest(pieces(test), pieces(ref))
    )


def html_difference(test: str, ref: str) -> str | None:
    """Say where two pieces of HTML first disagree; None if nowhere."""
    if SHOWN_SOURCE in ref:
        for fresh, stored in zip_longest(_code_lines(test), _code_lines(ref)):
            if fresh != stored:
                return f"shown source: stored {stored!r}, now {fresh!r}"
    for a, b in zip_longest(pieces(test), pieces(ref)):
        if _piece_agrees(a, b):
            continue
        fresh = "nothing" if a is None else _short(a.text)
        stored = "nothing" if b is None else _short(b.text)
        inner = first_difference(fresh, stored)
        if a and b and len(a.text) + len(b.text) > 160:
            inner = first_difference(a.text, b.text)
        return f"stored {stored}, now {fresh} ({inner})"
    return None


def _code_lines(markup: str) -> list[str]:
    """Return the lines of shown source, without the markup."""
    return html.unescape(re.sub(r"<[^>]*>", "", markup)).splitlines()


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= 80 else text[:77] + "..."


def _piece_agrees(test: Piece | None, ref: Piece | None) -> bool:
    if test is None or ref is None:
        return test is ref
    if (test.kind, test.in_svg) != (ref.kind, ref.in_svg):
        return False
    if test.kind == "tag":
        return _tag_agrees(test.text, ref.text, test.in_svg)
    return text_agrees(test.text, ref.text)


def attributes(tag: str) -> tuple[str, dict[str, str]]:
    """Return a tag's name and its attributes, unquoted.

    >>> attributes('<rect x="1" class=a hidden/>')
    ('rect', {'x': '1', 'class': 'a', 'hidden': ''})
    """
    head = re.match(r"</?[^\s/>]+", tag)
    name = head[0].lstrip("<") if head else ""
    rest = tag[len(head[0]) if head else 0 :].rstrip(">").rstrip("/")
    return name.lower(), {
        key.lower(): value.strip("\"'")
        for key, value in _ATTRIBUTE.findall(rest)
    }


def _tag_agrees(test: str, ref: str, in_svg: bool) -> bool:
    if test == ref:
        return True
    (name, ours), (stored_name, theirs) = attributes(test), attributes(ref)
    if name != stored_name or ours.keys() != theirs.keys():
        return False
    return all(
        _value_agrees(key, ours[key], theirs[key], in_svg) for key in ours
    )


def _value_agrees(key: str, test: str, ref: str, in_svg: bool) -> bool:
    """Compare the values of one attribute."""
    if test == ref:
        return True
    if not in_svg:
        return text_agrees(test, ref)
    if _COORDINATE.fullmatch(key):
        return coordinates_agree(test, ref)
    if key == "transform":
        return _transform_agrees(test, ref)
    return _colours_agree(test, ref)


def coordinates_agree(test: str, ref: str) -> bool:
    """Whether the numbers differ by at most 0.05 px, the rest not at all.

    >>> coordinates_agree("M 1 2 L 3 4", "M 1.05 2 L 3 4")
    True
    >>> coordinates_agree("M 1 2 L 3 4", "M 1.06 2 L 3 4")
    False
    """
    if _NUMBER.sub("0", test).split() != _NUMBER.sub("0", ref).split():
        return False
    return all(
        abs(float(a) - float(b)) <= PIXELS + 1e-9
        for a, b in zip(
            _NUMBER.findall(test), _NUMBER.findall(ref), strict=True
        )
    )


def _transform_agrees(test: str, ref: str) -> bool:
    """Compare transforms: a shift in pixels, a scale as a number."""
    if _MOVES.sub("", test).split() != _MOVES.sub("", ref).split():
        return False
    ours, theirs = _MOVES.findall(test), _MOVES.findall(ref)
    if [name for name, _ in ours] != [name for name, _ in theirs]:
        return False
    return all(
        coordinates_agree(a, b)
        if name in ("translate", "rotate")
        else text_agrees(a, b)
        for (name, a), (_, b) in zip(ours, theirs, strict=True)
    )


def _colours_agree(test: str, ref: str) -> bool:
    """Compare a style or colour: channels within 2, the rest as text."""
    if not text_agrees(_COLOUR.sub("#", test), _COLOUR.sub("#", ref)):
        return False
    return all(
        abs(a - b) <= CHANNEL
        for ours, theirs in zip(
            _COLOUR.findall(test), _COLOUR.findall(ref), strict=True
        )
        for a, b in zip(_channels(ours), _channels(theirs), strict=True)
    )


def _channels(colour: str) -> tuple[int, ...]:
    if len(colour) == 3:
        colour = "".join(2 * digit for digit in colour)
    return tuple(int(colour[at : at + 2], 16) for at in (0, 2, 4))
