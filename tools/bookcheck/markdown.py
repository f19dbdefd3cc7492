"""What of a MyST text is prose: everything else becomes blanks.

Positions and line breaks stay where they are, so that a finding can name
the line.
"""

from __future__ import annotations

import re

import yaml

_SILENT = (
    "autoclass", "autofunction", "automodule", "bibliography", "code",
    "code-block", "code-cell", "contents", "doctest", "eval-rst", "image",
    "include", "literalinclude", "math", "mermaid", "raw",
    "tableofcontents", "toctree", "video",
)  # fmt: skip
_ARGUMENT_IS_PATH = ("figure",)
_FENCE = re.compile(r"^\s*(?P<mark>`{3,}|~{3,}|:{3,})\s*(?P<info>.*)$")
_DIRECTIVE = re.compile(r"\{(?P<name>[\w:.-]+)\}\s*(?P<argument>.*)$")
_OPTION = re.compile(r"^\s*:[\w-]+:")
_FRONT_MATTER = re.compile(r"\A---\n(?P<yaml>.*?\n)---\n", re.S)
_CITATION = re.compile(r"\{cite(?::\w+)?\}`([^`]+)`")

# In this order: what an earlier rule has blanked, a later one cannot see.
_NOT_PROSE = tuple(
    re.compile(pattern, re.S | re.M)
    for pattern in (
        r"<!--.*?-->",
        r"^%.*?$",
        r"^\([\w.-]+\)=\s*$",
        # Code and roles, within one paragraph.
        r"(?:\{[\w:.-]+\})?(?<!`)(`+)(?!`)(?:(?!\n\s*\n).)+?(?<!`)\1(?!`)",
        r"(?<!\\)\$\$.+?\$\$",
        r"(?<![\\$])\$(?![\s$])(?:(?!\n\s*\n)[^$])*?(?<![\s\\])\$(?!\d)",
        r"\\\[.+?\\\]|\\\(.+?\\\)|\\begin\{(\w+\*?)\}.+?\\end\{\1\}",
        r"^\s*\[[^\]\n]+\]:\s*\S+.*?$",
        r"(?<=\])\([^)\s]*(?:\s+\"[^\"]*\")?\)",
        r"\[\^[^\]\s]+\]",
        r"<[a-z]+:[^>\s]+>|\bhttps?://[^\s)>]+",
        r"</?[a-zA-Z][^>]*>",
        r"\{[#.:=][^}\n]*\}",
        r"^\s*(?:>\s*)*\d+[.)](?=\s)",
        r"&[a-z]+;|&#\w+;",
        r"\*+|~~|(?<!\w)_+(?=\S)|(?<=\S)_+(?!\w)|^#+|\\(?=\W)",
    )
)


def prose_of(source: str) -> str:
    """Return a text of the same length with all but the prose blanked.

    Args:
        source: MyST markdown.

    >>> prose_of("**37** tokens, `x = 5`")
    '  37   tokens,        '
    """
    text = _without_blocks(source)
    for pattern in _NOT_PROSE:
        text = pattern.sub(lambda found: _blank(found[0]), text)
    return text


def citations(source: str) -> frozenset[str]:
    """Return the bibliography keys that a text cites.

    >>> sorted(citations("{cite:p}`a2020,b2021`"))
    ['a2020', 'b2021']
    """
    text = _without_blocks(source)
    return frozenset(
        key.strip()
        for found in _CITATION.finditer(text)
        for key in found[1].split(",")
    )


def front_matter(source: str) -> dict[str, object]:
    """Return the YAML mapping on top of a page; empty without one."""
    found = _FRONT_MATTER.match(source)
    parsed = yaml.safe_load(found["yaml"]) if found else None
    return parsed if isinstance(parsed, dict) else {}


def sections(source: str) -> list[tuple[int, str]]:
    """Return a page cut before its headings: first line and text.

    Its front matter is blanked.
    """
    source = _FRONT_MATTER.sub(lambda found: _blank(found[0]), source)
    lines = source.split("\n")
    prose = _without_blocks(source).split("\n")
    starts = [0]
    starts += [
        number
        for number, line in enumerate(prose)
        if number and re.match(r"#{1,6}\s", line)
    ]
    ends = [*starts[1:], len(lines)]
    return [
        (start + 1, "\n".join(lines[start:end]))
        for start, end in zip(starts, ends, strict=True)
    ]


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def _without_blocks(source: str) -> str:
    """Blank front matter, code blocks, and the marks of directives."""
    found = _FRONT_MATTER.match(source)
    start = found.end() if found else 0
    lines = source[start:].split("\n")
    kept: list[str] = []
    open_fences: list[tuple[str, bool]] = []
    options = False
    for line in lines:
        fence = _FENCE.match(line)
        silent = bool(open_fences) and open_fences[-1][1]
        if fence and _closes(fence, open_fences):
            open_fences.pop()
            kept.append(_blank(line))
        elif fence and not silent:
            text, quiet = _opening(line, fence)
            open_fences.append((fence["mark"], quiet))
            kept.append(text)
            options = True
            continue
        elif silent or (options and _OPTION.match(line)):
            kept.append(_blank(line))
            continue
        else:
            kept.append(line)
        options = False
    return _blank(source[:start]) + "\n".join(kept)


def _closes(fence: re.Match[str], open_fences: list[tuple[str, bool]]) -> bool:
    """Tell whether a fence ends the innermost open block."""
    if not open_fences or fence["info"].strip():
        return False
    mark = open_fences[-1][0]
    return fence["mark"][0] == mark[0] and len(fence["mark"]) >= len(mark)


def _opening(line: str, fence: re.Match[str]) -> tuple[str, bool]:
    """Return an opening fence's title, and whether its block is code."""
    directive = _DIRECTIVE.match(fence["info"])
    if directive is None:
        return _blank(line), fence["mark"][0] != ":"
    name = directive["name"].split(":")[-1]
    if name in _SILENT:
        return _blank(line), True
    argument = directive["argument"]
    if name in _ARGUMENT_IS_PATH:
        argument = ""
    return " " * (len(line) - len(argument)) + argument, False
