"""How many bytes the weights of a model are, and its KV cache."""

from __future__ import annotations

from cutaway.core.checks import check_real
from cutaway.core.config import ModelConfig
from cutaway.roofline.kv_layout import CacheFormat, kv_layout
from cutaway.roofline.params import num_params


def weight_bytes(config: ModelConfig, bytes_per_param: float = 2) -> float:
    """Return the bytes of all parameters.

    Args:
        config: The model.
        bytes_per_param: 2 for bfloat16, 4 for float32; a mean for files
            that mix formats.
    """
    check_real("bytes_per_param", bytes_per_param, 0, open_low=True)
    return num_params(config) * bytes_per_param


def kv_bytes_per_token(
    config: ModelConfig, bytes_per_element: float = 2
) -> float:
    """Return the bytes that one token adds to the KV cache.

    A key and a value (one factor 2) of every *key/value* head in every
    layer; the number of query heads does not enter. Latent attention
    caches one vector instead, for all heads and for both.

    Args:
        config: The model; every layer counts, with a window or not.
        bytes_per_element: 2 for bfloat16, 4 for float32.

    Source: PagedAttention, arXiv 2309.06180, section 3.

    >>> from cutaway.roofline.models import CONFIGS
    >>> kv_bytes_per_token(CONFIGS["llama-3.1-8b"])
    131072
    >>> kv_bytes_per_token(CONFIGS["deepseek-v3"])
    70272
    """
    size = CacheFormat.of(bytes_per_element)
    return kv_layout(config).bytes_per_token(size)


def kv_cache_bytes(
    config: ModelConfig, num_tokens: int, bytes_per_element: float = 2
) -> float:
    """Return the least KV cache that a text of some length needs.

    A layer with a window needs no more than the window's last tokens.
    Engines that reserve every layer in full need ``num_tokens`` times
    ``kv_bytes_per_token`` instead. ``kv_layout`` tells more: devices that
    share the heads, formats apart for keys and values, models with states.

    Args:
        config: The model.
        num_tokens: Tokens of the text.
        bytes_per_element: 2 for bfloat16, 4 for float32.

    Raises:
        ArgumentError: The number of tokens is negative, or the size not
            positive.

    >>> from cutaway.roofline.models import CONFIGS
    >>> kv_cache_bytes(CONFIGS["mistral-7b-v0.1"], 32768) / 2**30
    0.5
    """
    size = CacheFormat.of(bytes_per_element)
    return kv_layout(config).floor_bytes(num_tokens, size)


def format_bytes(num_bytes: float) -> str:
    """Return a size in decimal and in binary units, which differ.

    >>> format_bytes(16_060_522_496)
    '16.06 GB (14.96 GiB)'
    >>> format_bytes(23_040)
    '23.04 kB (22.50 KiB)'
    """
    check_real("num_bytes", num_bytes, 0)
    if num_bytes < 1000:
        return f"{num_bytes:g} B"
    power = next(
        (p for p in (4, 3, 2) if num_bytes >= 1000**p),
        1,
    )
    decimal = ("kB", "MB", "GB", "TB")[power - 1]
    binary = ("KiB", "MiB", "GiB", "TiB")[power - 1]
    return (
        f"{num_bytes / 1000**power:.2f} {decimal} "
        f"({num_bytes / 1024**power:.2f} {binary})"
    )
