"""A model as Hugging Face publishes it: a folder of JSON and safetensors."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import TYPE_CHECKING, Any

from cutaway.core.errors import CutawayError
from cutaway.tokenizer import Tokenizer
from cutaway.weights.mapped_file import TensorInfo
from cutaway.weights.safetensors import SafetensorsFile

if TYPE_CHECKING:
    from typing import Self

    from jaxtyping import Shaped, UInt8
    from numpy.typing import DTypeLike

CONFIG = "config.json"
TOKENIZER = "tokenizer.json"
TOKENIZER_CONFIG = "tokenizer_config.json"
CHAT_TEMPLATE = "chat_template.jinja"
WEIGHTS = "model.safetensors"
INDEX = "model.safetensors.index.json"


class HFFolderError(CutawayError):
    """A folder is not a model that this package can read."""


class HFFolder:
    """Configuration, weights and tokenizer of a Hugging Face folder.

    The weights are in one file, or in several with an index that tells
    which tensor is in which. Opening reads the headers only.

    Attributes:
        path: The folder.
        config: The parsed ``config.json``.
        tensors: Entry of each tensor by name; its offset counts within
            the file that holds it.

    Source: transformers, ``PreTrainedModel.from_pretrained``.
    Differs: no ``pytorch_model.bin``: those are pickles, which run code.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import numpy as np
    >>> from cutaway.weights import save_safetensors
    >>> with TemporaryDirectory() as place:
    ...     config = Path(place, "config.json")
    ...     _ = config.write_text('{"model_type": "llama"}')
    ...     weights = Path(place, "model.safetensors")
    ...     save_safetensors(weights, {"w": np.zeros(3)})
    ...     with HFFolder(place) as folder:
    ...         print(folder.config["model_type"], list(folder.tensors))
    llama ['w']
    """

    path: Path
    config: dict[str, Any]
    tensors: dict[str, TensorInfo]

    def __init__(self, path: str | os.PathLike[str]) -> None:
        """Read the configuration and the headers of the weights.

        Args:
            path: The folder.

        Raises:
            HFFolderError: The folder, ``config.json`` or the weights are
                absent or unsound.
            SafetensorsError: A file of weights is unsound.
        """
        self.path = Path(path)
        if not self.path.is_dir():
            got = "a file" if self.path.exists() else "no such folder"
            raise HFFolderError(str(path), got, f"a folder with {CONFIG}")
        self.config = self._json(CONFIG)
        self._files: dict[str, SafetensorsFile] = {}
        with ExitStack() as undo:
            for file_name, wanted in self._weight_map().items():
                file = SafetensorsFile(self.path / file_name)
                undo.callback(file.close)
                self._add(file, wanted)
            undo.pop_all()
        self.tensors = {
            name: file.tensors[name] for name, file in self._files.items()
        }

    def raw(self, name: str) -> UInt8[Any, " bytes"]:
        """Return a tensor's bytes as stored: a read-only view of the file.

        Args:
            name: A key of ``tensors``.

        Raises:
            HFFolderError: No such tensor.
            SafetensorsError: The folder is closed.
        """
        return self._file(name).raw(name)

    def tensor(
        self, name: str, dtype: DTypeLike | None = None
    ) -> Shaped[Any, "..."]:
        """Return a tensor's numbers as a new array.

        Args:
            name: A key of ``tensors``.
            dtype: As for ``SafetensorsFile.tensor``.

        Raises:
            HFFolderError: No such tensor.
            SafetensorsError: The folder is closed, or NumPy cannot hold
                the type.
        """
        return self._file(name).tensor(name, dtype)

    def tokenizer(self) -> Tokenizer:
        """Make the tokenizer of ``tokenizer.json``.

        The chat template is in ``tokenizer_config.json``, or, from newer
        writers, in ``chat_template.jinja``.

        Raises:
            HFFolderError: A file is absent, no JSON or no text.
            TokenizerError: It is none that this package does.
        """
        data = self._json(TOKENIZER)
        config = self._optional(TOKENIZER_CONFIG)
        template = self.path / CHAT_TEMPLATE
        if template.is_file():
            try:
                text = template.read_text("utf-8")
            except (OSError, UnicodeDecodeError) as fault:
                expected = "a text in UTF-8"
                raise HFFolderError(str(template), fault, expected) from None
            config = {**config, "chat_template": text}
        return Tokenizer.from_hf(data, config)

    def close(self) -> None:
        """Give the memory maps back; twice is harmless."""
        for file in self._files.values():
            file.close()

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
        return f"HFFolder({str(self.path)!r}, {len(self.tensors)} tensors)"

    def _file(self, name: str) -> SafetensorsFile:
        if name not in self._files:
            expected = f"one of its {len(self.tensors)} tensors"
            raise HFFolderError(f"{self.path}: tensor", repr(name), expected)
        return self._files[name]

    def _json(self, file_name: str) -> dict[str, Any]:
        """Read a file that must hold one JSON object."""
        path = self.path / file_name
        if not path.is_file():
            raise HFFolderError(str(path), "no such file", "a JSON object")
        try:
            value = json.loads(path.read_text("utf-8"))
        except (OSError, ValueError, RecursionError) as fault:
            raise HFFolderError(str(path), fault, "a JSON object") from None
        if not isinstance(value, dict):
            got = type(value).__name__
            raise HFFolderError(str(path), f"a {got}", "a JSON object")
        return value

    def _optional(self, file_name: str) -> dict[str, Any]:
        there = (self.path / file_name).is_file()
        return self._json(file_name) if there else {}

    def _weight_map(self) -> Mapping[str, list[str] | None]:
        """Return the files of weights, and the tensors wanted of each."""
        if (self.path / WEIGHTS).is_file():
            return {WEIGHTS: None}
        if not (self.path / INDEX).is_file():
            expected = f"{WEIGHTS} or {INDEX}"
            raise HFFolderError(str(self.path), "neither", expected)
        weight_map = self._json(INDEX).get("weight_map")
        if not isinstance(weight_map, dict) or not weight_map:
            name = f"{self.path / INDEX}: weight_map"
            raise HFFolderError(name, repr(weight_map)[:60], "file by tensor")
        wanted: dict[str, list[str]] = {}
        for tensor, file_name in weight_map.items():
            self._check_file_name(tensor, file_name)
            wanted.setdefault(file_name, []).append(tensor)
        return wanted

    def _check_file_name(self, tensor: str, file_name: Any) -> None:
        """Refuse a file outside the folder: the index is a stranger's."""
        is_text = isinstance(file_name, str) and "\\" not in file_name
        is_name = is_text and PurePosixPath(file_name).name == file_name
        if not is_name or not file_name.endswith(".safetensors"):
            name = f"{self.path / INDEX}: weight_map[{tensor!r}]"
            expected = "the name of a .safetensors file in the folder"
            raise HFFolderError(name, repr(file_name), expected)

    def _add(self, file: SafetensorsFile, wanted: list[str] | None) -> None:
        """Take the tensors of one file, which the index may name."""
        names = list(file.tensors) if wanted is None else wanted
        for name in names:
            if name not in file.tensors:
                where = f"{self.path / INDEX}: weight_map[{name!r}]"
                got = f"{file.path.name}, which lacks it"
                raise HFFolderError(where, got, "the file that holds it")
            self._files[name] = file
