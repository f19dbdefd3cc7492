"""One printable character for each of the 256 bytes.

A vocabulary file is text, and most byte values are no readable character.
GPT-2 therefore writes every byte as one printable character, its symbol:
the 188 bytes that are printable in Latin-1 stand for themselves, and the
other 68 take the characters from U+0100 on, in order. A space becomes
``Ġ`` and a newline ``Ċ``.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_PRINTABLE = frozenset(
    [*range(0x21, 0x7F), *range(0xA1, 0xAD), *range(0xAE, 0x100)]
)


def _byte_to_symbol() -> tuple[str, ...]:
    others = [byte for byte in range(256) if byte not in _PRINTABLE]
    moved = {byte: chr(0x100 + n) for n, byte in enumerate(others)}
    return tuple(moved.get(byte, chr(byte)) for byte in range(256))


BYTE_TO_SYMBOL: tuple[str, ...] = _byte_to_symbol()
SYMBOL_TO_BYTE: Mapping[str, int] = MappingProxyType(
    {symbol: byte for byte, symbol in enumerate(BYTE_TO_SYMBOL)}
)


def to_symbols(data: bytes) -> str:
    """Write bytes as symbols.

    Source: GPT-2's ``bytes_to_unicode``.

    >>> to_symbols(" the\\n".encode())
    'ĠtheĊ'
    """
    return "".join([BYTE_TO_SYMBOL[byte] for byte in data])


def to_bytes(symbols: str) -> bytes:
    """Read bytes back from symbols.

    Raises:
        KeyError: A character is no symbol.

    >>> to_bytes("Ġthe")
    b' the'
    """
    return bytes(map(SYMBOL_TO_BYTE.__getitem__, symbols))
