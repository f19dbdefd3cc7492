"""Faults of the text, and of the registry of published figures."""

from __future__ import annotations

from tamper.copies import ignore, in_cell, in_file, in_source
from tamper.fault import Fault

CITED = "of {cite:t}`grattafiori2024llama`"

PROSE = (
    Fault(
        "a prose number changed",
        in_source("cache-after", "46,080 bytes", "46,090 bytes"),
        ("prose",),
        r"cache-after.*no output and no cited fact says '46,090 bytes",
    ),
    Fault(
        "a prose count off by one",
        in_source("cache-after", "30 layers", "31 layers"),
        ("prose",),
        r"says '31 layers'",
    ),
    Fault(
        "a fact quoted without its citation",
        in_source("cache-after", CITED, "of the neighbours"),
        ("prose",),
        r"a fact does: cite grattafiori2024llama in this cell",
    ),
    Fault(
        "a fact quoted with another value",
        in_source("cache-after", "15.6 trillion", "15.0 trillion"),
        ("prose",),
        r"says '15\.0 trillion tokens'",
    ),
    Fault(
        "a quoted fact changed, the prose not",
        in_file("book/facts.toml", "value = 15.6", "value = 15.4"),
        ("prose",),
        r"says '15\.6 trillion tokens'",
    ),
    Fault(
        "a fact that the package computes otherwise",
        in_file("book/facts.toml", "value = 126", "value = 128"),
        ("facts",),
        r"llama-3-1-405b-layers\.value: got 126, expected 128",
    ),
    Fault(
        "a prose number that only an ignored cell prints",
        in_cell("cache", ignore),
        ("prose",),
        r"no output and no cited fact says '46,080 bytes",
        runs=True,
    ),
    Fault(
        "an exception to the rule without a reason",
        in_cell(
            "cache-after",
            lambda cell: cell.metadata.update(numbers={"46,080": " "}),
        ),
        ("prose",),
        r"the exception for 46,080 has no reason",
    ),
    Fault(
        "a number on a page without cells",
        in_file("book/words.md", "kept so", "4,096 tokens of them, kept so"),
        ("prose",),
        r"words\.md.*says '4,096 tokens'",
    ),
    Fault(
        "a term that the glossary lacks",
        in_source("choice-text", "become probabilities", "pass a **softmax**"),
        ("glossary",),
        r"got the term 'softmax', expected an entry in words\.md",
    ),
)
