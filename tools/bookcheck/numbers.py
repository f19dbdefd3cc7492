"""Find numbers in text, with their units and their precision.

One grammar reads prose and outputs: ``134,515,008``, ``1.5e-3``,
``135 million``, ``2^30``, ``10⁹``, ``about 500``, ``18 GB/s``,
``37 prompt tokens``. Names that contain digits (``H100``, ``Llama-3.1-8B``,
``fp32``) are no numbers; in prose, neither are references, versions and
dates. Numbers spelled in letters are left to the reader.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from decimal import Decimal

from bookcheck.units import Unit, unit_at

_MONTH = (
    r"(?:Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|"
    r"Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?|Nov(?:ember)?|Dec(?:ember)?)"
)
_PLACE = (
    "table|section|figure|equation|algorithm|chapter|part|exercise|step|"
    "stage|listing|theorem|lemma|definition|page|footnote|volume|version|"
    "release|issue"
)
_SHORT_PLACE = r"sec|secs|fig|figs|eq|eqs|alg|pp|p|vol|ch"
_PRODUCT = (
    r"(?:Python|PyTorch|torch|NumPy|Numba|CUDA|Triton|Ubuntu|Debian|Windows|"
    r"macOS|PCIe|NVLink|transformers|tokenizers|vLLM|pip|Unicode|RFC|ISO|"
    r"IEEE|PEP|UTF|Apache|CC BY)"
)
_PLACED = r"\(?\d+(?:\.\d+)*[a-z]?\)?(?![\d,]*\d)"
_AND = r"\s*(?:,\s*and|,|–|-|and|or|to|&)\s*"
_VERSION = r"\bv?\d+(?:\.\d+){2,}\w*"
_SKIPPED_IN_PROSE = "|".join(
    (
        r"\d{4}-\d{2}-\d{2}",
        rf"\b\d{{1,2}}\s+{_MONTH}\b(?:\s+\d{{4}})?",
        rf"\b{_MONTH}\s+\d{{1,2}},\s+\d{{4}}|\b{_MONTH}\s+\d{{4}}",
        r"\b\d{1,2}:\d{2}(?::\d{2})?\b",
        r"\b(?:19[5-9]\d|20[0-2]\d)s\b",
        r"\barXiv[:\s]\s*\d{4}\.\d{4,5}(?:v\d+)?",
        rf"(?<!\w){_PRODUCT}[\s-]+v?\d+(?:\.\d+)*(?!,?\d)",
        rf"(?i:\b(?:{_PLACE})\s+{_PLACED})",
        rf"(?i:\b(?:{_PLACE})s\s+{_PLACED}(?:{_AND}{_PLACED})*)",
        rf"(?i:\b(?:{_SHORT_PLACE})\.\s*{_PLACED}(?:{_AND}{_PLACED})?)",
        rf"§§?\s*{_PLACED}",
        # A format's name: 4-bit, 32-bit.
        r"\b(?:1|2|3|4|5|6|8|16|32|64|128)[- ]bit\b",
    )
)
# Hexadecimal, code points, versions; and words, with the digits in them
# or joined to them: GPT-2, blk.29.
_NAMES = (
    rf"\b0[xX][0-9a-fA-F]+\b|\bU\+[0-9A-Fa-f]+\b|{_VERSION}|"
    r"[^\W\d]\w*(?:[-.+]\w+)*"
)
_SUPER = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_TO_PLAIN = str.maketrans(_SUPER + "⁻−", "0123456789--")
_EXPONENT = rf"(?:\^\{{?|\*\*)[-−]?\d{{1,3}}(?!\d)\}}?|⁻?[{_SUPER}]{{1,3}}"
_NUMBER = (
    r"(?P<sign>(?<![\w)\]}])[-−])?(?<![\w.])"
    r"(?P<digits>(?:\d{1,3}(?:[,_\u202f\u2009\u00a0]\d{3})+(?!\d)|\d+)"
    r"(?:\.\d+)?)"
    r"(?P<exp>[eE][-+−]?\d{1,3}(?!\w))?"
    rf"(?P<power>{_EXPONENT})?"
    rf"(?P<times>\s?[×·]\s?10(?:{_EXPONENT}))?"
)
_IN_PROSE = re.compile(f"{_SKIPPED_IN_PROSE}|{_NAMES}|{_NUMBER}")
_IN_OUTPUT = re.compile(f"{_NAMES}|{_NUMBER}")
_SUFFIX = re.compile(r"[^\W\d_]\w*")
_MULTIPLIER = re.compile(r"[\s-](thousand|million|billion|trillion)\b")
_MULTIPLIERS = {"thousand": 3, "million": 6, "billion": 9, "trillion": 12}
_LETTERS = {"k": 3, "K": 3, "M": 6, "B": 9, "T": 12}
_MANY = ("number", "token", "merge", "block", "slot", "line", "request")
_GAP = re.compile(r"-|[^\S\n]*(?:\n[^\S\n]*(?=\S))?")
_LISTED = re.compile(
    r"\s*(?:–|-|and|or|to|,\s*and|,\s*or)\s*|\s?/\s?|"
    r"\s+of(?:\s+(?:the|all|its|our|these))?\s+"
)
_ABOUT = re.compile(
    r"(?:\b(?:about|roughly|around|approximately|nearly|almost|some|circa)|"
    r"~|≈)\s*\Z",
    re.I,
)


@dataclass(frozen=True)
class Number:
    """A number as it is written somewhere.

    Attributes:
        text: As written, unit included.
        start: Where it begins in the text.
        value: Its value, without the unit's scale.
        step: What one unit of its last written digit is worth.
        digits: How many digits are written.
        decimal: It has a decimal point, so it may be rounded.
        unit: Its unit, if one follows.
        shared: The unit is that of the next number, as in "3 of 9 heads".
        about: A word such as "about" stands before it.
        scaled: A word such as "million" follows it.
    """

    text: str
    start: int
    value: Decimal
    step: Decimal
    digits: int
    decimal: bool = False
    unit: Unit | None = None
    shared: bool = False
    about: bool = False
    scaled: bool = False


def find_numbers(text: str, *, prose: bool = True) -> list[Number]:
    """Return the numbers of a text, in order.

    Args:
        text: Prose without markup, or a line of output.
        prose: Skip references, versions and dates too.

    >>> [str(n.value) for n in find_numbers("About 1.5 GB for 1,024 tokens")]
    ['1.5', '1024']
    """
    pattern = _IN_PROSE if prose else _IN_OUTPUT
    numbers: list[Number] = []
    at = 0
    while found := pattern.search(text, at):
        at = found.end()
        if found["digits"] is not None:
            number, at = _read(text, found)
            numbers += [] if number is None else [number]
    return _share_units(text, numbers)


def _read(text: str, found: re.Match[str]) -> tuple[Number | None, int]:
    """Return the number of a match, or None for a name; and its end."""
    tail = _tail(text, found.end())
    if tail is None:
        suffix = _SUFFIX.match(text, found.end())
        assert suffix is not None
        return None, suffix.end()
    multiplier, unit, end = tail
    value, step, digits = _value(found)
    scale = Decimal(10) ** multiplier
    before = text[max(0, found.start() - 20) : found.start()]
    number = Number(
        text=text[found.start() : end],
        start=found.start(),
        value=value * scale,
        step=step * scale,
        digits=digits,
        decimal="." in found["digits"] or bool(found["exp"]),
        unit=unit,
        about=bool(_ABOUT.search(before)),
        scaled=bool(multiplier),
    )
    return number, end


def _tail(text: str, end: int) -> tuple[int, Unit | None, int] | None:
    """Read what follows the digits: a power of ten, a unit, the end.

    Letters right after the digits that are no unit make it a name: None.
    """
    suffix = _SUFFIX.match(text, end)
    if suffix is None:
        word = _MULTIPLIER.match(text, end)
        multiplier = 0
        if word:
            multiplier, end = _MULTIPLIERS[word[1]], word.end()
        unit, end = _unit_after(text, end) or (None, end)
        return multiplier, unit, end
    if suffix[0] in _LETTERS:
        # "7B" is a name, "7B parameters" is a number of parameters.
        counted = _unit_after(text, suffix.end())
        if counted and counted[0].dimension in _MANY:
            return _LETTERS[suffix[0]], *counted
        return None
    attached = unit_at(text, end, attached=True)
    return (0, *attached) if attached else None


def _unit_after(text: str, end: int) -> tuple[Unit, int] | None:
    """Return the unit behind a blank or a hyphen, if there is one."""
    gap = _GAP.match(text, end)
    assert gap is not None
    hyphen = gap[0] == "-"
    found = unit_at(text, gap.end(), attached=hyphen)
    if found is None:
        return None
    written = text[gap.end() : found[1]]
    # "3 × 4" multiplies, and "3 x" is no factor.
    if written == "x" or (
        written == "×" and re.match(r"\s*[\d$(]", text[found[1] :])
    ):
        return None
    return found


def _value(found: re.Match[str]) -> tuple[Decimal, Decimal, int]:
    """Return value, worth of the last digit, and count of digits."""
    plain = re.sub(r"[^\d.]", "", found["digits"])
    value = Decimal(plain)
    step = Decimal(1).scaleb(int(value.as_tuple().exponent))
    digits = len(plain.replace(".", ""))
    if found["power"]:
        value = value ** _integer(found["power"]) if value else value
        step, digits = Decimal(1), max(digits, _length(value))
    exponent = 0
    if found["exp"]:
        exponent += _integer(found["exp"])
    if found["times"]:
        exponent += _integer(found["times"].lstrip(" ×·\u00a0")[2:])
    factor = Decimal(10) ** exponent
    value, step = value * factor, step * factor
    digits = max(digits, _length(value)) if exponent else digits
    return (-value if found["sign"] else value), step, digits


def _integer(text: str) -> int:
    """Return the integer in an exponent, whatever marks surround it."""
    return int(re.sub(r"[^\d-]", "", text.translate(_TO_PLAIN)))


def _length(value: Decimal) -> int:
    return len(f"{abs(value.normalize()):f}".replace(".", ""))


def _share_units(text: str, numbers: list[Number]) -> list[Number]:
    """Give the members of a list or range the unit of its last.

    A comma alone joins only what is already a list: the year in "in 2017,
    8 heads" counts no heads; "8, 16 and 32 heads" are all counts.
    """
    result: list[Number] = []
    in_list = False
    for number in reversed(numbers):
        joined = False
        if result and number.unit is None:
            following = result[-1]
            end = number.start + len(number.text)
            between = text[end : following.start]
            comma = in_list and between.strip() == ","
            joined = bool(comma or _LISTED.fullmatch(between))
            if joined:
                unit = following.unit
                number = replace(number, unit=unit, shared=unit is not None)
        in_list = joined
        result.append(number)
    return result[::-1]
