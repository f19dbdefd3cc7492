"""Linear attention and the delta rule in float64, from their definitions.

Nothing is shared with the package: the quadratic sum of linear attention,
and the delta rule as products of matrices d_v x d_k, as the paper has it
(Yang et al. 2024, arXiv 2412.06464, equation 10).
"""

from __future__ import annotations

import numpy as np


def quadratic(q, k, v, log_decay):
    """Sum over pairs j <= i of decay x (q_i . k_j) v_j, one head a time."""
    tokens, heads, value_dim = v.shape
    group = heads // q.shape[1]
    out = np.zeros((tokens, heads, value_dim))
    for h in range(heads):
        for i in range(tokens):
            for j in range(i + 1):
                left = np.exp(log_decay[j + 1 : i + 1, h].sum())
                score = q[i, h // group] @ k[j, h // group]
                out[i, h] += left * score * v[j, h]
    return out


def delta(q, k, v, beta, log_decay, state):
    """S_i = a_i S_{i-1} (1 - b_i k k^T) + b_i v k^T; out_i = S_i q_i."""
    tokens, heads, value_dim = v.shape
    group = heads // q.shape[1]
    out = np.zeros((tokens, heads, value_dim))
    last = np.zeros(state.shape)
    for h in range(heads):
        s = state[h].T.astype(np.float64)
        for i in range(tokens):
            key, b = k[i, h // group], beta[i, h]
            keep = np.eye(len(key)) - b * np.outer(key, key)
            s = np.exp(log_decay[i, h]) * (s @ keep) + b * np.outer(
                v[i, h], key
            )
            out[i, h] = s @ q[i, h // group]
        last[h] = s.T
    return out, last
