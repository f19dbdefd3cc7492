"""The operations of attention in a forward pass."""

from __future__ import annotations

from collections.abc import Iterator

from cutaway.roofline.forward_pass import ForwardPass
from cutaway.roofline.latent_ops import absorbed_pays, latent_ops
from cutaway.roofline.op_count import OpCount
from cutaway.roofline.pair_ops import pair_product


def attention_ops(step: ForwardPass) -> Iterator[OpCount]:
    """Yield the operations between a layer's norm and its residual."""
    mla = step.config.mla
    if mla is None:
        yield from _heads(step)
    else:
        absorbed = absorbed_pays(mla, step.q_len, step.context_len)
        yield from latent_ops(step, mla, absorbed=absorbed)


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
    sinks = config.num_heads * config.attention.sink_logits
    yield pair_product(step, "scores", q_width, cached=kv_width, weights=sinks)
    yield pair_product(step, "values", q_width, cached=kv_width)
    yield step.linear("wo", q_width, hidden, vectors=out_bias)
