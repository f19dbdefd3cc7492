"""The gated delta rule: a state that corrects what it holds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.attention.linear import read_chunk, write_and_read
from cutaway.attention.recurrence import (
    Inputs,
    check_range,
    chunks,
    decays_between,
    read_inputs,
)
from cutaway.layers.arrays import check_array

if TYPE_CHECKING:
    from jaxtyping import Float


def gated_delta_rule(
    q: Float[np.ndarray, "tokens key_heads key_dim"],
    k: Float[np.ndarray, "tokens key_heads key_dim"],
    v: Float[np.ndarray, "tokens heads value_dim"],
    beta: Float[np.ndarray, "tokens heads"],
    *,
    log_decay: Float[np.ndarray, "tokens heads"] | None = None,
    state: Float[np.ndarray, "heads key_dim value_dim"] | None = None,
    chunk_size: int | None = None,
) -> tuple[
    Float[np.ndarray, "tokens heads value_dim"],
    Float[np.ndarray, "heads key_dim value_dim"],
]:
    """Write only what the state does not say yet about a key.

    Token i decays the state, looks up its own key in it, and adds
    beta_i k_i (v_i - found)^T: with a key of length 1 and beta 1 the state
    then answers v_i, whatever it said before. Value head h takes the query
    and key of head h // group_size.

    Args:
        q: Queries, after the scale; Qwen3-Next has 1 / sqrt(key_dim).
        k: Keys, of length 1: a longer one overshoots.
        v: Values.
        beta: How far a token moves the state towards its value, 0 to 2;
            above 1 it moves beyond.
        log_decay: Logarithm of what is left of the state, from -inf to 0;
            None is 0, the delta rule without a gate.
        state: Left by the tokens before; None at the start of a text. It
            is not changed.
        chunk_size: Tokens taken at once; None takes one after another.

    Returns:
        What the tokens read, of the dtype of ``v``, and the new state, in
        float32 or float64.

    Raises:
        ArgumentError: As for ``linear_attention``, or beta is out of range.

    Cost: a token and head take 6 x key_dim x value_dim FLOPs. In chunks of
    C, 2 x C x (2 key_dim + value_dim) come on top, and the solution of a
    triangular system. The state is that of ``linear_attention``.
    Source: Yang et al. 2024, arXiv 2412.06464, section 3.1 (the rule) and
    3.3 (chunks); 2406.06484 has the chunks without the decay.
    Differs: the papers' state is transposed. transformers computes in
    float32, and always scales the queries.

    >>> k = np.array([[[1.0, 0.0]], [[0.0, 1.0]], [[1.0, 0.0]]])
    >>> v = np.array([[[3.0]], [[5.0]], [[7.0]]])
    >>> out, state = gated_delta_rule(k, k, v, np.ones((3, 1)))
    >>> out.ravel(), state.ravel()
    (array([3., 5., 7.]), array([7., 5.]))
    """
    inputs = read_inputs(q, k, v, log_decay, state)
    check_array("beta", beta, v.shape[:2], impl="numpy")
    check_range("beta", beta, 0, 2)
    rates = beta.T.astype(inputs.v.dtype)[:, :, None]
    new, out = inputs.state, np.empty(inputs.v.shape, inputs.v.dtype)
    written = np.empty_like(out)
    if chunk_size is None:
        for token in range(len(q)):
            found = _lookup(new, inputs, token)
            gap = inputs.v[:, token] - found
            written[:, token] = rates[:, token] * gap
            new, out[:, token] = write_and_read(new, inputs, token, written)
    else:
        for chunk in chunks(len(q), chunk_size):
            gaps = corrections(new, inputs, chunk, rates[:, chunk])
            new, out[:, chunk] = read_chunk(new, inputs, chunk, gaps)
    return out.swapaxes(0, 1).astype(v.dtype), new


def _lookup(state: np.ndarray, inputs: Inputs, token: int) -> np.ndarray:
    """Return what the decayed state says about a token's key."""
    decay = np.exp(inputs.log_decay[:, token])[:, None]
    return decay * np.einsum("hk,hkv->hv", inputs.k[:, token], state)


def corrections(
    state: np.ndarray, inputs: Inputs, chunk: slice, rates: np.ndarray
) -> np.ndarray:
    """Return what the tokens of a chunk write, all at once.

    A token's correction depends on those before it:

        w_i = beta_i (v_i - from_start_i k_i^T state
                      - sum over j < i of between_ij (k_i . k_j) w_j).

    With the sum on the left side this is a system (1 + A) w = b, A below
    the diagonal. With w in place of v, the rest is linear attention.

    Args:
        state: Before the chunk.
        inputs: Of all tokens.
        chunk: Its tokens.
        rates: Their beta ``[heads, chunk, 1]``.
    """
    k, v, log_decay = inputs.k[:, chunk], inputs.v[:, chunk], inputs.log_decay
    log_decay = log_decay[:, chunk]
    from_start = np.exp(log_decay.cumsum(axis=1))[:, :, None]
    overlap = k @ k.swapaxes(1, 2) * decays_between(log_decay)
    size = k.shape[1]
    system = np.eye(size, dtype=k.dtype) + np.tril(rates * overlap, k=-1)
    return np.linalg.solve(system, rates * (v - from_start * (k @ state)))
