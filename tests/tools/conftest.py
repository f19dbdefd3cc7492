"""Small notebooks for the tests of the notebook tools."""

from __future__ import annotations

import copy
import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

SVG = (
    '<svg role="img" aria-label="A line that rises to the right." '
    'viewBox="0 0 10 10" id="fig-rise"><path d="M 0 10 L 10 0" '
    'style="stroke: #0072b2"/></svg>'
)


def _code(
    name: str, source: str, count: int, outputs: list[Any], **metadata: Any
) -> dict[str, Any]:
    return {
        "cell_type": "code",
        "execution_count": count,
        "id": name,
        "metadata": metadata,
        "outputs": outputs,
        "source": source.splitlines(keepends=True),
    }


def _stream(text: str, name: str = "stdout") -> dict[str, Any]:
    return {"name": name, "output_type": "stream", "text": [text]}


def _good() -> dict[str, Any]:
    timing = "print(seconds)"
    stamp = hashlib.sha256(timing.encode()).hexdigest()[:12]
    return {
        "cells": [
            {
                "cell_type": "markdown",
                "id": "header",
                "metadata": {"cutaway": {"header": True}},
                "source": [
                    "# A section\n",
                    "\n",
                    "*1 minute to read · runs in about 3 s · 0.2 GB of memory*",
                ],
            },
            _code("sum", "print(1 + 1)", 1, [_stream("2\n")]),
            _code(
                "plot",
                "draw()",
                2,
                [
                    {
                        "data": {"text/html": [SVG], "text/plain": ["rise"]},
                        "metadata": {},
                        "output_type": "display_data",
                    }
                ],
            ),
            _code(
                "time",
                timing,
                3,
                [_stream("0.12\n")],
                tags=["nbval-ignore-output"],
                reason="a time",
                cutaway={"source": stamp},
            ),
            _code(
                "error",
                'raise ValueError("no")',
                4,
                [
                    {
                        "ename": "ValueError",
                        "evalue": "no",
                        "output_type": "error",
                        "traceback": ["ValueError: no"],
                    }
                ],
                tags=["raises-exception"],
            ),
        ],
        "metadata": {
            "kernelspec": {
                "display_name": "Python 3 (ipykernel)",
                "language": "python",
                "name": "python3",
            },
            "language_info": {"name": "python"},
        },
        "nbformat": 4,
        "nbformat_minor": 5,
    }


@pytest.fixture
def good_notebook() -> dict[str, Any]:
    """A notebook without a fault, as parsed JSON, to be damaged at will."""
    return copy.deepcopy(_good())


@pytest.fixture
def write_notebook(tmp_path: Path):
    """A function that writes parsed JSON as a notebook file."""

    def write(notebook: dict[str, Any], name: str = "section.ipynb") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(
            notebook, indent=1, sort_keys=True, ensure_ascii=False
        )
        path.write_text(text + "\n", encoding="utf-8")
        return path

    return write
