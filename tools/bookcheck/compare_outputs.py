"""Comparison of a cell's outputs, whatever their MIME types.

``reconcile`` is what nbval's comparison is fed with: a copy of the fresh
outputs in which every value that agrees with the stored one is replaced
by it. nbval then compares exactly, as it always does.
"""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Any

from bookcheck.compare import (
    first_difference,
    floats_agree,
    reconcile_text,
)
from bookcheck.compare_html import html_agrees, html_difference

MARKUP = ("text/html", "image/svg+xml")
Slot = tuple[Any, str]


def slots(outputs: Sequence[Any]) -> dict[str, list[Slot]]:
    """Group the values of outputs as nbval does: by MIME type or stream.

    Returns:
        For each MIME type, stream name or part of an error, the places
        that hold its values, in order: a mapping and the key in it.
    """
    found: dict[str, list[Slot]] = defaultdict(list)
    for key, slot in _places(outputs):
        found[key].append(slot)
    return found


def _places(outputs: Sequence[Any]) -> Iterator[tuple[str, Slot]]:
    for output in outputs:
        if output["output_type"] == "stream":
            yield output["name"], (output, "text")
        elif output["output_type"] == "error":
            yield "evalue", (output, "evalue")
        for mime in output.get("data", {}):
            yield mime, (output["data"], mime)


def reconcile(test: Sequence[Any], ref: Sequence[Any]) -> list[Any]:
    """Return fresh outputs with all that agrees set to what is stored.

    Args:
        test: Outputs of the cell just run; not changed.
        ref: Outputs stored in the notebook.
    """
    fresh = copy.deepcopy(list(test))
    stored = slots(ref)
    for key, places in slots(fresh).items():
        for (holder, at), (other, there) in zip(
            places, stored.get(key, []), strict=False
        ):
            holder[at] = reconcile_value(key, holder[at], other[there])
    return fresh


def reconcile_value(mime: str, test: Any, ref: Any) -> Any:
    """Return ``ref`` if the two values agree, else ``test``.

    Of a text, the lines that agree become the stored ones, so that the
    report shows only those that do not.
    """
    if isinstance(test, str) and isinstance(ref, str):
        if mime in MARKUP:
            return ref if html_agrees(test, ref) else test
        return reconcile_text(test, ref)
    return ref if json_agrees(test, ref) else test


def json_agrees(test: Any, ref: Any) -> bool:
    """Compare parsed JSON: floats as ``compare`` does, the rest exactly."""
    if isinstance(test, dict) and isinstance(ref, dict):
        return test.keys() == ref.keys() and all(
            json_agrees(test[key], ref[key]) for key in test
        )
    if isinstance(test, list) and isinstance(ref, list):
        return len(test) == len(ref) and all(map(json_agrees, test, ref))
    if isinstance(test, float) and isinstance(ref, float):
        if test == ref or (test != test and ref != ref):
            return True
        text, other = repr(test), repr(ref)
        finite = "n" not in text + other
        return finite and floats_agree(text, other)
    return type(test) is type(ref) and test == ref


def differences(test: Sequence[Any], ref: Sequence[Any]) -> list[str]:
    """List where fresh and stored outputs disagree, a line for each."""
    ours, theirs = slots(test), slots(ref)
    found = []
    for key in sorted(ours.keys() | theirs.keys()):
        fresh, stored = ours.get(key, []), theirs.get(key, [])
        if len(fresh) != len(stored):
            found.append(
                f"{key}: stored {len(stored)} outputs, now {len(fresh)}"
            )
        for (a, at), (b, there) in zip(fresh, stored, strict=False):
            where = _difference(key, a[at], b[there])
            if where is not None:
                found.append(f"{key}: {where}")
    return found


def _difference(key: str, test: Any, ref: Any) -> str | None:
    if not (isinstance(test, str) and isinstance(ref, str)):
        return None if json_agrees(test, ref) else "another JSON value"
    if key in MARKUP:
        return html_difference(test, ref)
    return first_difference(test, ref)
