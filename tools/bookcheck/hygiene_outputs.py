"""Hygiene of a cell's outputs: nothing that changes from run to run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from bookcheck.compare_html import attributes

MOST_BYTES = 50_000
MOST_BYTES_WITH_TRACE = 100_000

_ADDRESS = re.compile(
    r"\b(?:at|object|id|ptr|data_ptr)\W{0,3}0x[0-9a-fA-F]{6,}"
)
_LONG_HEX = re.compile(r"\b0x(?:7f|55|56|10)[0-9a-fA-F]{7,}\b")
_TIMESTAMP = re.compile(
    r"\b(?:19|20)\d\d-[01]\d-[0-3]\d[T ][0-2]\d:[0-5]\d"
    r"|\b(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)\w*,? +(?:\d\d? )?(?:Jan|Feb|Mar|Apr|"
    r"May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)[a-z]* [ \d]*\d\d?:[0-5]\d"
    r"|\b1[6-9]\d{8}\.\d{3,}"
)
_PATH = re.compile(
    r"(?<![\w.:/<])/(?:(?:home|Users|root|tmp|var|opt|usr|mnt)/\w"
    r"|(?:[\w.-]+/){2,}\w)|\b[A-Z]:\\\w|\bsite-packages[/\\]"
)
_TRACE = re.compile(r"<script\b[^>]*type=[\"']application/json", re.I)
_PIXELS = re.compile(r"data:image/(?:png|jpeg|gif|webp)", re.I)
_TAG = re.compile(r"<(svg|img)\b(?:\"[^\"]*\"|'[^']*'|[^'\">])*>", re.I)
_ID = re.compile(r"<[a-z][^>]*?\sid=[\"']([^\"']+)[\"']", re.I)
_SCRIPT = re.compile(r"<script\b.*?</script\s*>", re.I | re.S)
_TRACEBACK = "Traceback (most recent call last)"

Output = dict[str, Any]
Problems = Iterator[tuple[str, str]]


def output_problems(cell: dict[str, Any]) -> Problems:
    """Find outputs that nbval cannot compare, or that would not repeat."""
    for output in cell.get("outputs", []):
        yield from _kind_problems(output)
        for mime, text in values(output):
            yield from _text_problems(text)
            if mime == "text/html":
                yield from _html_problems(text)
        size = sum(len(text.encode()) for _, text in values(output))
        traced = any(_TRACE.search(text) for _, text in values(output))
        limit = MOST_BYTES_WITH_TRACE if traced else MOST_BYTES
        if size > limit:
            yield "size", f"an output of {size:,} bytes, expected <= {limit:,}"
    if "execution" in cell.get("metadata", {}):
        yield "timestamp", "the metadata holds times of execution"


def values(output: Output) -> Iterator[tuple[str, str]]:
    """Yield what an output holds: MIME type or kind, and text."""
    if output.get("output_type") == "stream":
        yield "stream", _joined(output.get("text", ""))
    elif output.get("output_type") == "error":
        yield "error", _joined(output.get("evalue", ""))
        yield "error", "\n".join(output.get("traceback", []))
    for mime, value in output.get("data", {}).items():
        yield mime, _joined(value)


def _joined(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(v, str) for v in value):
        return "".join(value)
    return json.dumps(value)


def picture_ids(output: Output) -> list[str]:
    """Return the ids that an output's HTML brings to the page."""
    html = _joined(output.get("data", {}).get("text/html", ""))
    return _ID.findall(_SCRIPT.sub("", html))


def _kind_problems(output: Output) -> Problems:
    """Find kinds of output that nbval skips or that are no output at all."""
    if output.get("output_type") == "stream" and output.get("name") != "stdout":
        text = _joined(output.get("text", "")).strip()
        yield "stderr", f"output on {output.get('name')}: {text[:60]!r}"
    for mime in output.get("data", {}):
        if "widget" in mime:
            yield "widget", f"a widget ({mime}) shows nothing on a static page"
        elif mime.startswith("image/") and mime != "image/svg+xml":
            yield "pixels", f"{mime} is never compared; use figure.show"


def _text_problems(text: str) -> Problems:
    """Find text that differs from run to run or from machine to machine."""
    for rule, pattern, what in (
        ("address", _ADDRESS, "a memory address"),
        ("address", _LONG_HEX, "a memory address"),
        ("timestamp", _TIMESTAMP, "a time of day"),
        ("path", _PATH, "an absolute path"),
    ):
        match = pattern.search(text)
        if match:
            yield rule, f"{what} in an output: {match[0]!r}"
    if _TRACEBACK in text:
        yield "traceback", "an output holds the text of a traceback"


def _html_problems(html: str) -> Problems:
    """Find pictures that nbval or some readers cannot see."""
    if _PIXELS.search(html):
        yield "pixels", "an embedded bitmap is not compared as a picture"
    for match in _TAG.finditer(html):
        name, given = attributes(match[0])
        hidden = given.get("aria-hidden") == "true"
        named = given.get("aria-label") or given.get("aria-labelledby")
        if name == "img" and not hidden and "alt" not in given:
            yield "alt", "an <img> without alt"
        if name == "svg" and not hidden:
            titled = html[match.end() :].lstrip().startswith("<title")
            if given.get("role") != "img" or not (named or titled):
                yield "alt", "an <svg> without role=img and a sentence"
