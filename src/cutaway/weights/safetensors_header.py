"""The header of a safetensors file: JSON that nobody vouches for."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from cutaway.core.errors import CutawayError
from cutaway.weights.mapped_file import TensorInfo


class SafetensorsError(CutawayError):
    """A file is not a safetensors file that this package can read."""


# Source: huggingface/safetensors, safetensors/src/tensor.rs. The order is
# that of the writer, which puts the widest numbers first.
ITEM_BYTES: Mapping[str, int] = MappingProxyType(
    {
        "U64": 8,
        "I64": 8,
        "F64": 8,
        "F32": 4,
        "U32": 4,
        "I32": 4,
        "BF16": 2,
        "F16": 2,
        "U16": 2,
        "I16": 2,
        "F8_E4M3": 1,
        "F8_E5M2": 1,
        "I8": 1,
        "U8": 1,
        "BOOL": 1,
    }
)
"""Bytes of one number of each type, widest first."""

MAX_HEADER_BYTES = 100_000_000
"""What the format allows a header to take."""

MAX_DIMS = 64
"""The most dimensions of a NumPy array."""

_MAX_ELEMENTS = (1 << 60) - 1  # of 8 bytes: what NumPy can address


@dataclass(frozen=True)
class SafetensorsHeader:
    """Everything before the numbers.

    Attributes:
        metadata: Texts by name, often empty.
        tensors: Entries by tensor name, in the order of the numbers.
        data_offset: Byte of the file at which the numbers begin.
    """

    metadata: dict[str, str]
    tensors: dict[str, TensorInfo]
    data_offset: int


def read_safetensors_header(buffer: Any, file_name: str) -> SafetensorsHeader:
    """Read the header of a safetensors file and check all it says.

    Eight bytes hold the length of the header, which is JSON: for each
    tensor its type, its shape, and where its bytes begin and end. The
    tensors must fill the rest of the file exactly, without a gap.

    Args:
        buffer: The whole file, as ``bytes`` or a memory map.
        file_name: The name to put in error messages.

    Raises:
        SafetensorsError: The file is truncated, its header is too long, is
            no JSON, or does not fit the bytes that follow.

    Cost: O(header).
    Source: huggingface/safetensors, README, section Format.
    Differs: the library lets blanks stand before the JSON, takes the last
    of two tensors of one name, and any shape of an empty tensor.
    """
    data_offset = 8 + _header_length(buffer, file_name)
    entries = _parse(bytes(buffer[8:data_offset]), file_name)
    metadata = _metadata(entries.pop("__metadata__", {}), file_name)
    infos = [_entry(name, entry, file_name) for name, entry in entries.items()]
    infos.sort(key=lambda info: (info.offset, info.offset + info.nbytes))
    _check_cover(infos, len(buffer) - data_offset, file_name)
    tensors = {info.name: info for info in infos}
    return SafetensorsHeader(metadata, tensors, data_offset)


def _header_length(buffer: Any, file_name: str) -> int:
    name = f"{file_name}: header length"
    if len(buffer) < 8:
        raise SafetensorsError(name, f"{len(buffer)} bytes", "8 bytes or more")
    length = int.from_bytes(buffer[:8], "little")
    if length > MAX_HEADER_BYTES:
        raise SafetensorsError(name, length, f"at most {MAX_HEADER_BYTES}")
    room = len(buffer) - 8
    if length > room:
        expected = f"at most {room}, the bytes left: is the file truncated?"
        raise SafetensorsError(name, length, expected)
    return length


def _parse(data: bytes, file_name: str) -> dict[str, Any]:
    """Read the JSON of a header: one object, no name twice."""
    name = f"{file_name}: header"

    def without_twins(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        found = dict(pairs)
        if len(found) < len(pairs):
            [(twin, _)] = Counter(key for key, _ in pairs).most_common(1)
            raise SafetensorsError(f"{name}, name", repr(twin), "no name twice")
        return found

    if data[:1] != b"{":
        raise SafetensorsError(name, repr(data[:8]), "JSON that begins with {")
    try:
        return json.loads(data.decode("utf-8"), object_pairs_hook=without_twins)
    except SafetensorsError:
        raise
    except ValueError as fault:  # no UTF-8, no JSON, or 5,000 digits
        raise SafetensorsError(name, fault, "one JSON object") from None
    except RecursionError:
        expected = "JSON of three levels"
        raise SafetensorsError(name, "deeper nesting", expected) from None


def _metadata(value: Any, file_name: str) -> dict[str, str]:
    is_mapping = isinstance(value, dict)
    if not is_mapping or not all(isinstance(v, str) for v in value.values()):
        name = f"{file_name}: __metadata__"
        raise SafetensorsError(name, repr(value)[:60], "texts by name")
    return value


def _entry(name: str, entry: Any, file_name: str) -> TensorInfo:
    """Check the entry of one tensor."""
    what = f"{file_name}: tensor {name!r}"
    keys = {"dtype", "shape", "data_offsets"}
    if not isinstance(entry, dict) or not keys <= entry.keys():
        expected = "dtype, shape and data_offsets"
        raise SafetensorsError(what, repr(entry)[:60], expected)
    dtype, shape = entry["dtype"], entry["shape"]
    span = entry["data_offsets"]
    if not isinstance(dtype, str) or dtype not in ITEM_BYTES:
        known = ", ".join(ITEM_BYTES)
        raise SafetensorsError(f"{what}, dtype", repr(dtype), f"one of {known}")
    if not _is_shape(shape):
        expected = f"at most {MAX_DIMS} integers from 0, product below 2**60"
        raise SafetensorsError(f"{what}, shape", repr(shape)[:60], expected)
    if not _are_counts(span) or len(span) != 2 or span[0] > span[1]:
        expected = "where the bytes begin and end"
        got = repr(span)[:60]
        raise SafetensorsError(f"{what}, data_offsets", got, expected)
    nbytes = math.prod(shape) * ITEM_BYTES[dtype]
    if span[1] - span[0] != nbytes:
        got = f"{span[1] - span[0]} bytes"
        expected = f"{nbytes}: {shape} of {dtype}"
        raise SafetensorsError(f"{what}, data_offsets", got, expected)
    return TensorInfo(name, tuple(shape), dtype, span[0], nbytes)


def _is_shape(value: Any) -> bool:
    """Whether NumPy has arrays of this shape, empty ones included."""
    if not _are_counts(value) or len(value) > MAX_DIMS:
        return False
    return math.prod(size or 1 for size in value) <= _MAX_ELEMENTS


def _are_counts(value: Any) -> bool:
    """Whether a value is a list of integers that 63 bits can hold."""
    return isinstance(value, list) and all(
        type(item) is int and 0 <= item < 1 << 63 for item in value
    )


def _check_cover(infos: list[TensorInfo], room: int, file_name: str) -> None:
    """Check that the tensors follow one another and fill ``room`` bytes."""
    end = 0
    for info in infos:
        if info.offset != end:
            name = f"{file_name}: tensor {info.name!r}, data_offsets"
            expected = f"{end}: no overlap and no gap"
            raise SafetensorsError(name, f"{info.offset}", expected)
        end += info.nbytes
    if end != room:
        hint = ": is the file truncated?" if end > room else ""
        raise SafetensorsError(
            f"{file_name}: data", f"{room} bytes", f"{end}{hint}"
        )
