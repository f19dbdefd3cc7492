"""A GGUF file: metadata, and tensors read through a memory map."""

from __future__ import annotations

import mmap
import os
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

import numpy as np

from cutaway.weights.gguf_cursor import GGUFError
from cutaway.weights.gguf_header import TensorInfo, read_header
from cutaway.weights.quant import dequantize

if TYPE_CHECKING:
    from jaxtyping import Float, UInt8
    from numpy.typing import DTypeLike

__all__ = ["GGUFError", "GGUFFile", "TensorInfo"]


class GGUFFile:
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

    path: Path
    version: int
    metadata: dict[str, Any]
    tensors: dict[str, TensorInfo]
    data_offset: int

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Map the file and read its header.

        Args:
            path: A GGUF file.

        Raises:
            GGUFError: The file is absent, unreadable or not a sound GGUF
                file of version 3.
        """
        self.path = Path(path)
        self._map: mmap.mmap | None = None
        mapped = _map_file(self.path)
        try:
            header = read_header(mapped, self.path.name)
        except BaseException:
            mapped.close()
            raise
        self._map = mapped
        self.version = header.version
        self.metadata = header.metadata
        self.tensors = header.tensors
        self.data_offset = header.data_offset

    def raw(self, name: str) -> UInt8[Any, " bytes"]:
        """Return a tensor's bytes as stored: a read-only view of the file.

        Args:
            name: A key of ``tensors``.

        Raises:
            GGUFError: No such tensor, or the file is closed.
        """
        info = self._info(name)
        if self._map is None:
            raise GGUFError(self.path.name, "a closed file", "an open one")
        start = self.data_offset + info.offset
        return np.frombuffer(self._map, np.uint8, info.nbytes, start)

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

    def close(self) -> None:
        """Give the memory map back; twice is harmless.

        Views from ``raw`` that still live keep the map alive until the last
        of them goes.
        """
        mapped, self._map = self._map, None
        if mapped is not None:
            try:
                mapped.close()
            except BufferError:
                # A view is alive. Dropping our reference is enough: the
                # map goes with the view.
                del mapped

    def __enter__(self) -> GGUFFile:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"GGUFFile({str(self.path)!r}, {len(self.tensors)} tensors)"

    def _info(self, name: str) -> TensorInfo:
        if name not in self.tensors:
            expected = f"one of its {len(self.tensors)} tensors"
            raise GGUFError(f"{self.path.name}: tensor", repr(name), expected)
        return self.tensors[name]


def _map_file(path: Path) -> mmap.mmap:
    """Map a file for reading; its errors become ``GGUFError``."""
    if not path.is_file():
        got = "a folder" if path.is_dir() else "no such file"
        raise GGUFError(str(path), got, "a GGUF file")
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise GGUFError(path.name, "an empty file", "a GGUF file")
            return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        got = error.strerror or str(error)
        raise GGUFError(str(path), got, "a readable GGUF file") from None
