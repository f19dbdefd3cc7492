"""The layers in torch: the same formulas, in the library's fused calls."""

from __future__ import annotations

import math

import torch
from torch.nn import functional

ARRAY_TYPE = torch.Tensor
FEW_ROWS = 8  # with many more, torch's own call is the better one
WEIGHT_BLOCKS = 8


def empty(shape, dtype):
    """Return an uninitialised tensor on the CPU."""
    return torch.empty(shape, dtype=getattr(torch, dtype))


def from_numpy(array):
    """Return a tensor that shares the array's memory."""
    return torch.from_numpy(array)


def to_numpy(array):
    """Return an array that shares the tensor's memory."""
    return array.detach().numpy()


def inference():
    """Return torch's inference mode: no gradient, no version counters."""
    return torch.inference_mode()


def embed(token_ids, weight):
    """Pick one row per token."""
    return functional.embedding(token_ids, weight)


def linear(x, weight):
    """Multiply by the transposed weight, with few rows in blocks.

    With few rows the time is that of reading the weight, which the
    library's matrix-vector product does slowly. Cut into blocks of output
    rows, the same product is a batch of small matrix products.
    """
    lead, (out_size, in_size) = x.shape[:-1], weight.shape
    rows = lead.numel()
    if rows > FEW_ROWS:
        return functional.linear(x, weight)
    blocks = math.gcd(out_size, WEIGHT_BLOCKS)
    columns = x.reshape(rows, in_size).t().expand(blocks, in_size, rows)
    weight = weight.reshape(blocks, out_size // blocks, in_size)
    product = torch.bmm(weight, columns).view(out_size, rows)
    return product.t().contiguous().view(*lead, out_size)


def linear_per_head(x, weight):
    """Multiply each head's rows by its own transposed weight."""
    return torch.bmm(x.transpose(0, 1), weight.mT).transpose(0, 1)


def concat(parts):
    """Put tensors side by side along the last axis."""
    lead = torch.broadcast_shapes(*(part.shape[:-1] for part in parts))
    wide = [part.expand(*lead, part.shape[-1]) for part in parts]
    return torch.cat(wide, dim=-1)


def rms_norm(x, weight, eps):
    """Divide each row by its root mean square, then scale."""
    return functional.rms_norm(x, weight.shape, weight, eps)


def layer_norm(x, weight, bias, eps):
    """Subtract each row's mean, divide by its deviation, scale, shift."""
    return functional.layer_norm(x, weight.shape, weight, bias, eps)


def rope_tables(positions, frequencies, factor, dtype):
    """Angles in float64: position times frequency, then cos and sin."""
    angles = torch.outer(positions.double(), torch.from_numpy(frequencies))
    cos, sin = factor * angles.cos(), factor * angles.sin()
    return cos.to(dtype), sin.to(dtype)


def rotate(x, cos, sin, layout):
    """Turn each pair (a, b) of every head by its position's angle."""
    cos, sin = cos[:, None, :], sin[:, None, :]  # the same for all heads
    if layout == "interleaved":
        a, b = x[..., 0::2], x[..., 1::2]
    else:
        a, b = x.chunk(2, dim=-1)
    turned = (a * cos - b * sin, a * sin + b * cos)
    if layout == "interleaved":
        return torch.stack(turned, dim=-1).flatten(-2)
    return torch.cat(turned, dim=-1)


def swiglu(x, w_gate, w_up, w_down):
    """Compute W_down(silu(W_gate x) * W_up x)."""
    hidden = functional.silu(linear(x, w_gate)) * linear(x, w_up)
    return linear(hidden, w_down)


def silu(x, gain):
    """Compute x * sigmoid(gain * x)."""
    return functional.silu(x) if gain == 1 else x * (gain * x).sigmoid()


def gelu_tanh(x):
    """Compute the usual approximation of x * Phi(x)."""
    return functional.gelu(x, approximate="tanh")


def relu(x):
    """Cut off what is negative."""
    return functional.relu(x)
