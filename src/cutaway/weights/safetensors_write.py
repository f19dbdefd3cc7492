"""Write arrays to a safetensors file."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from cutaway.core.checks import check, check_choice
from cutaway.core.errors import ArgumentError
from cutaway.weights.quant_pack import quantize
from cutaway.weights.safetensors import NUMPY_TYPES
from cutaway.weights.safetensors_header import ITEM_BYTES, MAX_HEADER_BYTES

if TYPE_CHECKING:
    from jaxtyping import Shaped

_STORED = MappingProxyType({np.dtype(v): k for k, v in NUMPY_TYPES.items()})
_RANK = MappingProxyType({kind: rank for rank, kind in enumerate(ITEM_BYTES)})
_CAST = ("F32", "F16", "BF16")
_PART_ELEMENTS = 1 << 20


def save_safetensors(
    path: str | os.PathLike[str],
    tensors: Mapping[str, Shaped[Any, "..."]],
    *,
    dtype: str | None = None,
    metadata: Mapping[str, str] | None = None,
) -> None:
    """Write arrays to a safetensors file.

    The file gets its name last: one that was there stays whole until the
    new one is complete.

    Args:
        path: The file to write.
        tensors: Arrays by name.
        dtype: ``"F32"``, ``"F16"`` or ``"BF16"``: what floats are stored
            as, rounded to the nearest by way of float32; None keeps the
            type of each array.
        metadata: Texts by name; Hugging Face writes ``format: pt``.

    Raises:
        ArgumentError: A name or text is no str, an array is of a type
            that the format lacks, or a number to be converted is not
            finite or too large.
        OSError: The file cannot be written.

    Cost: one pass over the arrays; a conversion copies one array at a time.
    Source: huggingface/safetensors, safetensors/src/tensor.rs.
    Differs: the library writes the same bytes, but for several texts of
    metadata, which it writes in any order.

    >>> import tempfile
    >>> from cutaway.weights import SafetensorsFile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "one.safetensors")
    ...     save_safetensors(path, {"w": np.arange(3, dtype=np.float32)})
    ...     with SafetensorsFile(path) as file:
    ...         print(file.tensors["w"].dtype, file.tensor("w"))
    F32 [0. 1. 2.]
    """
    if dtype is not None:
        check_choice("dtype", dtype, _CAST)
    stored = _stored_types(tensors, dtype)
    names = sorted(tensors, key=lambda n: (_RANK[stored[n]], n.encode()))
    header = _header(tensors, stored, names, metadata)
    target = Path(path)
    partial = target.with_name(f"{target.name}.{os.getpid()}.part")
    try:
        with partial.open("wb") as file:
            file.write(header)
            for name in names:
                for part in _packed(name, tensors[name], stored[name]):
                    file.write(part)
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


def _stored_types(
    tensors: Mapping[str, Any], dtype: str | None
) -> dict[str, str]:
    """Return the type each tensor is stored as."""
    found: dict[str, str] = {}
    for name, array in tensors.items():
        is_name = _is_text(name) and name != "__metadata__"
        check(is_name, "tensors", repr(name), "a name as str")
        kind = getattr(array, "dtype", None)
        if not isinstance(array, np.ndarray) or kind not in _STORED:
            got = type(array).__name__ if kind is None else f"dtype {kind}"
            known = ", ".join(str(known) for known in _STORED)
            expected = f"an array of {known}"
            raise ArgumentError(f"tensors[{name!r}]", got, expected)
        cast = dtype is not None and array.dtype.kind == "f"
        found[name] = str(dtype) if cast else _STORED[array.dtype]
    return found


def _is_text(value: Any) -> bool:
    """Whether a value is a str that UTF-8 can encode."""
    if not isinstance(value, str):
        return False
    return not any("\ud800" <= letter <= "\udfff" for letter in value)


def _header(
    tensors: Mapping[str, Any],
    stored: Mapping[str, str],
    names: list[str],
    metadata: Mapping[str, str] | None,
) -> bytes:
    """Return the first bytes of the file: length and padded JSON."""
    entries: dict[str, Any] = {}
    if metadata is not None:
        texts = [*metadata, *metadata.values()]
        are_texts = all(map(_is_text, texts))
        check(are_texts, "metadata", repr(metadata), "texts by name")
        entries["__metadata__"] = dict(sorted(metadata.items()))
    end = 0
    for name in names:
        start, kind = end, stored[name]
        end += tensors[name].size * ITEM_BYTES[kind]
        entries[name] = {
            "dtype": kind,
            "shape": list(tensors[name].shape),
            "data_offsets": [start, end],
        }
    text = json.dumps(entries, separators=(",", ":"), ensure_ascii=False)
    data = text.encode()
    data += b" " * (-len(data) % 8)
    check(
        len(data) <= MAX_HEADER_BYTES,
        "tensors",
        f"a header of {len(data)} bytes",
        f"one of at most {MAX_HEADER_BYTES}",
    )
    return len(data).to_bytes(8, "little") + data


def _packed(name: str, array: Any, kind: str) -> Iterator[Any]:
    """Yield the bytes of an array, in parts of some megabytes."""
    flat = np.ascontiguousarray(array).reshape(-1)
    for start in range(0, flat.size, _PART_ELEMENTS):
        part = flat[start : start + _PART_ELEMENTS]
        if _STORED[part.dtype] == kind:
            yield part.view(np.uint8)
            continue
        try:
            yield quantize(part, kind)
        except ArgumentError as fault:
            what = f"tensors[{name!r}]"
            raise ArgumentError(what, fault.got, fault.expected) from None
