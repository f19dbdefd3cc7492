"""What a decode step reads, and how many sequences a memory holds."""

from __future__ import annotations

from cutaway.core.checks import check_int, check_real
from cutaway.core.config import ModelConfig
from cutaway.roofline.counts import forward_counts
from cutaway.roofline.hardware import Hardware
from cutaway.roofline.memory import kv_cache_bytes, weight_bytes


def decode_weight_bytes(
    config: ModelConfig, bytes_per_param: float = 2
) -> float:
    """Return the bytes of weights that a decode step of one token reads.

    Every matrix once; of an embedding that is not the output matrix too,
    one row only.

    Args:
        config: The model.
        bytes_per_param: As in ``weight_bytes``, which counts them all.

    >>> from cutaway.roofline.models import CONFIGS
    >>> decode_weight_bytes(CONFIGS["llama-3.1-8b"]) / 10**9
    15.009857536
    """
    ops = forward_counts(config, 1, 0, weight_bytes_per_param=bytes_per_param)
    return sum(op.weight_bytes for op in ops)


def resident_bytes(
    config: ModelConfig,
    batch_size: int,
    kv_len: int,
    *,
    weight_bytes_per_param: float = 2,
    kv_bytes_per_element: float = 2,
) -> float:
    """Return the memory that weights and caches take at least.

    A layer with a window keeps no more than its window.

    Args:
        config: The model.
        batch_size: Sequences.
        kv_len: Tokens in the cache of each.
        weight_bytes_per_param: Bytes of a weight.
        kv_bytes_per_element: Bytes of a cached number.

    >>> from cutaway.roofline.models import CONFIGS
    >>> round(resident_bytes(CONFIGS["llama-2-13b"], 64, 1024) / 10**9, 2)
    79.72
    """
    check_int("batch_size", batch_size, low=0)
    check_int("kv_len", kv_len, low=0)
    cached = kv_cache_bytes(config, kv_len, kv_bytes_per_element)
    return weight_bytes(config, weight_bytes_per_param) + batch_size * cached


def max_batch_size(
    config: ModelConfig,
    hardware: Hardware,
    kv_len: int,
    *,
    weight_bytes_per_param: float = 2,
    kv_bytes_per_element: float = 2,
) -> int:
    """Return how many sequences fit into a machine's memory.

    Weights and caches only: what a program needs besides is left out.

    Args:
        config: The model.
        hardware: The machine.
        kv_len: Tokens in the cache of each sequence; at least 1.
        weight_bytes_per_param: Bytes of a weight.
        kv_bytes_per_element: Bytes of a cached number.

    Returns:
        The number; 0 also if the weights alone do not fit.

    >>> from cutaway.roofline.hardware import hardware
    >>> from cutaway.roofline.models import CONFIGS
    >>> max_batch_size(CONFIGS["llama-2-13b"], hardware("h100-sxm"), 1024)
    64
    """
    check_int("kv_len", kv_len, low=1)
    weights = weight_bytes(config, weight_bytes_per_param)
    each = kv_cache_bytes(config, kv_len, kv_bytes_per_element)
    return sequences_that_fit(hardware.memory_bytes, weights, each) or 0


def sequences_that_fit(
    memory_bytes: float, weight_bytes: float, cache_bytes: float
) -> int | None:
    """Return how many caches a memory holds beside the weights.

    Args:
        memory_bytes: Of the machine, or of each of several.
        weight_bytes: Of the weights in that memory.
        cache_bytes: Of one sequence in that memory.

    Returns:
        The number; 0 if the weights alone do not fit, None if a cache
        takes nothing and any number does.

    Raises:
        ArgumentError: A size is negative.

    >>> sequences_that_fit(80e9, 26e9, 0.84e9)
    64
    """
    check_real("memory_bytes", memory_bytes, 0)
    check_real("weight_bytes", weight_bytes, 0)
    check_real("cache_bytes", cache_bytes, 0)
    if weight_bytes > memory_bytes:
        return 0
    if not cache_bytes:
        return None
    return int((memory_bytes - weight_bytes) // cache_bytes)
