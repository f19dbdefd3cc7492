"""The operations of latent attention (DeepSeek), in both of its forms."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from cutaway.core.checks import check_flag, check_int, check_real
from cutaway.core.config import ModelConfig
from cutaway.core.errors import ArgumentError
from cutaway.core.mla_config import MLAConfig
from cutaway.roofline.forward_pass import ForwardPass
from cutaway.roofline.op_count import OpCount
from cutaway.roofline.pair_ops import causal_pairs, pair_product, pair_widths


def absorption_limit(mla: MLAConfig) -> float:
    """Return the queries from which on absorption costs more FLOPs.

    The expanded form multiplies every key of the context by the matrices
    of all heads, once a pass; the absorbed one pays for wider products in
    every pair of a query and a key. Behind a long context the two are
    equal at ``rank (nope + value) / (2 rank - nope - value)`` queries.

    Args:
        mla: Sizes of the attention.

    Returns:
        The queries, not rounded; infinite if the rank is so small that
        the wider products are not wider.

    >>> mla = MLAConfig(kv_lora_rank=512, q_lora_rank=1536,
    ...     qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128)
    >>> round(absorption_limit(mla), 2)
    170.67
    """
    made = mla.qk_nope_head_dim + mla.v_head_dim
    wider = 2 * mla.kv_lora_rank - made
    return mla.kv_lora_rank * made / wider if wider > 0 else math.inf


def absorbed_pays(mla: MLAConfig, q_len: int, context_len: int) -> bool:
    """Return whether a pass needs fewer FLOPs in the absorbed form.

    One token is always taken so: that is decode. A prompt without a
    context never is, and a chunk behind one up to about
    ``absorption_limit`` queries.

    Args:
        mla: Sizes of the attention.
        q_len: New tokens.
        context_len: Tokens already in the cache.

    >>> mla = MLAConfig(kv_lora_rank=512, q_lora_rank=1536,
    ...     qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128)
    >>> [absorbed_pays(mla, n, 10_000) for n in (1, 169, 170)]
    [True, True, False]
    """
    pairs = causal_pairs(q_len, context_len)
    if q_len <= 1:
        return True
    limit = absorption_limit(mla)
    return math.isinf(limit) or pairs < limit * context_len


def latent_attention_counts(
    config: ModelConfig,
    q_len: int,
    context_len: int,
    *,
    absorbed: bool,
    bytes_per_element: float = 2,
) -> tuple[OpCount, ...]:
    """Count latent attention in the form asked for, cheaper or not.

    Args:
        config: A model with latent attention.
        q_len: New tokens read in this pass.
        context_len: Tokens already in the cache.
        absorbed: Multiply with the cached rows as they are; otherwise
            make keys and values of all of them first.
        bytes_per_element: Of weights, cache and intermediate numbers.

    Returns:
        The operations between a layer's norm and its residual, each
        summed over all layers.

    Raises:
        ArgumentError: The model has no latent attention, or a size is
            negative.

    >>> from cutaway.roofline.models import CONFIGS
    >>> ops = latent_attention_counts(CONFIGS["deepseek-v3"], 1, 0,
    ...                               absorbed=True)
    >>> [op.name for op in ops][-4:]
    ['scores', 'values', 'wv_b', 'wo']
    """
    mla = config.mla
    if mla is None:
        raise ArgumentError("config.mla", mla, "latent attention")
    check_flag("absorbed", absorbed)
    size = check_real("bytes_per_element", bytes_per_element, 0, open_low=True)
    check_int("q_len", q_len, low=0)
    check_int("context_len", context_len, low=0)
    step = ForwardPass(config, q_len, context_len, size, size, size)
    return tuple(latent_ops(step, mla, absorbed=absorbed))


def latent_ops(
    step: ForwardPass, mla: MLAConfig, *, absorbed: bool
) -> Iterator[OpCount]:
    """Yield the operations of latent attention, in either form."""
    config = step.config
    hidden, heads = config.hidden_size, config.num_heads
    q_width, rank = heads * config.head_dim, mla.kv_lora_rank
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
    yield from _absorbed(step, mla) if absorbed else _expanded(step, mla)
    yield step.linear("wo", heads * mla.v_head_dim, hidden)


def _absorbed(step: ForwardPass, mla: MLAConfig) -> Iterator[OpCount]:
    """Yield the products with the cached rows, and the two matrices.

    ``wk_b`` is multiplied with the queries and ``wv_b`` with the weighted
    sums. Values are part of the row that the scores have read.
    """
    nope, rank = mla.qk_nope_head_dim, mla.kv_lora_rank
    scores, values = pair_widths(step.config, absorbed=True)
    yield _per_head(step, "wk_b", nope, rank)
    yield pair_product(step, "scores", scores, cached=mla.cache_width)
    yield pair_product(step, "values", values)
    yield _per_head(step, "wv_b", rank, mla.v_head_dim)


def _per_head(
    step: ForwardPass, name: str, width_in: int, width_out: int
) -> OpCount:
    """Return a projection of every head by a matrix of its own."""
    heads = step.config.num_heads
    moved = step.q_len * heads * (width_in + width_out)
    return replace(
        step.linear(name, heads * width_in, width_out),
        activation_bytes=step.config.num_layers * moved * step.act_size,
    )


def _expanded(step: ForwardPass, mla: MLAConfig) -> Iterator[OpCount]:
    """Yield the making of all keys and values, and their products.

    Every row is read from the cache once, by ``wk_b``; what the heads'
    keys and values are made of and read from afterwards are intermediate
    numbers.
    """
    config, rank = step.config, mla.kv_lora_rank
    nope = config.num_heads * mla.qk_nope_head_dim
    kv_len = step.context_len + step.q_len if step.q_len else 0
    every = replace(step, q_len=kv_len)
    rows = config.num_layers * kv_len
    yield replace(
        every.linear("wk_b", rank, nope),
        kv_bytes=rows * mla.cache_width * step.kv_size,
        activation_bytes=rows * nope * step.act_size,
    )
    yield every.linear("wv_b", rank, config.num_heads * mla.v_head_dim)
    scores, values = pair_widths(config, absorbed=False)
    yield pair_product(step, "scores", scores, made=scores)
    yield pair_product(step, "values", values, made=values)
