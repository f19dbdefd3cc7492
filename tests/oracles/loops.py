"""The decoder's formulas in float64, with one loop per index.

Nothing here is fast or shared with the package: rotation is a complex
product, attention walks the pairs of a query and a key one by one.
"""

from __future__ import annotations

import cmath
import math

import numpy as np


def linear(x, weight):
    """[rows, in] x [out, in] -> [rows, out]."""
    rows, outs = len(x), len(weight)
    result = np.zeros((rows, outs))
    for r in range(rows):
        for o in range(outs):
            result[r, o] = math.fsum(
                float(a) * float(b)
                for a, b in zip(x[r], weight[o], strict=True)
            )
    return result


def rms_norm(x, weight, eps):
    result = np.zeros(x.shape)
    for r, row in enumerate(x):
        square = math.fsum(float(a) ** 2 for a in row) / len(row)
        for c, a in enumerate(row):
            result[r, c] = float(a) / math.sqrt(square + eps) * float(weight[c])
    return result


def pairs(head_dim, layout):
    """The two dimensions of each rotary pair."""
    half = head_dim // 2
    if layout == "interleaved":
        return [(2 * i, 2 * i + 1) for i in range(half)]
    return [(i, i + half) for i in range(half)]


def rope(x, positions, theta, layout):
    tokens, heads, head_dim = x.shape
    result = np.zeros(x.shape)
    for t in range(tokens):
        for h in range(heads):
            for i, (first, second) in enumerate(pairs(head_dim, layout)):
                angle = int(positions[t]) * theta ** (-2 * i / head_dim)
                number = complex(x[t, h, first], x[t, h, second])
                turned = number * cmath.exp(1j * angle)
                result[t, h, first] = turned.real
                result[t, h, second] = turned.imag
    return result


def silu(x):
    if x < 0:
        return x * math.exp(x) / (1 + math.exp(x))
    return x / (1 + math.exp(-x))


def swiglu(x, w_gate, w_up, w_down):
    gate = linear(x, w_gate)
    up = linear(x, w_up)
    hidden = np.zeros(gate.shape)
    for index in np.ndindex(gate.shape):
        hidden[index] = silu(gate[index]) * up[index]
    return linear(hidden, w_down)


def attention(q, k, v, causal=True, scale=None):
    """Return (out, lse); query i stands at position i + kv_len - q_len."""
    q_len, heads, head_dim = q.shape
    kv_len, kv_heads, _ = k.shape
    scale = head_dim**-0.5 if scale is None else scale
    out = np.zeros((q_len, heads, v.shape[2]))
    lse = np.full((q_len, heads), -math.inf)
    for i in range(q_len):
        for h in range(heads):
            kv_head = h * kv_heads // heads
            scores = {}
            for j in range(kv_len):
                if causal and j > i + kv_len - q_len:
                    continue
                products = (
                    float(a) * float(b)
                    for a, b in zip(q[i, h], k[j, kv_head], strict=True)
                )
                scores[j] = scale * math.fsum(products)
            if not scores:
                continue
            top = max(scores.values())
            total = math.fsum(math.exp(s - top) for s in scores.values())
            lse[i, h] = top + math.log(total)
            for j, score in scores.items():
                share = math.exp(score - top) / total
                out[i, h] += share * np.float64(v[j, kv_head])
    return out, lse


def decoder_logits(token_ids, weights, sizes):
    """Logits of a Llama-like model, all tokens at once.

    ``weights`` maps names to float64 arrays: embed, final_norm, unembed
    and, per layer, ``(layer, name)``; ``sizes`` holds num_layers,
    num_heads, num_kv_heads, head_dim, theta, layout, eps.
    """
    count = len(token_ids)
    positions = range(count)
    eps, head_dim = sizes["eps"], sizes["head_dim"]
    x = np.stack([weights["embed"][t] for t in token_ids])
    for layer in range(sizes["num_layers"]):
        w = {
            name[1]: value
            for name, value in weights.items()
            if isinstance(name, tuple) and name[0] == layer
        }
        h = rms_norm(x, w["attn_norm"], eps)
        q = linear(h, w["wq"]).reshape(count, sizes["num_heads"], head_dim)
        k = linear(h, w["wk"]).reshape(count, sizes["num_kv_heads"], head_dim)
        v = linear(h, w["wv"]).reshape(count, sizes["num_kv_heads"], head_dim)
        q = rope(q, positions, sizes["theta"], sizes["layout"])
        k = rope(k, positions, sizes["theta"], sizes["layout"])
        out, _ = attention(q, k, v)
        x = x + linear(out.reshape(count, -1), w["wo"])
        h = rms_norm(x, w["ffn_norm"], eps)
        x = x + swiglu(h, w["w_gate"], w["w_up"], w["w_down"])
    return linear(rms_norm(x, weights["final_norm"], eps), weights["unembed"])
