"""A text with facts to ask for: what a model can still find in its cache."""

from __future__ import annotations

from typing import NamedTuple

from cutaway.book.texts import TEXTS


class Fact(NamedTuple):
    """A statement, cut before its answer, and the question it answers.

    Attributes:
        question: Asks for it, in other words.
        stem: The beginning of the statement.
        answer: The rest, with the space before it and the full stop.
    """

    question: str
    stem: str
    answer: str


FACTS = (
    Fact(
        "What is the ship of Captain Doyle called?",
        "The ship of Captain Doyle is called the",
        " Swallow.",
    ),
    Fact(
        "From which platform does the train to Norland leave?",
        "The train to Norland leaves from platform",
        " nine.",
    ),
    Fact(
        "Where does the cat of Mrs Feld sleep?",
        "The cat of Mrs Feld sleeps in a",
        " violin case.",
    ),
    Fact(
        "What is the favourite fruit of Professor Lund?",
        "The favourite fruit of Professor Lund is the",
        " quince.",
    ),
    Fact(
        "What does the blue key open?",
        "The blue key opens the",
        " cellar.",
    ),
    Fact(
        "On which day is the meeting of the beekeepers?",
        "The meeting of the beekeepers is on",
        " Thursday.",
    ),
    Fact(
        "Where does the brother of Ottilie live?",
        "The brother of Ottilie lives in",
        " Lisbon.",
    ),
    Fact(
        "Who made the old clock in the tower?",
        "The old clock in the tower was made by",
        " Hartmann.",
    ),
)
"""Invented, so that a model can know them from the text alone."""


def recall_text() -> str:
    """Return a text in which the facts stand between other sentences.

    >>> recall_text().count(". ")
    15
    >>> all(fact.stem + fact.answer in recall_text() for fact in FACTS)
    True
    """
    pages = TEXTS["explanation"] + " " + TEXTS["story"]
    sentences = pages.replace(". ", ".|").split("|")
    parts = []
    for sentence, fact in zip(sentences, FACTS, strict=False):
        parts += [sentence, fact.stem + fact.answer]
    return " ".join(parts + sentences[len(FACTS) :])
