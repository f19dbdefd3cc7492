"""Dense attention in NumPy: the oracle, one head at a time."""

from __future__ import annotations

import numpy as np

from cutaway.attention.variants import causal as causal_mask
from cutaway.attention.variants import full
from cutaway.attention.variants.apply import apply_variant


def attention(q, k, v, causal, scale, variant):
    """Softmax of the scaled products of each head, times its values."""
    q_len, num_heads, _ = q.shape
    kv_len, num_kv_heads, _ = k.shape
    group_size = num_heads // num_kv_heads
    if variant is None:
        variant = causal_mask() if causal and q_len > 1 else full()
    q_pos = np.arange(q_len)[:, None] + kv_len - q_len
    kv_pos = np.arange(kv_len)
    out = np.empty((q_len, num_heads, v.shape[-1]), q.dtype)
    lse = np.empty((q_len, num_heads), q.dtype)
    for head in range(num_heads):
        keys, values = k[:, head // group_size], v[:, head // group_size]
        scores = q[:, head] @ keys.T * scale
        scores, seen = apply_variant(variant, scores, q_pos, kv_pos, head)
        if seen is not None:
            scores = np.where(seen, scores, -np.inf)
        sink = None if variant.sink_logit is None else variant.sink_logit[head]
        scores = scores.astype(q.dtype, copy=False)
        weights, lse[:, head] = _softmax(scores, sink)
        out[:, head] = weights @ values
    return out, lse


def _softmax(scores, sink):
    """Return the weights of each row, and the log-sum-exp of its scores."""
    least = -np.inf if sink is None else sink
    highest = scores.max(axis=-1, keepdims=True, initial=least)
    highest[np.isneginf(highest)] = 0  # nothing to see: -inf - -inf is NaN
    weights = np.exp(scores - highest)  # at most 1: exp cannot overflow
    total = weights.sum(axis=-1, keepdims=True)
    if sink is not None:
        total += np.exp(sink - highest)
    with np.errstate(divide="ignore"):
        lse = highest + np.log(total)
    total[total == 0] = 1
    return weights / total, lse[:, 0]
