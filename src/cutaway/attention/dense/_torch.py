"""Dense attention in torch: grouped heads, tiles of queries."""

from __future__ import annotations

import torch

TILE_Q = 128


def attention(q, k, v, causal, scale):
    """Run the queries through in tiles, so that memory stays bounded."""
    q_len, num_heads, _ = q.shape
    kv_len = k.shape[0]
    if 0 < q_len <= TILE_Q and kv_len > 0:
        return _tile(q, k, v, causal, scale)
    out = torch.zeros_like(q)
    lse = q.new_full((q_len, num_heads), -torch.inf)
    if kv_len == 0:
        return out, lse
    for start in range(0, q_len, TILE_Q):
        stop = min(start + TILE_Q, q_len)
        seen = stop + kv_len - q_len if causal else kv_len
        out[start:stop], lse[start:stop] = _tile(
            q[start:stop], k[:seen], v[:seen], causal, scale
        )
    return out, lse


def _tile(q, k, v, causal, scale):
    """Attend with few queries; heads of a group share a product.

    The group_size x q_len rows that read one key/value head are stacked,
    so that keys and values are used where they lie, never repeated.
    """
    q_len, num_heads, head_dim = q.shape
    kv_len, num_kv_heads, _ = k.shape
    group_size = num_heads // num_kv_heads
    rows = (q * scale).reshape(q_len, num_kv_heads, group_size, head_dim)
    rows = rows.transpose(0, 1).reshape(num_kv_heads, -1, head_dim)
    weights = torch.bmm(rows, k.permute(1, 2, 0))
    if causal and q_len > 1:
        hidden = torch.ones(q_len, kv_len, dtype=torch.bool)
        hidden = hidden.triu_(1 + kv_len - q_len)[:, None]
        grid = weights.view(num_kv_heads, q_len, group_size, kv_len)
        grid.masked_fill_(hidden, -torch.inf)
    highest = weights.amax(dim=-1, keepdim=True)  # exp cannot overflow
    weights = weights.sub_(highest).exp_()
    total = weights.sum(dim=-1, keepdim=True)
    out = torch.bmm(weights, v.transpose(0, 1)).div_(total)
    lse = highest.add_(total.log_())
    return _tokens_first(out, q_len), _tokens_first(lse, q_len)[..., 0]


def _tokens_first(array, q_len):
    """Turn [kv_heads, q_len x group, n] into [q_len, heads, n]."""
    num_kv_heads, _, width = array.shape
    array = array.view(num_kv_heads, q_len, -1, width).transpose(0, 1)
    return array.reshape(q_len, -1, width)
