"""How many parameters, and how many bytes, a model is."""

from __future__ import annotations

from cutaway.core.checks import check_real
from cutaway.core.config import ModelConfig


def attention_params(config: ModelConfig) -> int:
    """Return the weights of one layer's four attention matrices.

    The widths are heads times ``head_dim``, never ``hidden_size``: for
    some models the two differ.

    >>> from cutaway.roofline.models import CONFIGS
    >>> attention_params(CONFIGS["smollm2-135m"])
    884736
    """
    q_width = config.num_heads * config.head_dim
    kv_width = config.num_kv_heads * config.head_dim
    return config.hidden_size * (2 * q_width + 2 * kv_width)


def matmul_params(config: ModelConfig) -> int:
    """Return the weights that a token is multiplied with.

    The input embedding is a lookup and does not count; the output matrix
    does, tied to the embedding or not. Norm weights are element-wise.

    Source: Kaplan et al. 2020, section 2.1 (whose N leaves out the output
    matrix too).

    >>> from cutaway.roofline.models import CONFIGS
    >>> matmul_params(CONFIGS["smollm2-135m"])
    134479872
    """
    ffn = 3 * config.hidden_size * config.ffn_size
    unembed = config.vocab_size * config.hidden_size
    return config.num_layers * (attention_params(config) + ffn) + unembed


def num_params(config: ModelConfig) -> int:
    """Return all parameters of the model.

    >>> from cutaway.roofline.models import CONFIGS
    >>> num_params(CONFIGS["smollm2-135m"])
    134515008
    """
    norms = (2 * config.num_layers + 1) * config.hidden_size
    embed = config.vocab_size * config.hidden_size
    untied = 0 if config.tie_embeddings else embed
    return matmul_params(config) + norms + untied


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
    layer; the number of query heads does not enter.

    Args:
        config: The model.
        bytes_per_element: 2 for bfloat16, 4 for float32.

    Source: PagedAttention, arXiv 2309.06180, section 3.

    >>> from cutaway.roofline.models import CONFIGS
    >>> kv_bytes_per_token(CONFIGS["llama-3.1-8b"])
    131072
    """
    check_real("bytes_per_element", bytes_per_element, 0, open_low=True)
    elements = 2 * config.num_layers * config.num_kv_heads * config.head_dim
    return elements * bytes_per_element


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
