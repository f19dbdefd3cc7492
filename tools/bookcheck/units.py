"""Units as people write them: ``GB/s``, ``tokens per second``, ``layers``.

A unit is a dimension and a scale: ``ms`` is (second, 1/1000). Nouns that
are counted are dimensions too; nouns that name the same thing in this book
(tokens, keys, positions) share one.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from types import MappingProxyType

_DECIMAL = {"": 0, "k": 3, "K": 3, "M": 6, "G": 9, "T": 12, "P": 15}
_BINARY = {"Ki": 1, "Mi": 2, "Gi": 3, "Ti": 4}
_SMALL = {"": 0, "m": -3, "µ": -6, "μ": -6, "u": -6, "n": -9}
_WORDS = {"": 0, "kilo": 3, "mega": 6, "giga": 9, "tera": 12}

_COUNTED = """
token key query position id piece
number element parameter param weight value component dimension dim entry
    logit float
layer
head
block page
step iteration round pass
request sequence prompt conversation user answer message
row column
tensor matrix vector
operation op multiplication addition product kernel
gpu accelerator device machine
core thread
character char letter
merge
symbol
word
line
expert
sm
model
test
example exercise
stage
part section chapter
pair
sample candidate
slot
cell
file
string sentence
point
node
batch chunk
case
bin
cycle clock
function
day
tile
group
bank
"""
_PLURALS = {"query": "queries", "entry": "entries", "matrix": "matrices"}


@dataclass(frozen=True)
class Unit:
    """A unit of measurement, or a counted noun.

    Attributes:
        dimension: ``byte``, ``second``, ``token``, ``byte/second`` ...
        scale: What one of it is in the dimension's plain unit.
        measured: Not merely counted: bytes, seconds, factors, rates.
    """

    dimension: str
    scale: Decimal
    measured: bool


def _power(base: int, exponent: int) -> Decimal:
    return Decimal(base) ** exponent


def _measured() -> dict[str, Unit]:
    """Return every spelling of the simple measured units."""
    table: dict[str, tuple[str, Decimal]] = {}
    for prefix, power in _DECIMAL.items():
        table[f"{prefix}B"] = ("byte", _power(10, power))
        table[f"{prefix}bit"] = ("bit", _power(10, power))
        table[f"{prefix}Hz"] = ("hertz", _power(10, power))
        for name in ("FLOP", "FLOPs"):
            table[f"{prefix}{name}"] = ("flop", _power(10, power))
        table[f"{prefix}FLOPS"] = ("flop/second", _power(10, power))
    for prefix, power in _BINARY.items():
        table[f"{prefix}B"] = ("byte", _power(1024, power))
    for prefix, power in _SMALL.items():
        table[f"{prefix}s"] = ("second", _power(10, power))
    for prefix, power in _WORDS.items():
        for noun, dimension in (("byte", "byte"), ("bit", "bit")):
            for ending in ("", "s"):
                table[prefix + noun + ending] = (dimension, _power(10, power))
    for word, power in (("", 0), ("milli", -3), ("micro", -6), ("nano", -9)):
        for ending in ("", "s"):
            table[f"{word}second{ending}"] = ("second", _power(10, power))
    for word, seconds in (("minute", 60), ("hour", 3600)):
        for ending in ("", "s"):
            table[word + ending] = ("second", Decimal(seconds))
    for word in ("sec", "secs"):
        table[word] = ("second", Decimal(1))
    for word in ("%", "percent", "per cent"):
        table[word] = ("percent", Decimal(1))
    for word in ("percentage point", "percentage points"):
        table[word] = ("percent", Decimal(1))
    for word in ("×", "x", "times", "fold"):
        table[word] = ("factor", Decimal(1))
    table["bpw"] = ("bit/number", Decimal(1))
    return {
        name: Unit(dimension, scale, measured=True)
        for name, (dimension, scale) in table.items()
    }


def _counted() -> dict[str, Unit]:
    """Return every counted noun, singular and plural."""
    table = {}
    groups = re.split(r"\n(?! )", _COUNTED.strip())
    for group in groups:
        first, *_ = nouns = group.split()
        for noun in nouns:
            unit = Unit(first, Decimal(1), measured=False)
            ending = "es" if noun.endswith(("s", "x", "ch")) else "s"
            table[noun] = unit
            table[_PLURALS.get(noun, noun + ending)] = unit
    # "tok" only stands in rates, as in tok/s.
    table["tok"] = table["token"]
    return table


MEASURED: Mapping[str, Unit] = MappingProxyType(_measured())
COUNTED: Mapping[str, Unit] = MappingProxyType(_counted())
_SINGULAR = frozenset(_COUNTED.split())


def _one_of(names: Mapping[str, Unit]) -> str:
    ordered = sorted(names, key=len, reverse=True)
    return "|".join(re.escape(name) for name in ordered)


_BLANK = r"(?:[^\S\n]|\n(?!\s*\n))"
_PER = rf"(?:{_BLANK}*/{_BLANK}*|{_BLANK}+(?:per|an?){_BLANK}+)"
_END = r"(?![^\W_])"
_NOUN = rf"(?i:{_one_of(COUNTED)})"
_SIMPLE = rf"(?:{_one_of(MEASURED)}|{_NOUN})"
_RATE = re.compile(rf"({_SIMPLE}){_PER}({_SIMPLE}){_END}")
_ALONE = re.compile(rf"({_SIMPLE}){_END}")
_STOP = (
    "a an and are as at be but by for from has have he if in into is it its "
    "more less fewer most no not of on or our per so than that the then "
    "these they this those to was we were what when which while who will "
    "with you your times"
)
_FILLER = rf"(?!(?:{'|'.join(_STOP.split())})\b)[^\W\d_][\w/'’-]*"
_QUALIFIED = re.compile(
    rf"(?:{_FILLER}{_BLANK}+){{1,2}}({_NOUN})(?:{_PER}({_SIMPLE}))?{_END}"
)
_ATTRIBUTE = frozenset({*_SINGULAR, "byte", "bit", "second", "minute", "hour"})


def unit_named(name: str) -> Unit | None:
    """Return the unit with this spelling, or None.

    >>> unit_named("GiB").scale
    Decimal('1073741824')
    """
    return MEASURED.get(name) or COUNTED.get(name.lower())


def unit_at(
    text: str, at: int, *, attached: bool = False
) -> tuple[Unit, int] | None:
    """Return the unit written at a place, and where it ends.

    A noun in the singular may stand before the one that is counted: in "37
    prompt tokens" it is tokens, in "a 37-token prompt" too.

    Args:
        text: Any text.
        at: Where the unit's first letter would be.
        attached: No blank stands before it: words between do not count.

    >>> unit_at("37 prompt tokens", 3)[0].dimension
    'token'
    >>> unit_at("18 GB per second", 3)[0].dimension
    'byte/second'
    """
    rate = _RATE.match(text, at)
    if rate and not (rate[1].lower() in _SINGULAR and _is_noun(rate[2])):
        return _rate(rate[1], rate[2]), rate.end()
    alone = _ALONE.match(text, at)
    attribute = alone is None or alone[1].lower() in _ATTRIBUTE
    if attribute and not attached:
        longer = _QUALIFIED.match(text, at)
        if longer:
            return _rate(longer[1], longer[2]), longer.end()
    return (_rate(alone[1], None), alone.end()) if alone else None


def _is_noun(name: str) -> bool:
    return name not in MEASURED


def _rate(over: str, under: str | None) -> Unit:
    """Return the unit of these spellings: a rate if there are two."""
    top = unit_named(over)
    bottom = unit_named(under) if under else None
    assert top is not None
    if bottom is None:
        return top
    return Unit(
        f"{top.dimension}/{bottom.dimension}",
        top.scale / bottom.scale,
        measured=top.measured or bottom.measured,
    )
