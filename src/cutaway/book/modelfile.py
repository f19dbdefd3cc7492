"""Figures counted in the model file itself, for the facts registry."""

from __future__ import annotations

import math
from functools import cache

from cutaway.core.checks import check_choice
from cutaway.core.config import ModelConfig
from cutaway.decoder import planned_bytes, quantization_plan
from cutaway.tokenizer import BYTE_TO_SYMBOL, Tokenizer
from cutaway.weights import BLOCK_TYPES, GGUFFile, fetch


def config() -> ModelConfig:
    """Return the sizes that the file states."""
    with GGUFFile(fetch()) as file:
        tied = "output.weight" not in file.tensors
        return ModelConfig.from_gguf(file.metadata, tie_embeddings=tied)


@cache
def _tokenizer() -> Tokenizer:
    """Return the file's tokenizer; building it takes about a second."""
    with GGUFFile(fetch()) as file:
        return Tokenizer.from_gguf(file.metadata)


def num_special_tokens() -> int:
    """Return the tokens of the vocabulary that no text merges into."""
    return len(_tokenizer().special_tokens)


def num_missing_bytes() -> int:
    """Return how many of the 256 bytes have no token."""
    return len(_tokenizer().missing_bytes)


def num_merges() -> int:
    """Return the entries of the merge list."""
    with GGUFFile(fetch()) as file:
        return len(file.metadata["tokenizer.ggml.merges"])


def first_merges(count: int) -> str:
    """Return the merges of lowest rank, with a comma between."""
    with GGUFFile(fetch()) as file:
        return ", ".join(file.metadata["tokenizer.ggml.merges"][:count])


def encode(text: str) -> list[int]:
    """Return the ids of a text with the file's tokenizer."""
    return _tokenizer().encode(text)


def num_byte_symbols() -> int:
    """Return how many bytes have a symbol: all of them."""
    return len(BYTE_TO_SYMBOL)


def num_printable_bytes() -> int:
    """Return how many bytes are their own symbol."""
    return sum(
        chr(byte) == symbol for byte, symbol in enumerate(BYTE_TO_SYMBOL)
    )


def vocab_size() -> int:
    """Return the entries of the vocabulary."""
    with GGUFFile(fetch()) as file:
        return len(file.metadata["tokenizer.ggml.tokens"])


def num_tensors() -> int:
    """Return the tensors of the file."""
    with GGUFFile(fetch()) as file:
        return len(file.tensors)


def tensor_bytes() -> int:
    """Return the bytes of all tensors, without the file's header."""
    with GGUFFile(fetch()) as file:
        return sum(tensor.nbytes for tensor in file.tensors.values())


def num_pairs() -> int:
    """Return the key-value pairs of the file."""
    with GGUFFile(fetch()) as file:
        return len(file.metadata)


def data_offset() -> int:
    """Return the byte at which the weights begin."""
    with GGUFFile(fetch()) as file:
        return file.data_offset


def by_type(quantity: str) -> list[int]:
    """Return a quantity of the Q4_1, F32 and Q8_0 tensors, in this order.

    Args:
        quantity: ``"tensors"``, ``"elements"`` or ``"bytes"``.
    """
    measure = {
        "tensors": lambda info: 1,
        "elements": lambda info: info.size,
        "bytes": lambda info: info.nbytes,
    }[check_choice("quantity", quantity, ("tensors", "elements", "bytes"))]
    with GGUFFile(fetch()) as file:
        infos = list(file.tensors.values())
    return [
        sum(measure(info) for info in infos if info.dtype == name)
        for name in ("Q4_1", "F32", "Q8_0")
    ]


def type_ids(names: list[str]) -> list[int]:
    """Return the numbers by which a file names these tensor types."""
    return [BLOCK_TYPES[name].type_id for name in names]


def planned_bytes_of(type_name: str) -> int:
    """Return the bytes of all tensors if the file were made in a type."""
    sizes = config()
    return planned_bytes(sizes, quantization_plan(sizes, type_name))


def num_elements() -> int:
    """Return the numbers that all tensors hold: the parameters."""
    with GGUFFile(fetch()) as file:
        return sum(math.prod(item.shape) for item in file.tensors.values())
