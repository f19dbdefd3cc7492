"""The operations of attention in a forward pass, plain and latent."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from cutaway.core.checks import check_int
from cutaway.core.config import ModelConfig
from cutaway.core.mla_config import MLAConfig
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


def attention_ops(step: ForwardPass) -> Iterator[OpCount]:
    """Yield the operations between a layer's norm and its residual."""
    mla = step.config.mla
    # What has a context reads it from the cache, where the vectors are.
    absorbed = step.context_len > 0 or step.q_len <= 1
    if mla is None:
        yield from _heads(step)
    else:
        yield from _latent(step, mla, absorbed=absorbed)


def _heads(step: ForwardPass) -> Iterator[OpCount]:
    """Yield the operations of attention with keys and values by head."""
    config = step.config
    hidden = config.hidden_size
    q_width = config.num_heads * config.head_dim
    kv_width = config.num_kv_heads * config.head_dim
    bias = int("qkv" in config.biases)
    out_bias = hidden * ("attn_out" in config.biases)
    yield step.linear("wq", hidden, q_width, vectors=bias * q_width)
    for name in ("wk", "wv"):
        vectors = bias * kv_width
        yield step.linear(
            name, hidden, kv_width, vectors=vectors, kv_out=kv_width
        )
    moved = 2 * (q_width + kv_width)
    if config.norm.qk:
        weights = 2 * config.head_dim
        yield step.elementwise("qk_norm", moved, weights=weights)
    if config.rope_theta is not None:
        yield step.elementwise("rope", moved)
    yield _scores(step, q_width, cached=kv_width)
    yield _product(step, "values", q_width, q_width, cached=kv_width)
    yield step.linear("wo", q_width, hidden, vectors=out_bias)


def _latent(
    step: ForwardPass, mla: MLAConfig, *, absorbed: bool
) -> Iterator[OpCount]:
    """Yield the operations of latent attention (DeepSeek).

    The matrices that make keys and values, ``wk_b`` and ``wv_b``, are
    multiplied once a token in both forms: with the cached vector, or with
    the query and with the weighted sum.
    """
    config = step.config
    hidden, heads = config.hidden_size, config.num_heads
    q_width, rank = heads * config.head_dim, mla.kv_lora_rank
    v_width = heads * mla.v_head_dim
    if mla.q_lora_rank is None:
        yield step.linear("wq", hidden, q_width)
    else:
        q_rank = mla.q_lora_rank
        yield step.linear("wq_a", hidden, q_rank)
        yield step.elementwise("q_norm", 2 * q_rank, weights=q_rank)
        yield step.linear("wq_b", q_rank, q_width)
    width = mla.cache_width
    yield step.linear("wkv_a", hidden, width, kv_out=width)
    yield step.elementwise("kv_norm", 2 * rank, weights=rank)
    yield step.elementwise("rope", 2 * (heads + 1) * mla.qk_rope_head_dim)
    yield step.linear("wk_b", rank, heads * mla.qk_nope_head_dim)
    scores, values = pair_widths(config, absorbed=absorbed)
    yield _scores(step, scores, cached=width)
    # The values are made from the vector that the scores have read.
    yield _product(step, "values", values, values, cached=0)
    yield step.linear("wv_b", rank, v_width)
    yield step.linear("wo", v_width, hidden)


def _scores(step: ForwardPass, width: int, *, cached: int) -> OpCount:
    """Return QK^T, with the learned sink of each head, if there is one."""
    config = step.config
    sinks = config.num_heads * config.attention.sink_logits
    return _product(step, "scores", width, width, cached=cached, weights=sinks)


def _product(
    step: ForwardPass,
    name: str,
    width: int,
    moved_width: int,
    *,
    cached: int,
    weights: int = 0,
) -> OpCount:
    """Return one of the two products of attention: QK^T, or PV.

    Args:
        step: The pass.
        name: Of the operation.
        width: Multiply-adds of a pair, all heads.
        moved_width: Numbers of a token read, or written.
        cached: Numbers of a key that are read from the cache.
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
    moved = layers * rows * moved_width + pairs * config.num_heads
    return OpCount(
        name=name,
        layer_count=layers,
        flops=2 * width * pairs,
        weight_bytes=layers * weights * step.weight_size if rows else 0,
        kv_bytes=keys * cached * step.kv_size,
        activation_bytes=moved * step.act_size,
    )
