"""The worked example of a lecture: Llama-2-13B decoding on an H100.

Memory is the only limit in it: weights and caches of a batch are read once
a step, and everything that is resident is read. The expressions of the
facts registry use it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from cutaway.core.config import ModelConfig
from cutaway.roofline import (
    CONFIGS,
    HARDWARE,
    decode_weight_bytes,
    read_time_s,
    resident_bytes,
)

NAME = "llama-2-13b"
MACHINE = "h100-sxm"
TOKENS = 1024


def gigabytes(
    batch_sizes: Sequence[int], num_kv_heads: int | None = None
) -> tuple[float, ...]:
    """Return the GB of weights and caches with so many sequences.

    >>> [round(size, 2) for size in gigabytes((1, 64))]
    [26.87, 79.72]
    """
    config = _config(num_kv_heads)
    held = (resident_bytes(config, batch, TOKENS) for batch in batch_sizes)
    return tuple(size / 1e9 for size in held)


def milliseconds(
    batch_sizes: Sequence[int], num_kv_heads: int | None = None
) -> tuple[float, ...]:
    """Return the least milliseconds of a decode step.

    >>> [round(step, 2) for step in milliseconds((1, 64))]
    [8.02, 23.8]
    """
    machine = HARDWARE[MACHINE]
    sizes = gigabytes(batch_sizes, num_kv_heads)
    return tuple(1e3 * read_time_s(size * 1e9, machine) for size in sizes)


def tokens_per_second(
    batch_sizes: Sequence[int], num_kv_heads: int | None = None
) -> tuple[float, ...]:
    """Return the most tokens a second of the whole batch.

    >>> [round(rate) for rate in tokens_per_second((256,), 8)]
    [13068]
    """
    steps = milliseconds(batch_sizes, num_kv_heads)
    pairs = zip(batch_sizes, steps, strict=True)
    return tuple(1e3 * batch / step for batch, step in pairs)


def strict_milliseconds(models: Sequence[str]) -> tuple[float, ...]:
    """Return the least milliseconds to read what one token needs.

    >>> [round(step, 2) for step in strict_milliseconds(["llama-2-13b"])]
    [7.67]
    """
    machine = HARDWARE[MACHINE]
    read = (decode_weight_bytes(CONFIGS[name]) for name in models)
    return tuple(1e3 * read_time_s(size, machine) for size in read)


def _config(num_kv_heads: int | None) -> ModelConfig:
    """Return the model, with other key/value heads if asked for."""
    config = CONFIGS[NAME]
    if num_kv_heads is None:
        return config
    return replace(config, num_kv_heads=num_kv_heads)
