"""matplotlib's SVG made deterministic, small and fit for an HTML page."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator

from cutaway.book._style import INK

_LONG_NUMBER = re.compile(r"-?\d+\.\d+(?:e[-+]?\d+)?")
_AUTO_ID = re.compile(r"^[\w.]+_\d+$")
_REFERENCE = re.compile(r"(?<=#)[\w.-]+")
_NO_TURN = re.compile(r"^rotate\(-?0(?:\.0*)? [^)]*\)$")
_FONT_FAMILY = re.compile(r"\s*font-family:[^;]*;?")
_REFERRING = ("href", "clip-path", "style", "mask", "fill")
_NUMERIC = (
    "d", "x", "y", "width", "height", "transform", "style", "points",
    "x1", "x2", "y1", "y2", "cx", "cy", "r", "rx", "ry", "viewBox",
)  # fmt: skip

FONT = "'DejaVu Sans', Verdana, sans-serif"
"""The font that measured the labels, then one of the same widths."""


def clean(svg: str, name: str, alt: str) -> str:
    """Return an SVG element for a page from what matplotlib wrote.

    The same drawing always gives the same text: no version, no date, ids
    numbered in the order of the document and prefixed with the name
    (matplotlib's depend on the contents of paths), coordinates rounded to
    two decimals. matplotlib's style sheet, which would restyle the whole
    page, becomes attributes of the root.

    Args:
        svg: A document by matplotlib with ``svg.fonttype`` ``none``.
        name: Prefix of every id, behind ``fig-``: headings have ids too.
        alt: What the picture shows, for those who do not see it.
    """
    prefix = f"fig-{name}"
    root = ET.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            invisible = child.get("style") == "fill: none"
            if invisible or _plain(child.tag) in ("metadata", "style"):
                parent.remove(child)
    for element in root.iter():
        _tidy(element)
    _remove_empty_groups(root)
    _rename_ids(root, prefix)
    width = root.attrib["viewBox"].split()[2]
    attributes = {
        "class": "cutaway-figure",
        "id": prefix,
        "role": "img",
        "aria-label": alt,
        "viewBox": root.attrib["viewBox"],
        "font-family": FONT,
        "stroke-linejoin": "round",
        "style": f"width: {width}pt; max-width: 100%; height: auto",
    }
    root.attrib.clear()
    root.attrib.update(attributes)
    root.tail = None
    return ET.tostring(root, encoding="unicode")


def font_sizes(svg: str) -> Iterator[float]:
    """Yield every font size in an SVG, in points."""
    for size in re.findall(r"font(?:-size)?: ([\d.]+)px", svg):
        yield float(size)


def _plain(tag: str) -> str:
    """Drop the namespace of a tag or attribute name."""
    return tag.rpartition("}")[2]


def _tidy(element: ET.Element) -> None:
    """Shorten one element in place: names, numbers, blanks, colours."""
    element.tag = _plain(element.tag)
    attributes = {_plain(key): value for key, value in element.attrib.items()}
    for key, value in attributes.items():
        if key in _NUMERIC:
            value = " ".join(_LONG_NUMBER.sub(_two_decimals, value).split())
        if key == "style":
            value = _FONT_FAMILY.sub("", value).replace(INK, "currentColor")
        attributes[key] = value.strip().rstrip(";")
    if _NO_TURN.match(attributes.get("transform", "")):
        del attributes["transform"]
    if attributes.get("id", "").startswith("QuadMesh"):
        # Without it, hairlines of the page show between the cells.
        attributes["shape-rendering"] = "crispEdges"
    element.attrib.clear()
    element.attrib.update(attributes)
    if element.tag not in ("text", "tspan"):
        element.text = (element.text or "").strip()
    tail = element.tail or ""
    element.tail = "\n" if "\n" in tail else tail


def _two_decimals(match: re.Match[str]) -> str:
    """Write a number with at most two decimals, never as ``-0``."""
    text = f"{float(match[0]):.2f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def _remove_empty_groups(root: ET.Element) -> None:
    """Drop groups and definitions that hold nothing, from the inside out."""
    for parent in reversed(list(root.iter())):
        for child in list(parent):
            if child.tag in ("defs", "g") and not len(child):
                parent.remove(child)


def _rename_ids(root: ET.Element, prefix: str) -> None:
    """Number the ids that are used, keep those an author set, drop others."""
    used = {
        target
        for element in root.iter()
        for key in _REFERRING
        for target in _REFERENCE.findall(element.attrib.get(key, ""))
    }
    renamed: dict[str, str] = {}
    number = 0
    for element in root.iter():
        old = element.attrib.get("id")
        if old is None or element is root:
            continue
        if old in used:
            number += 1
            renamed[old] = f"{prefix}-{number}"
        elif not _AUTO_ID.match(old):
            renamed[old] = f"{prefix}-{old}"
        else:
            del element.attrib["id"]
            continue
        element.attrib["id"] = renamed[old]
    for element in root.iter():
        for key in _REFERRING:
            if key in element.attrib:
                element.attrib[key] = _REFERENCE.sub(
                    lambda match: renamed.get(match[0], match[0]),
                    element.attrib[key],
                )
