"""Dense attention in torch: grouped heads, tiles of queries."""

from __future__ import annotations

import torch

from cutaway.attention.variants.apply import apply_variant

TILE_Q = 128


def attention(q, k, v, causal, scale, variant):
    """Run the queries through in tiles, so that memory stays bounded."""
    q_len, num_heads, _ = q.shape
    kv_len = k.shape[0]
    if variant is None and 0 < q_len <= TILE_Q and kv_len > 0:
        return _tile(q, k, v, causal, scale)
    out = q.new_zeros(q_len, num_heads, v.shape[-1])
    lse = q.new_full((q_len, num_heads), -torch.inf)
    if kv_len == 0:
        if variant is not None and variant.sink_logit is not None:
            lse[:] = lse.new_tensor(variant.sink_logit)
        return out, lse
    for start in range(0, q_len, TILE_Q):
        rows = slice(start, min(start + TILE_Q, q_len))
        if variant is not None:
            first = start + kv_len - q_len
            part = _variant_tile(q[rows], k, v, scale, variant, first)
        else:
            seen = rows.stop + kv_len - q_len if causal else kv_len
            part = _tile(q[rows], k[:seen], v[:seen], causal, scale)
        out[rows], lse[rows] = part
    return out, lse


def _tile(q, k, v, causal, scale):
    """Attend with few queries, causal or to all keys."""
    q_len = q.shape[0]
    kv_len, num_kv_heads, _ = k.shape
    weights = _scores(q, k, scale)
    if causal and q_len > 1:
        hidden = torch.ones(q_len, kv_len, dtype=torch.bool)
        hidden = hidden.triu_(1 + kv_len - q_len)[:, None]
        grid = weights.view(num_kv_heads, q_len, -1, kv_len)
        grid.masked_fill_(hidden, -torch.inf)
    highest = weights.amax(dim=-1, keepdim=True)  # exp cannot overflow
    weights = weights.sub_(highest).exp_()
    total = weights.sum(dim=-1, keepdim=True)
    out = torch.bmm(weights, v.transpose(0, 1)).div_(total)
    lse = highest.add_(total.log_())
    return _tokens_first(out, q_len), _tokens_first(lse, q_len)[..., 0]


def _variant_tile(q, k, v, scale, variant, first):
    """Attend with few queries, the first of which stands at ``first``."""
    q_len, num_heads, _ = q.shape
    kv_len, num_kv_heads, _ = k.shape
    grid = _scores(q, k, scale).view(num_kv_heads, q_len, -1, kv_len)
    q_pos = torch.arange(first, first + q_len)[:, None, None]
    head = torch.arange(num_heads).view(num_kv_heads, 1, -1, 1)
    changed, seen = apply_variant(
        variant, grid, q_pos, torch.arange(kv_len), head
    )
    weights = changed.to(q.dtype)
    if seen is not None:
        weights = weights.masked_fill(~seen, -torch.inf)
    highest = weights.amax(dim=-1, keepdim=True)
    sink = variant.sink_logit
    if sink is not None:
        sink = weights.new_tensor(sink)[head]
        highest = torch.maximum(highest, sink)
    # where nothing is to see, -inf - -inf would be NaN
    highest = highest.masked_fill(highest == -torch.inf, 0)
    weights = (weights - highest).exp_()
    total = weights.sum(dim=-1, keepdim=True)
    if sink is not None:
        total += (sink - highest).exp_()
    lse = (highest + total.log()).flatten(1, 2)
    total = total.masked_fill_(total == 0, 1).flatten(1, 2)
    out = torch.bmm(weights.flatten(1, 2), v.transpose(0, 1)).div_(total)
    return _tokens_first(out, q_len), _tokens_first(lse, q_len)[..., 0]


def _scores(q, k, scale):
    """Return the scaled products, [kv_heads, q_len x group_size, kv_len].

    The group_size x q_len rows that read one key/value head are stacked,
    so that keys and values are used where they lie, never repeated.
    """
    q_len, _, head_dim = q.shape
    num_kv_heads = k.shape[1]
    rows = (q * scale).reshape(q_len, num_kv_heads, -1, head_dim)
    rows = rows.transpose(0, 1).reshape(num_kv_heads, -1, head_dim)
    return torch.bmm(rows, k.permute(1, 2, 0))


def _tokens_first(array, q_len):
    """Turn [kv_heads, q_len x group, n] into [q_len, heads, n]."""
    num_kv_heads, rows, width = array.shape
    group_size = rows // q_len
    array = array.view(num_kv_heads, q_len, group_size, width)
    heads = num_kv_heads * group_size
    return array.transpose(0, 1).reshape(q_len, heads, width)
