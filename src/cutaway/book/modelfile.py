"""Figures counted in the model file itself, for the facts registry."""

from __future__ import annotations

import math

from cutaway.core.config import ModelConfig
from cutaway.tokenizer import Tokenizer
from cutaway.weights import GGUFFile, fetch


def config() -> ModelConfig:
    """Return the sizes that the file states."""
    with GGUFFile(fetch()) as file:
        tied = "output.weight" not in file.tensors
        return ModelConfig.from_gguf(file.metadata, tie_embeddings=tied)


def num_special_tokens() -> int:
    """Return the tokens of the vocabulary that no text merges into."""
    with GGUFFile(fetch()) as file:
        return len(Tokenizer.from_gguf(file.metadata).special_tokens)


def num_missing_bytes() -> int:
    """Return how many of the 256 bytes have no token."""
    with GGUFFile(fetch()) as file:
        return len(Tokenizer.from_gguf(file.metadata).missing_bytes)


def num_merges() -> int:
    """Return the entries of the merge list."""
    with GGUFFile(fetch()) as file:
        return len(file.metadata["tokenizer.ggml.merges"])


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


def num_elements() -> int:
    """Return the numbers that all tensors hold: the parameters."""
    with GGUFFile(fetch()) as file:
        return sum(math.prod(item.shape) for item in file.tensors.values())
