"""Latent attention in float64, one loop per index, as the paper has it.

DeepSeek-V2, arXiv 2405.04434, equations 9 to 19, numbered in comments.
Every key and value of every head is made; nothing is absorbed.
"""

from __future__ import annotations

import cmath
import math

import numpy as np

from oracles import loops


def turn(vector, position, frequencies):
    """Rotate neighbouring pairs by position x frequency."""
    out = np.zeros(len(vector))
    for i, frequency in enumerate(frequencies):
        number = complex(vector[2 * i], vector[2 * i + 1])
        turned = number * cmath.exp(1j * position * frequency)
        out[2 * i], out[2 * i + 1] = turned.real, turned.imag
    return out


def heads(h, weights, sizes):
    """Queries, keys, values of all tokens: lists [token][head] of vectors.

    ``sizes``: heads, nope, rope, value, rank, eps, frequencies. With
    ``wq_a`` in the weights the queries have a latent of their own.
    """
    nope, rank, eps = sizes["nope"], sizes["rank"], sizes["eps"]
    both = loops.linear(h, weights["wkv_a"])
    latent = loops.rms_norm(both[:, :rank], weights["kv_norm"], eps)  # 9
    made = loops.linear(latent, weights["wkv_b"])  # 10, 11
    if "wq_a" in weights:
        c_q = loops.linear(h, weights["wq_a"])  # 12
        c_q = loops.rms_norm(c_q, weights["q_norm"], eps)
        asked = loops.linear(c_q, weights["wq_b"])  # 13, 14
    else:
        asked = loops.linear(h, weights["wq"])
    q, k, v = [], [], []
    for t in range(len(h)):
        key_of_all = turn(both[t, rank:], t, sizes["frequencies"])  # 15
        rows = {"q": [], "k": [], "v": []}
        for head in range(sizes["heads"]):
            width = nope + sizes["rope"]
            mine = asked[t, head * width : (head + 1) * width]
            turned = turn(mine[nope:], t, sizes["frequencies"])
            rows["q"].append([*mine[:nope], *turned])  # 16
            width = nope + sizes["value"]
            mine = made[t, head * width : (head + 1) * width]
            rows["k"].append([*mine[:nope], *key_of_all])  # 17
            rows["v"].append(mine[nope:])
        q.append(rows["q"])
        k.append(rows["k"])
        v.append(rows["v"])
    return q, k, v


def attention(h, weights, sizes, scale):
    """Return output [tokens, heads, value] and log-sum-exp, causal."""
    q, k, v = heads(h, weights, sizes)
    out = np.zeros((len(h), sizes["heads"], sizes["value"]))
    lse = np.zeros((len(h), sizes["heads"]))
    for t in range(len(h)):
        for head in range(sizes["heads"]):
            scores = [
                scale
                * math.fsum(
                    a * b for a, b in zip(q[t][head], k[j][head], strict=True)
                )
                for j in range(t + 1)
            ]
            total = math.fsum(math.exp(score) for score in scores)
            lse[t, head] = math.log(total)
            for j, score in enumerate(scores):  # 18
                out[t, head] += math.exp(score) / total * v[j][head]
    return out, lse
