"""What linear attention and the delta rule share: heads, decays, chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from cutaway.core.checks import check, check_int
from cutaway.layers.arrays import check_array, check_float

if TYPE_CHECKING:
    from jaxtyping import Float


class Inputs(NamedTuple):
    """The arguments of a recurrence, head by head, ready to compute with.

    Attributes:
        q: Queries ``[heads, tokens, key_dim]``, one for each value head.
        k: Keys ``[heads, tokens, key_dim]``, likewise.
        v: Values ``[heads, tokens, value_dim]``.
        log_decay: Zeros where there is none ``[heads, tokens]``.
        state: A copy ``[heads, key_dim, value_dim]``; zeros at the start.
    """

    q: np.ndarray
    k: np.ndarray
    v: np.ndarray
    log_decay: np.ndarray
    state: np.ndarray


def read_inputs(
    q: np.ndarray,
    k: np.ndarray,
    v: np.ndarray,
    log_decay: np.ndarray | None,
    state: np.ndarray | None,
) -> Inputs:
    """Check the arguments and bring them into one form.

    The arithmetic is done in float32, in float64 if the values are. Value
    head h takes the query and key of head h // group_size.

    Raises:
        ArgumentError: Sizes do not fit, or a decay is above 0 or NaN.
    """
    check_array("q", q, ("tokens", "key_heads", "key_dim"), impl="numpy")
    check_float("q", q)
    tokens, key_heads, key_dim = q.shape
    check_array("k", k, (tokens, key_heads, key_dim), impl="numpy")
    check_array("v", v, (tokens, "heads", "value_dim"), impl="numpy")
    check_float("v", v)
    heads, value_dim = v.shape[1:]
    fits = key_heads > 0 and heads > 0 and heads % key_heads == 0
    expected = f"a positive multiple of the {key_heads} heads of q and k"
    check(fits, "v.shape[1]", heads, expected)
    if log_decay is None:
        log_decay = np.zeros((tokens, heads))
    check_array("log_decay", log_decay, (tokens, heads), impl="numpy")
    check_range("log_decay", log_decay, -np.inf, 0)
    shape = (heads, key_dim, value_dim)
    if state is None:
        state = np.zeros(shape)
    check_array("state", state, shape, impl="numpy")
    dtype = np.result_type(q.dtype, v.dtype, np.float32)
    q, k = (np.repeat(x, heads // key_heads, axis=1) for x in (q, k))
    q, k, v, log_decay = (
        x.swapaxes(0, 1).astype(dtype) for x in (q, k, v, log_decay)
    )
    return Inputs(q, k, v, log_decay, state.astype(dtype))


def check_range(name: str, array: np.ndarray, low: float, high: float) -> None:
    """Raise unless all numbers are in ``[low, high]``; NaN is not.

    Args:
        name: The argument's name, for the message.
        array: Of any shape.
        low: Least number allowed.
        high: Greatest number allowed.
    """
    outside = array[~((array >= low) & (array <= high))]
    got = outside.flat[0] if outside.size else None
    check(outside.size == 0, name, got, f"numbers from {low:g} to {high:g}")


def chunks(num_tokens: int, chunk_size: int) -> Iterator[slice]:
    """Cut the tokens into chunks; the last may be shorter.

    Args:
        num_tokens: Tokens in all.
        chunk_size: Tokens of a chunk.

    Raises:
        ArgumentError: The size is no positive integer.

    >>> list(chunks(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    check_int("chunk_size", chunk_size, low=1)
    starts = range(0, num_tokens, chunk_size)
    return (slice(n, min(n + chunk_size, num_tokens)) for n in starts)


def decays_between(
    log_decay: Float[np.ndarray, "heads chunk"],
) -> Float[np.ndarray, "heads chunk chunk"]:
    """Return how much of token j's writing is left at token i.

    That is the product of the decays of the tokens j+1 to i: 1 on the
    diagonal, 0 above it. The logarithms are added up for each pair apart.
    As a difference of two long sums, a strong decay would wipe out the
    digits of the weak ones behind it.

    Args:
        log_decay: Logarithms of the decays, at most 0.

    Source: Dao and Gu 2024, arXiv 2405.21060, listing 1 (``segsum``).

    >>> decays_between(np.log([[0.5, 0.5, 0.1]]))[0].round(3)
    array([[1.  , 0.  , 0.  ],
           [0.5 , 1.  , 0.  ],
           [0.05, 0.1 , 1.  ]])
    """
    size = log_decay.shape[-1]
    later = np.tri(size, k=-1, dtype=bool)  # row i, column j < i
    sums = np.where(later, log_decay[:, :, None], 0).cumsum(axis=1)
    return np.where(np.tri(size, dtype=bool), np.exp(sums), 0)
