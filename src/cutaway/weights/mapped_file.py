"""A file of tensors, read through a memory map."""

from __future__ import annotations

import math
import mmap
import os
from abc import ABC, abstractmethod
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from cutaway.core.errors import CutawayError

if TYPE_CHECKING:
    from typing import Self

    from jaxtyping import UInt8


@dataclass(frozen=True)
class TensorInfo:
    """Where a tensor lies in a file, and how it is packed.

    Attributes:
        name: Its name, such as ``blk.0.attn_q.weight``.
        shape: Its shape as NumPy and PyTorch write it, rows last. A GGUF
            file lists the dimensions the other way round, fastest first.
        dtype: The file's name of its type, such as ``Q4_1`` or ``BF16``.
        offset: First byte, counted from the file's ``data_offset``.
        nbytes: Bytes it takes in the file.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    offset: int
    nbytes: int

    @property
    def size(self) -> int:
        """Number of elements."""
        return math.prod(self.shape)


class MappedFile(ABC):
    """Tensors of a file, which stay on disk until they are asked for.

    Opening reads the header only. The operating system pages in the bytes
    that are touched, and may drop them again.

    Attributes:
        path: Where the file is.
        tensors: Entry of each tensor by name.
        data_offset: Byte of the file at which the weights begin.

    >>> from cutaway.weights import GGUFFile, fetch
    >>> with GGUFFile(fetch()) as file:
    ...     file.raw("output_norm.weight").nbytes
    2304
    """

    _kind: ClassVar[str]
    _error: ClassVar[type[CutawayError]]

    path: Path
    tensors: dict[str, TensorInfo]
    data_offset: int

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        self._map: mmap.mmap | None = None
        mapped = self._map_file()
        try:
            self._read_header(mapped)
        except BaseException:
            mapped.close()
            raise
        self._map = mapped

    @abstractmethod
    def _read_header(self, buffer: Any) -> None:
        """Read the header and set the attributes."""

    def raw(self, name: str) -> UInt8[Any, " bytes"]:
        """Return a tensor's bytes as stored: a read-only view of the file.

        Args:
            name: A key of ``tensors``.

        Raises:
            CutawayError: No such tensor, or the file is closed; of the
                kind that opening the file raises.
        """
        info = self._info(name)
        if self._map is None:
            raise self._error(self.path.name, "a closed file", "an open one")
        start = self.data_offset + info.offset
        if info.nbytes == 0:
            return np.empty(0, np.uint8)
        return np.frombuffer(self._map, np.uint8, info.nbytes, start)

    def _release(self, name: str) -> None:
        """Let the system drop a tensor's pages from memory: it was copied.

        Views stay valid: what is touched again is paged in again.
        """
        info = self._info(name)
        if self._map is None or not hasattr(mmap, "MADV_DONTNEED"):
            return  # the system decides alone
        start = self.data_offset + info.offset
        first = start - start % mmap.PAGESIZE
        length = start + info.nbytes - first
        if info.nbytes > 0:
            self._map.madvise(mmap.MADV_DONTNEED, first, length)

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

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        name = type(self).__name__
        return f"{name}({str(self.path)!r}, {len(self.tensors)} tensors)"

    def _info(self, name: str) -> TensorInfo:
        if name not in self.tensors:
            expected = f"one of its {len(self.tensors)} tensors"
            raise self._error(f"{self.path.name}: tensor", repr(name), expected)
        return self.tensors[name]

    def _map_file(self) -> mmap.mmap:
        """Map the file for reading; its errors become an error of the class."""
        path, wanted = self.path, f"{self._kind} file"
        if not path.is_file():
            got = "a folder" if path.is_dir() else "no such file"
            raise self._error(str(path), got, f"a {wanted}")
        try:
            with path.open("rb") as file:
                if os.fstat(file.fileno()).st_size == 0:
                    raise self._error(path.name, "an empty file", f"a {wanted}")
                return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except OSError as error:
            got = error.strerror or str(error)
            raise self._error(str(path), got, f"a readable {wanted}") from None
