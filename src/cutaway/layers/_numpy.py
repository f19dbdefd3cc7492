"""The layers in NumPy: the oracle, written as the formulas read."""

from __future__ import annotations

import math
from contextlib import nullcontext

import numpy as np

ARRAY_TYPE = np.ndarray


def empty(shape, dtype):
    """Return an uninitialised array."""
    return np.empty(shape, dtype)


def from_numpy(array):
    """Return the array itself."""
    return array


def to_numpy(array):
    """Return the array itself."""
    return array


def inference():
    """Return a context that does nothing: NumPy records nothing."""
    return nullcontext()


def embed(token_ids, weight):
    """Pick one row per token."""
    return weight[token_ids]


def linear(x, weight):
    """Multiply by the transposed weight."""
    return x @ weight.T


def linear_per_head(x, weight):
    """Multiply each head's rows by its own transposed weight."""
    return np.einsum("thi,hoi->tho", x, weight, optimize=True)


def concat(parts):
    """Put arrays side by side along the last axis."""
    lead = np.broadcast_shapes(*(part.shape[:-1] for part in parts))
    wide = [np.broadcast_to(part, (*lead, part.shape[-1])) for part in parts]
    return np.concatenate(wide, axis=-1)


def rms_norm(x, weight, eps):
    """Divide each row by its root mean square, then scale."""
    wide = x.astype(np.promote_types(x.dtype, np.float32), copy=False)
    mean_square = np.mean(wide * wide, axis=-1, keepdims=True)
    scaled = wide / np.sqrt(mean_square + eps) * weight
    return scaled.astype(x.dtype, copy=False)


def layer_norm(x, weight, bias, eps):
    """Subtract each row's mean, divide by its deviation, scale, shift."""
    wide = x.astype(np.promote_types(x.dtype, np.float32), copy=False)
    centred = wide - wide.mean(axis=-1, keepdims=True)
    variance = np.mean(centred * centred, axis=-1, keepdims=True)
    scaled = centred / np.sqrt(variance + eps) * weight + bias
    return scaled.astype(x.dtype, copy=False)


def rope_tables(positions, frequencies, factor, dtype):
    """Angles in float64: position times frequency, then cos and sin."""
    angles = positions[:, None] * frequencies[None, :]
    cos, sin = factor * np.cos(angles), factor * np.sin(angles)
    return cos.astype(dtype), sin.astype(dtype)


def rotate(x, cos, sin, layout):
    """Turn each pair (a, b) of every head by its position's angle."""
    cos, sin = cos[:, None, :], sin[:, None, :]  # the same for all heads
    out = np.empty_like(x)
    if layout == "interleaved":
        first, second = np.s_[..., 0::2], np.s_[..., 1::2]
    else:
        half = x.shape[-1] // 2
        first, second = np.s_[..., :half], np.s_[..., half:]
    a, b = x[first], x[second]
    out[first] = a * cos - b * sin
    out[second] = a * sin + b * cos
    return out


def swiglu(x, w_gate, w_up, w_down):
    """Compute W_down(silu(W_gate x) * W_up x)."""
    gate = x @ w_gate.T
    with np.errstate(over="ignore"):  # exp(-gate) = inf has the right limit
        silu = gate / (1 + np.exp(-gate))
    return (silu * (x @ w_up.T)) @ w_down.T


def silu(x, gain):
    """Compute x * sigmoid(gain * x)."""
    with np.errstate(over="ignore"):  # exp(-x) = inf has the right limit
        return x / (1 + np.exp(-gain * x))


def gelu_tanh(x):
    """Compute the usual approximation of x * Phi(x)."""
    inner = math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)
    return 0.5 * x * (1 + np.tanh(inner))


def relu(x):
    """Cut off what is negative."""
    return np.maximum(x, 0)
