"""Pairs of a query and a key: how many there are, and what they cost."""

from __future__ import annotations

from collections import Counter

from cutaway.core.checks import check_int
from cutaway.core.config import ModelConfig
from cutaway.roofline.forward_pass import ForwardPass
from cutaway.roofline.op_count import OpCount


def causal_pairs(
    q_len: int, context_len: int, window: int | None = None
) -> int:
    """Return how many (query, key) pairs causal attention looks at.

    Query i (from 0) sees the context, itself and the i new tokens before
    it. Counted exactly: not the full rectangle, and not its half.

    Args:
        q_len: New tokens.
        context_len: Tokens already in the cache.
        window: Keys a query may see, itself included; None for all.

    >>> causal_pairs(3, 2)  # 3 + 4 + 5
    12
    """
    check_int("q_len", q_len, low=0)
    check_int("context_len", context_len, low=0)
    if window is None:
        return q_len * context_len + q_len * (q_len + 1) // 2
    check_int("window", window, low=1)
    # The first rows still see everything; the rest see a full window.
    growing = min(q_len, max(0, window - context_len))
    full_rows = q_len - growing
    return causal_pairs(growing, context_len) + full_rows * window


def layers_by_window(config: ModelConfig) -> Counter[int | None]:
    """Return how many layers have each window; None sees everything."""
    if config.window is None:
        return Counter({None: config.num_layers})
    return Counter(map(config.layer_window, range(config.num_layers)))


def pair_widths(config: ModelConfig, *, absorbed: bool) -> tuple[int, int]:
    """Return the multiply-adds of a pair in scores and in values.

    All heads of a layer together. Latent attention has two forms: it
    multiplies with the cached vectors themselves (``absorbed``), or with
    the keys and values of each head, made from them before.
    """
    heads, mla = config.num_heads, config.mla
    if mla is None:
        return heads * config.head_dim, heads * config.head_dim
    if absorbed:
        return heads * mla.cache_width, heads * mla.kv_lora_rank
    return heads * mla.qk_head_dim, heads * mla.v_head_dim


def pair_product(
    step: ForwardPass,
    name: str,
    width: int,
    *,
    cached: int = 0,
    made: int = 0,
    weights: int = 0,
) -> OpCount:
    """Return one of the two products of attention: QK^T, or PV.

    Args:
        step: The pass.
        name: Of the operation.
        width: Multiply-adds of a pair, all heads; as many numbers of a
            token are read, or written.
        cached: Numbers of a key or value that are read from the cache.
        made: Numbers of one that the pass has made and reads again.
        weights: Parameters of a layer.
    """
    config, rows = step.config, step.q_len
    pairs = keys = 0
    for window, layers in layers_by_window(config).items():
        pairs += layers * causal_pairs(rows, step.context_len, window)
        seen = step.context_len + rows if rows else 0
        if window is not None:
            seen = min(seen, window + rows - 1)
        keys += layers * seen
    layers = config.num_layers
    moved = layers * rows * width + pairs * config.num_heads + keys * made
    return OpCount(
        name=name,
        layer_count=layers,
        flops=2 * width * pairs,
        weight_bytes=layers * weights * step.weight_size if rows else 0,
        kv_bytes=keys * cached * step.kv_size,
        activation_bytes=moved * step.act_size,
    )
