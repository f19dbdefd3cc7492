"""Dense attention in NumPy: the oracle, one head at a time."""

from __future__ import annotations

import numpy as np


def attention(q, k, v, causal, scale):
    """Softmax of the scaled products of each head, times its values."""
    q_len, num_heads, _ = q.shape
    kv_len, num_kv_heads, _ = k.shape
    out = np.zeros_like(q)
    lse = np.full((q_len, num_heads), -np.inf, q.dtype)
    if kv_len == 0:
        return out, lse
    hidden = np.zeros((q_len, kv_len), bool)
    if causal:
        last_visible = np.arange(q_len)[:, None] + kv_len - q_len
        hidden = np.arange(kv_len) > last_visible
    for head in range(num_heads):
        kv_head = head // (num_heads // num_kv_heads)
        scores = q[:, head] @ k[:, kv_head].T * scale
        scores = np.where(hidden, -np.inf, scores)
        highest = scores.max(axis=-1, keepdims=True)  # exp cannot overflow
        weights = np.exp(scores - highest)
        total = weights.sum(axis=-1, keepdims=True)
        out[:, head] = weights / total @ v[:, kv_head]
        lse[:, head] = (highest + np.log(total))[:, 0]
    return out, lse
