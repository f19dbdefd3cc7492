"""Read the values of a GGUF header from bytes that nobody vouches for."""

from __future__ import annotations

import struct
from types import MappingProxyType
from typing import Any

import numpy as np

from cutaway.core.errors import CutawayError


class GGUFError(CutawayError):
    """A file is not a GGUF file that this package can read."""


# Limits that no real file comes near (a large vocabulary makes a header of
# 30 MB). They, and the rule that a count is checked against the bytes that
# are left before anything is allocated, bound the cost of a hostile file.
MAX_HEADER_BYTES = 1 << 27
MAX_STRING_BYTES = 1 << 24
MAX_ARRAY_VALUES = 1 << 20
MAX_VALUES_IN_ARRAYS = 1 << 21

# Value types by number. Source: ggml, docs/gguf.md.
_BOOL, _STRING, _ARRAY = 7, 8, 9
_FIXED = MappingProxyType(
    {
        0: "<u1",
        1: "<i1",
        2: "<u2",
        3: "<i2",
        4: "<u4",
        5: "<i4",
        6: "<f4",
        7: "<u1",
        10: "<u8",
        11: "<i8",
        12: "<f8",
    }
)


class Cursor:
    """A position in untrusted bytes, and how to read the next value.

    Every read says what it reads, for the error message.

    Invariants:

    1. ``position`` never passes ``size``, the bytes a header may span.
    2. Nothing is allocated for a length that the bytes left cannot hold.
    """

    def __init__(self, buffer: Any, file_name: str) -> None:
        self.position = 0
        self.size = min(len(buffer), MAX_HEADER_BYTES)
        self._buffer = buffer
        self._file_name = file_name
        self._values_left = MAX_VALUES_IN_ARRAYS

    @property
    def bytes_left(self) -> int:
        """Bytes from the position to the end of what may be read."""
        return self.size - self.position

    def fail(self, what: str, got: object, expected: str) -> GGUFError:
        """Return the error to raise, with the name of the file in it."""
        return GGUFError(f"{self._file_name}: {what}", got, expected)

    def fixed(self, layout: str, what: str) -> Any:
        """Read one number of a NumPy layout such as ``<u4``."""
        return self._numbers(layout, 1, what)[0]

    def count(self, what: str, *, limit: int, item_bytes: int) -> int:
        """Read a 64-bit count of items that take ``item_bytes`` or more."""
        value = self.fixed("<u8", what)
        highest = min(limit, self.bytes_left // item_bytes)
        if value > highest:
            raise self.fail(
                what,
                value,
                f"at most {highest} ({self.bytes_left} bytes are left)",
            )
        return value

    def string(self, what: str, limit: int = MAX_STRING_BYTES) -> str:
        """Read a string: a 64-bit length and as many bytes of UTF-8."""
        length = self.count(f"{what}, length", limit=limit, item_bytes=1)
        start = self._advance(length, what)
        try:
            return str(self._buffer[start : self.position], "utf-8")
        except UnicodeDecodeError:
            raise self._not_text(start, self.position, what) from None

    def value(self, kind: int, what: str) -> Any:
        """Read a metadata value of type number ``kind``."""
        if kind == _STRING:
            return self.string(what)
        if kind == _ARRAY:
            return self._array(what)
        if kind not in _FIXED:
            raise self.fail(f"{what}, type", kind, "a value type, 0 to 12")
        value = self.fixed(_FIXED[kind], what)
        return self._to_bool(value, what) if kind == _BOOL else value

    def _array(self, what: str) -> list[Any]:
        kind = self.fixed("<u4", f"{what}, element type")
        if kind != _STRING and kind not in _FIXED:
            raise self.fail(
                f"{what}, element type",
                kind,
                "a value type, 0 to 12 without 9 (arrays do not nest)",
            )
        # A string takes at least the eight bytes of its length.
        item_bytes = 8 if kind == _STRING else int(_FIXED[kind][2])
        count = self.count(
            f"{what}, array length",
            limit=min(MAX_ARRAY_VALUES, self._values_left),
            item_bytes=item_bytes,
        )
        self._values_left -= count
        if kind == _STRING:
            return self._strings(count, what)
        values = self._numbers(_FIXED[kind], count, what)
        if kind == _BOOL:
            return [self._to_bool(value, what) for value in values]
        return values

    def _numbers(self, layout: str, count: int, what: str) -> list[Any]:
        start = self._advance(count * int(layout[2]), what)
        # A copy, not a view: a view would forbid to close the memory map.
        packed = self._buffer[start : self.position]
        return np.frombuffer(packed, layout).tolist()

    def _strings(self, count: int, what: str) -> list[str]:
        """Read ``count`` strings; the one loop whose speed is felt."""
        values: list[str] = []
        buffer, size = self._buffer, self.size
        read_length = struct.Struct("<Q").unpack_from
        start = end = self.position
        try:
            while len(values) < count and end + 8 <= size:
                length = read_length(buffer, end)[0]
                start = end + 8
                end = start + length
                if length > MAX_STRING_BYTES or end > size:
                    break
                values.append(str(buffer[start:end], "utf-8"))
        except UnicodeDecodeError:
            raise self._not_text(start, end, what) from None
        if len(values) < count:
            raise self.fail(
                f"{what}[{len(values)}]",
                "a length beyond the end",
                f"{count} strings in the {self.bytes_left} bytes left",
            )
        self.position = end
        return values

    def _advance(self, num_bytes: int, what: str) -> int:
        """Step over bytes, and return where they start."""
        if num_bytes > self.bytes_left:
            raise self.fail(
                what,
                f"the end, {self.bytes_left} bytes on",
                f"{num_bytes} bytes or more",
            )
        start = self.position
        self.position += num_bytes
        return start

    def _not_text(self, start: int, end: int, what: str) -> GGUFError:
        """Return the error for bytes that are not UTF-8."""
        sample = bytes(self._buffer[start : min(end, start + 16)])
        return self.fail(what, f"the bytes {sample!r}", "UTF-8 text")

    def _to_bool(self, value: int, what: str) -> bool:
        if value > 1:
            raise self.fail(what, value, "0 or 1 (a bool)")
        return value == 1
