"""UTF-8 from its definition (RFC 3629): what may still become a character."""

from __future__ import annotations

from itertools import product

# One continuation byte from each range that some second byte must be in.
_CONTINUATIONS = (b"\x80", b"\x90", b"\xa0", b"\xbf")


def unfinished_tail(data: bytes) -> bytes:
    """Return the 0 to 3 last bytes that more bytes could make a character."""
    for length in (3, 2, 1):
        tail = data[len(data) - length :] if length <= len(data) else b""
        if tail and _is_prefix(tail):
            return tail
    return b""


def _is_prefix(tail: bytes) -> bool:
    if tail[0] < 0xC2 or tail[0] > 0xF4:
        return False
    for missing in (1, 2, 3):
        for rest in product(_CONTINUATIONS, repeat=missing):
            try:
                if len((tail + b"".join(rest)).decode("utf-8")) == 1:
                    return True
            except UnicodeDecodeError:
                continue
    return False


def half_surrogate(data: bytes) -> bytes:
    """Return the last two bytes if they begin an encoded surrogate.

    They can never become a character, but CPython's decoder waits for the
    third byte before it says so.
    """
    tail = data[-2:]
    return tail if len(tail) == 2 and b"\xed\xa0" <= tail < b"\xee" else b""
