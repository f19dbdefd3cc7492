"""Numeric comparison of text: words exact, floats within rounding.

Through 30 layers the float32 logits of two CPUs differ by 3e-5 relative,
and a few per cent of them round to another fourth digit. So a stored and
a fresh output agree when

- words, integers and versions are the same;
- a float differs by at most 1e-4 relative or, if either shows three or
  more significant digits, by at most one unit of the last place shown;
  with one or two digits it must be the same;
- only blanks within a line differ (columns move when a width changes).

``-0.0`` is ``0.0``, and all minus signs are alike. HTML and SVG, whose
coordinates and colours have tolerances of their own, are compared in
``compare_html``, and whole outputs in ``compare_outputs``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from itertools import zip_longest

RELATIVE = Decimal("1e-4")
MINUS = str.maketrans(dict.fromkeys("\u2212\u2013\u2012\u2796\uff0d", "-"))

_TOKEN = re.compile(
    r"""
      (?P<newline> \n )
    | (?P<blank> [^\S\n]+ )
    | (?P<version>                     # exact: 2.13.0, ==2.13, version 3.7
        (?<!\w) \d+ (?: \.\d+ ){2,} \w*
      | (?: (?<===) | (?<=[Vv]ersion[ ]) ) \d [\w.]*
      )
    | (?P<number>
        (?: (?<! [\w.)\]] ) [-+] )?    # a sign, unless it is a minus between
        (?<! [\w.] )                   # not inside a word or a version
        (?: (?: \d{1,3} (?: ,\d{3} )+ (?!\d) | \d+ )
            (?: \.\d+
              | \. (?= [],] | \s+ (?: [-+\[\].\d] | nan | inf ) ) )?
          | \.\d+ )
        (?: [eE][-+]\d+ (?!\w) )?
      )
    | (?P<word> \w+ )
    | (?P<sign> . )
    """,
    re.X | re.S,
)


@dataclass(frozen=True)
class Token:
    """A piece of text: its kind, and the text."""

    kind: str
    text: str

    @property
    def is_float(self) -> bool:
        """Whether this is a number with a point or an exponent."""
        return self.kind == "number" and any(c in self.text for c in ".eE")


def tokens(text: str) -> Iterator[Token]:
    """Yield the tokens of a text but its blanks; newlines count.

    >>> [t.text for t in tokens("[ 0.5 -1e-05]  v2.1.0 (37 tokens)")]
    ['[', '0.5', '-1e-05', ']', 'v2', '.', '1', '.', '0', '(', '37', \
'tokens', ')']
    """
    for match in _TOKEN.finditer(text.translate(MINUS)):
        kind = match.lastgroup or "sign"
        if kind != "blank":
            yield Token(kind, match[0])


def floats_agree(test: str, ref: str) -> bool:
    """Whether two floats, as printed, are the same up to rounding.

    Args:
        test: What the cell printed now.
        ref: What is stored.

    >>> floats_agree("3.14159", "3.14161"), floats_agree("3.142", "3.11")
    (True, False)
    >>> floats_agree("0.5", "0.6"), floats_agree("-0.0", "0.0")
    (False, True)
    """
    a, b = _decimal(test), _decimal(ref)
    if a == b:
        return True
    if max(_digits(test), _digits(ref)) < 3:
        return False
    gap = abs(a - b)
    if gap <= RELATIVE * max(abs(a), abs(b)):
        return True
    # "1024." shows no digit behind its point: no place to be off by one.
    places = [
        Decimal(1).scaleb(int(number.as_tuple().exponent))
        for text, number in ((test, a), (ref, b))
        if not text.endswith(".")
    ]
    return bool(places) and gap <= min(places)


def _decimal(text: str) -> Decimal:
    return Decimal(text.replace(",", ""))


def _digits(text: str) -> int:
    """Count the significant digits that a float shows."""
    mantissa = re.split("[eE]", text)[0]
    return len(re.sub(r"\D", "", mantissa).lstrip("0"))


def tokens_agree(test: Token | None, ref: Token | None) -> bool:
    """Whether two tokens are equal, or floats that agree."""
    if test is None or ref is None:
        return test is ref
    if test.is_float and ref.is_float:
        return floats_agree(test.text, ref.text)
    return test == ref


def text_agrees(test: str, ref: str) -> bool:
    """Whether two texts agree, token by token.

    >>> text_agrees("loss  1.0001", "loss 1.0002")
    True
    >>> text_agrees("37 tokens", "38 tokens")
    False
    """
    return test == ref or all(
        tokens_agree(a, b) for a, b in zip_longest(tokens(test), tokens(ref))
    )


def reconcile_text(test: str, ref: str) -> str:
    """Return ``test`` with every line that agrees replaced by the stored one.

    The result equals ``ref`` exactly if the texts agree; if not, a plain
    comparison shows the lines that really differ, and no others.
    """
    if text_agrees(test, ref):
        return ref
    ours, theirs = test.split("\n"), ref.split("\n")
    if len(ours) != len(theirs):
        return test
    return "\n".join(
        stored if text_agrees(fresh, stored) else fresh
        for fresh, stored in zip(ours, theirs, strict=True)
    )


def first_difference(test: str, ref: str) -> str | None:
    """Say where two texts first disagree; None where they agree."""
    line = 1
    for a, b in zip_longest(tokens(test), tokens(ref)):
        if not tokens_agree(a, b):
            stored = "nothing" if b is None else repr(b.text)
            fresh = "nothing" if a is None else repr(a.text)
            return f"line {line}: stored {stored}, now {fresh}"
        line += a is not None and a.kind == "newline"
    return None
