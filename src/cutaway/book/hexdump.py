"""Show bytes as they lie in a file."""

from __future__ import annotations

import html

from cutaway.book.output import show_html
from cutaway.core.checks import check, check_int

__all__ = ["dump"]

ROW_BYTES = 8


def dump(data: bytes, first: int = 0, count: int | None = None) -> None:
    """Display some bytes in hexadecimal, eight a row.

    Each row begins with the place of its first byte and ends with the
    bytes that are letters; a dot stands for one that is none.

    Args:
        data: Where the bytes are taken from.
        first: Place of the first byte to show.
        count: How many to show; None shows all from ``first``.

    Raises:
        ArgumentError: There are no such bytes.

    >>> dump(b"GGUF" + bytes([3, 0, 0, 0, 16, 1]))
           0  47 47 55 46 03 00 00 00  GGUF....
           8  10 01                    ..
    """
    is_bytes = isinstance(data, (bytes, bytearray, memoryview))
    check(is_bytes, "data", type(data).__name__, "bytes")
    check_int("first", first, 0, len(data))
    rest = len(data) - first
    end = first + check_int("count", rest if count is None else count, 0, rest)
    rows = [
        _row(start, bytes(data[start : min(start + ROW_BYTES, end)]))
        for start in range(first, end, ROW_BYTES)
    ]
    text = "\n".join(rows)
    # The class of shown source: a listing, and nothing that prose rests on.
    show_html(
        '<div class="cutaway-source"><pre tabindex="0">'
        f"{html.escape(text)}</pre></div>",
        text,
    )


def _row(place: int, part: bytes) -> str:
    letters = "".join(chr(b) if 32 <= b < 127 else "." for b in part)
    return f"{place:8}  {part.hex(' '):{3 * ROW_BYTES - 1}}  {letters}"
