"""The layers in NumPy: the oracle, written as the formulas read."""

from __future__ import annotations

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


def rms_norm(x, weight, eps):
    """Divide each row by its root mean square, then scale."""
    wide = x.astype(np.promote_types(x.dtype, np.float32), copy=False)
    mean_square = np.mean(wide * wide, axis=-1, keepdims=True)
    scaled = wide / np.sqrt(mean_square + eps) * weight
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
