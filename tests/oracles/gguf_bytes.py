"""Write GGUF bytes by hand, wrong ones too. Imports nothing of the package."""

from __future__ import annotations

import struct


def string(text: str | bytes, length: int | None = None) -> bytes:
    """A GGUF string; ``length`` may lie."""
    data = text.encode() if isinstance(text, str) else text
    return struct.pack("<Q", len(data) if length is None else length) + data


def pair(key: str | bytes, kind: int, payload: bytes) -> bytes:
    """A metadata entry: key, type number, value bytes."""
    return string(key) + struct.pack("<I", kind) + payload


def array(kind: int, count: int, payload: bytes = b"") -> bytes:
    """The value of an array entry; ``count`` may lie."""
    return struct.pack("<IQ", kind, count) + payload


def tensor(
    name: str = "w",
    dims: tuple[int, ...] = (4,),
    kind: int = 0,
    offset: int = 0,
    num_dims: int | None = None,
) -> bytes:
    """A tensor entry; dims fastest first, as in the file."""
    return (
        string(name)
        + struct.pack("<I", len(dims) if num_dims is None else num_dims)
        + struct.pack(f"<{len(dims)}Q", *dims)
        + struct.pack("<IQ", kind, offset)
    )


def gguf(
    pairs: tuple[bytes, ...] = (),
    tensors: tuple[bytes, ...] = (),
    data: bytes = b"",
    *,
    magic: bytes = b"GGUF",
    version: int = 3,
    num_tensors: int | None = None,
    num_pairs: int | None = None,
    alignment: int = 32,
) -> bytes:
    """A whole file; the counts may lie."""
    head = magic + struct.pack(
        "<IQQ",
        version,
        len(tensors) if num_tensors is None else num_tensors,
        len(pairs) if num_pairs is None else num_pairs,
    )
    head += b"".join(pairs) + b"".join(tensors)
    return head + b"\0" * (-len(head) % alignment) + data
