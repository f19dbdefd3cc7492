"""A safetensors file: tensors read through a memory map."""

from __future__ import annotations

import os
from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cutaway.weights.mapped_file import MappedFile
from cutaway.weights.quant import dequantize
from cutaway.weights.safetensors_header import (
    SafetensorsError,
    read_safetensors_header,
)

if TYPE_CHECKING:
    from jaxtyping import Shaped
    from numpy.typing import DTypeLike

__all__ = ["NUMPY_TYPES", "SafetensorsError", "SafetensorsFile"]

NUMPY_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "U64": "<u8",
        "I64": "<i8",
        "F64": "<f8",
        "F32": "<f4",
        "U32": "<u4",
        "I32": "<i4",
        "F16": "<f2",
        "U16": "<u2",
        "I16": "<i2",
        "I8": "|i1",
        "U8": "|u1",
        "BOOL": "|b1",
    }
)
"""The NumPy type that holds a stored one; 8-bit floats and BF16 have none."""


class SafetensorsFile(MappedFile):
    """The tensors of a safetensors file.

    Invariants, which the tests check:

    1. Opening a file that is truncated or contradicts itself raises
       ``SafetensorsError``.
    2. The tensors of an open file fill it exactly; no two overlap.
    3. The file is never written, and views of it are read-only.

    Attributes:
        path: Where the file is.
        metadata: Texts by name.
        tensors: Entry of each tensor by name, in the order of the bytes.
        data_offset: Byte of the file at which the numbers begin.

    Source: huggingface/safetensors, README, section Format.
    Differs: the library also reads 4- and 6-bit floats and complex
    numbers.
    """

    _kind = "safetensors"
    _error = SafetensorsError

    metadata: dict[str, str]

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Map the file and read its header.

        Args:
            path: A safetensors file.

        Raises:
            SafetensorsError: The file is absent, unreadable or unsound.
        """
        super().__init__(path)

    def _read_header(self, buffer: Any) -> None:
        header = read_safetensors_header(buffer, self.path.name)
        self.metadata = header.metadata
        self.tensors = header.tensors
        self.data_offset = header.data_offset

    def tensor(
        self, name: str, dtype: DTypeLike | None = None
    ) -> Shaped[Any, "..."]:
        """Return a tensor's numbers as a new array.

        Args:
            name: A key of ``tensors``.
            dtype: A NumPy type to convert to; None keeps the stored one,
                and makes float32 of BF16, which NumPy lacks.

        Returns:
            A writable array of the tensor's shape, independent of the file.

        Raises:
            SafetensorsError: No such tensor, the file is closed, or NumPy
                cannot hold the type (8-bit floats).
        """
        info = self._info(name)
        raw = self.raw(name)
        if info.dtype == "BF16":
            array = dequantize(raw, "BF16", info.shape)
        elif info.dtype in NUMPY_TYPES:
            array = raw.view(NUMPY_TYPES[info.dtype])
        else:
            expected = f"one of {', '.join((*NUMPY_TYPES, 'BF16'))}"
            what = f"{self.path.name}: tensor {name!r}, dtype"
            raise SafetensorsError(what, info.dtype, expected)
        native = array.dtype.newbyteorder("=")
        copied = array.astype(dtype or native).reshape(info.shape)
        self._release(name)
        return copied
