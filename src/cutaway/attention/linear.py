"""Linear attention: all that was read, in one matrix of fixed size."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.attention.recurrence import (
    Inputs,
    chunks,
    decays_between,
    read_inputs,
)

if TYPE_CHECKING:
    from jaxtyping import Float


def linear_attention(
    q: Float[np.ndarray, "tokens key_heads key_dim"],
    k: Float[np.ndarray, "tokens key_heads key_dim"],
    v: Float[np.ndarray, "tokens heads value_dim"],
    *,
    log_decay: Float[np.ndarray, "tokens heads"] | None = None,
    state: Float[np.ndarray, "heads key_dim value_dim"] | None = None,
    chunk_size: int | None = None,
) -> tuple[
    Float[np.ndarray, "tokens heads value_dim"],
    Float[np.ndarray, "heads key_dim value_dim"],
]:
    """Attend without softmax: the sum over earlier tokens is kept as a state.

    Token i decays the state, adds k_i v_i^T to it, and reads q_i^T state.
    In chunks the same comes out of matrix products. Value head h takes the
    query and key of head h // group_size.

    Args:
        q: Queries, after the feature map and the scale, if there are any.
        k: Keys, after the feature map.
        v: Values. A further column of ones gives the sum of the weights,
            to divide by.
        log_decay: Logarithm of what is left of the state, from -inf to 0;
            None is 0, nothing fades. A number for each head and token.
        state: Left by the tokens before; None at the start of a text. It
            is not changed.
        chunk_size: Tokens taken at once; None takes one after another.

    Returns:
        What the tokens read, of the dtype of ``v``, and the new state, in
        float32 or float64.

    Raises:
        ArgumentError: Sizes do not fit, the value heads are no multiple of
            the key heads, a decay is out of range, or a chunk is empty.

    Cost: a token and head take 4 x key_dim x value_dim FLOPs; in chunks,
    2 x chunk_size x (key_dim + value_dim) on top. The state has heads x
    key_dim x value_dim numbers of 4 bytes, whatever the number of tokens.
    Source: Katharopoulos et al. 2020, arXiv 2006.16236, section 3.3; with
    a decay, Dao and Gu 2024, arXiv 2405.21060, section 6 (chunks).
    Differs: there is no normaliser, as in most later models.

    >>> k = np.array([[[1.0, 0.0]], [[0.0, 1.0]], [[1.0, 0.0]]])
    >>> v = np.array([[[3.0]], [[5.0]], [[7.0]]])
    >>> out, state = linear_attention(k, k, v)
    >>> out.ravel(), state.ravel()
    (array([ 3.,  5., 10.]), array([10.,  5.]))
    """
    inputs = read_inputs(q, k, v, log_decay, state)
    new, out = inputs.state, np.empty(inputs.v.shape, inputs.v.dtype)
    if chunk_size is None:
        for token in range(len(q)):
            new, out[:, token] = write_and_read(new, inputs, token, inputs.v)
    else:
        for chunk in chunks(len(q), chunk_size):
            written = inputs.v[:, chunk]
            new, out[:, chunk] = read_chunk(new, inputs, chunk, written)
    return out.swapaxes(0, 1).astype(v.dtype), new


def write_and_read(
    state: np.ndarray, inputs: Inputs, token: int, written: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the state after a token, and what the token reads.

    Args:
        state: Before the token.
        inputs: Of all tokens.
        token: Its number.
        written: What the tokens write at their keys ``[heads, tokens,
            value_dim]``: the values, or the delta rule's corrections.
    """
    q, k = inputs.q[:, token], inputs.k[:, token]
    decay = np.exp(inputs.log_decay[:, token])[:, None, None]
    state = decay * state + k[:, :, None] * written[:, token, None, :]
    return state, np.einsum("hk,hkv->hv", q, state)


def read_chunk(
    state: np.ndarray, inputs: Inputs, chunk: slice, written: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the state after a chunk, and what its tokens read.

    What came before the chunk is read from the state, what stands in it by
    attention without softmax.

    Args:
        state: Before the chunk.
        inputs: Of all tokens.
        chunk: Its tokens.
        written: What they write ``[heads, chunk, value_dim]``.
    """
    q, k, log_decay = inputs.q[:, chunk], inputs.k[:, chunk], inputs.log_decay
    log_decay = log_decay[:, chunk]
    from_start = np.exp(log_decay.cumsum(axis=1))[:, :, None]
    between = decays_between(log_decay)
    weights = q @ k.swapaxes(1, 2) * between
    out = from_start * (q @ state) + weights @ written
    to_end = between[:, -1, :, None]
    new = from_start[:, -1:] * state + (to_end * k).swapaxes(1, 2) @ written
    return new, out
