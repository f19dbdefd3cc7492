"""A GGUF file: metadata, and tensors read through a memory map."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import numpy as np

from cutaway.weights.gguf_cursor import GGUFError
from cutaway.weights.gguf_header import read_header
from cutaway.weights.mapped_file import MappedFile, TensorInfo
from cutaway.weights.quant import dequantize

if TYPE_CHECKING:
    from jaxtyping import Float
    from numpy.typing import DTypeLike

__all__ = ["GGUFError", "GGUFFile", "TensorInfo"]


class GGUFFile(MappedFile):
    """The tensors and metadata of a GGUF file, version 3.

    Opening reads the header only. Weights stay on disk until a tensor is
    asked for: the operating system pages in the bytes that are touched.

    Invariants, which the tests check:

    1. Opening a file that is truncated, hostile or of another version
       raises ``GGUFError``, in milliseconds and a few megabytes.
    2. Every tensor of an open file lies wholly inside it; no two overlap.
    3. The file is never written, and views of it are read-only.

    Attributes:
        path: Where the file is.
        version: Version of the container format, always 3.
        metadata: Key-value pairs as Python numbers, strings, bools, lists.
        tensors: Entry of each tensor by name, in the file's order.
        data_offset: Byte of the file at which the weights begin.

    Source: ggml, docs/gguf.md.
    Differs: llama.cpp also reads versions 2 and big-endian, and nested
    arrays; shapes are in NumPy's order, the reverse of the file's.
    """

    _kind = "GGUF"
    _error = GGUFError

    version: int
    metadata: dict[str, Any]

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Map the file and read its header.

        Args:
            path: A GGUF file.

        Raises:
            GGUFError: The file is absent, unreadable or not a sound GGUF
                file of version 3.
        """
        super().__init__(path)

    def _read_header(self, buffer: Any) -> None:
        header = read_header(buffer, self.path.name)
        self.version = header.version
        self.metadata = header.metadata
        self.tensors = header.tensors
        self.data_offset = header.data_offset

    def tensor(
        self, name: str, dtype: DTypeLike = np.float32
    ) -> Float[Any, "..."]:
        """Return a tensor's weights as a new array of floats.

        Args:
            name: A key of ``tensors``.
            dtype: float32 or float64; the numbers are the same.

        Returns:
            A writable array of the tensor's shape, independent of the file.

        Raises:
            GGUFError: No such tensor, or the file is closed.
            ArgumentError: Its type has no dequantiser.

        Cost: see ``dequantize``.
        """
        info = self._info(name)
        return dequantize(self.raw(name), info.dtype, info.shape, dtype)
