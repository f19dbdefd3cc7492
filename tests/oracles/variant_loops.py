"""Attention variants in float64, one loop per index, each rule spelled out."""

from __future__ import annotations

import math

import numpy as np


def visible(i, j, *, causal, window, sink_tokens, prefix):
    """Whether the query at position i sees the key at position j."""
    if j < prefix:
        return True
    if causal and j > i:
        return False
    if window is None:
        return True
    return i - window < j or j < sink_tokens


def attention(
    q,
    k,
    v,
    *,
    scale=None,
    causal=True,
    window=None,
    sink_tokens=0,
    prefix=0,
    cap=None,
    slopes=None,
    sink=None,
):
    """Return (out, lse); query row i stands at i + kv_len - q_len."""
    q_len, heads, head_dim = q.shape
    kv_len, kv_heads, _ = k.shape
    scale = 1 / math.sqrt(head_dim) if scale is None else scale
    rule = {"causal": causal, "window": window}
    rule |= {"sink_tokens": sink_tokens, "prefix": prefix}
    out = np.zeros((q_len, heads, v.shape[2]))
    lse = np.full((q_len, heads), -math.inf)
    for row in range(q_len):
        i = row + kv_len - q_len
        for h in range(heads):
            kv_head = h // (heads // kv_heads)
            scores = {}
            for j in range(kv_len):
                if not visible(i, j, **rule):
                    continue
                pairs = zip(q[row, h], k[j, kv_head], strict=True)
                score = scale * math.fsum(float(a) * float(b) for a, b in pairs)
                if cap is not None:
                    score = cap * math.tanh(score / cap)
                if slopes is not None:
                    score -= slopes[h] * (i - j)
                scores[j] = score
            terms = list(scores.values())
            if sink is not None:
                terms.append(sink[h])
            if not terms:
                continue
            top = max(terms)
            total = math.fsum(math.exp(term - top) for term in terms)
            lse[row, h] = top + math.log(total)
            for j, score in scores.items():
                share = math.exp(score - top) / total
                out[row, h] += share * np.float64(v[j, kv_head])
    return out, lse
