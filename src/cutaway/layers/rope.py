"""Rotary position embedding: a position turns pairs of dimensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import numpy as np

from cutaway.core.backends import backend
from cutaway.core.block_config import RopeLayout
from cutaway.core.checks import check, check_choice, check_int, check_real
from cutaway.layers.arrays import check_array, check_float

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float, Float64, Int

LAYOUTS = get_args(RopeLayout)


def rope_frequencies(
    head_dim: int, theta: float
) -> Float64[np.ndarray, " half"]:
    """Return how far each pair turns per position, in radians.

    Pair i turns by theta^(-2i / head_dim): the first by one radian per
    token, the last by little over 1/theta. Fast pairs tell neighbours
    apart, slow ones tell far from near.

    Args:
        head_dim: Width of a head; even.
        theta: The base, ``ModelConfig.rope_theta``.

    Returns:
        ``head_dim / 2`` falling numbers from 1 down, always float64.

    Raises:
        ArgumentError: ``head_dim`` is odd or ``theta`` is not positive.

    Source: Su et al. 2021, arXiv 2104.09864, section 3.2.2.

    >>> rope_frequencies(4, 10000.0)
    array([1.  , 0.01])
    """
    check_int("head_dim", head_dim, low=2)
    check(head_dim % 2 == 0, "head_dim", head_dim, "an even number")
    check_real("theta", theta, 0, open_low=True)
    return theta ** (-np.arange(0, head_dim, 2) / head_dim)


def rope_tables(
    positions: Int[Any, " tokens"],
    frequencies: Float64[np.ndarray, " half"],
    *,
    dtype: Any,
    impl: str,
    attention_factor: float = 1.0,
) -> tuple[Float[Any, "tokens half"], Float[Any, "tokens half"]]:
    """Return cos and sin of every position's angles.

    They depend on positions alone, so a forward pass makes them once for
    all layers. The angle is taken in float64: in float32 the error of a
    position times a frequency grows with the position.

    Args:
        positions: Absolute positions of the tokens.
        frequencies: From ``rope_frequencies`` or ``scaled_frequencies``.
        dtype: The backend's dtype of the result, such as ``x.dtype``.
        impl: ``"numpy"`` or ``"torch"``.
        attention_factor: Multiplies both tables, and so the vectors that
            are turned by them; from ``scaled_frequencies``.

    Returns:
        The cosines and the sines.

    Raises:
        ArgumentError: An argument is not flat, or the factor not positive.

    Cost: tokens x head_dim / 2 angles, with a cosine and a sine of each.
    Differs: transformers computes the angles in float32.

    >>> cos, sin = rope_tables(np.array([0]), np.array([1.0, 0.01]),
    ...                        dtype=np.float32, impl="numpy")
    >>> cos, sin
    (array([[1., 1.]], dtype=float32), array([[0., 0.]], dtype=float32))
    """
    check_array("positions", positions, ("tokens",), impl=impl)
    check_array("frequencies", frequencies, ("half",), impl="numpy")
    factor = check_real("attention_factor", attention_factor, 0, open_low=True)
    module = backend(__package__, impl)
    return module.rope_tables(positions, frequencies, factor, dtype)


def rotate(
    x: Float[Any, "tokens heads head_dim"],
    cos: Float[Any, "tokens half"],
    sin: Float[Any, "tokens half"],
    *,
    layout: str,
    impl: str,
) -> Float[Any, "tokens heads head_dim"]:
    """Turn the pairs of every head: (a cos - b sin, a sin + b cos).

    Args:
        x: Queries or keys.
        cos: From ``rope_tables``.
        sin: From ``rope_tables``.
        layout: Which dimensions are a pair: 2i and 2i+1
            (``"interleaved"``) or i and i + head_dim/2 (``"half_split"``).
            It must be the one the weights were made for.
        impl: ``"numpy"`` or ``"torch"``.

    Returns:
        The turned vectors; each keeps its length.

    Raises:
        ArgumentError: The tables do not fit, ``x`` holds integers, or the
            layout is unknown.

    Cost: 6 FLOPs per pair.

    >>> quarter = np.array([[0.0]]), np.array([[1.0]])
    >>> rotate(np.array([[[3.0, 4.0]]]), *quarter, layout="interleaved",
    ...        impl="numpy")
    array([[[-4.,  3.]]])
    """
    check_choice("layout", layout, LAYOUTS)
    check_array("cos", cos, ("tokens", "half"), impl=impl)
    check_array("sin", sin, tuple(cos.shape), impl=impl)
    tokens, half = cos.shape
    check_array("x", x, (tokens, "heads", 2 * half), impl=impl)
    check_float("x", x)
    return backend(__package__, impl).rotate(x, cos, sin, layout)


def apply_rope(
    x: Float[Any, "tokens heads head_dim"],
    positions: Int[Any, " tokens"],
    frequencies: Float64[np.ndarray, " half"],
    *,
    layout: str,
    impl: str,
) -> Float[Any, "tokens heads head_dim"]:
    """Turn each token's queries or keys by the angles of its position.

    After this the product of a query and a key depends on where they
    stand only through the distance between them.

    Args:
        x: Queries or keys.
        positions: Absolute positions, one per token.
        frequencies: From ``rope_frequencies``.
        layout: ``"interleaved"`` or ``"half_split"``; see ``rotate``.
        impl: ``"numpy"`` or ``"torch"``.

    Returns:
        The turned vectors, of the same shape and dtype.

    Raises:
        ArgumentError: Sizes do not fit, ``x`` holds integers, or the
            layout is unknown.

    Cost: 6 FLOPs per pair and head, and the tables.
    Source: Su et al. 2021, arXiv 2104.09864, equation 34.
    Differs: transformers uses ``half_split``; files in GGUF form of the
    llama family have their q and k rows permuted for ``interleaved``.

    >>> x = np.array([[[1.0, 0.0]]])
    >>> apply_rope(x, np.array([0]), np.array([1.0]),
    ...            layout="interleaved", impl="numpy")
    array([[[1., 0.]]])
    """
    cos, sin = rope_tables(positions, frequencies, dtype=x.dtype, impl=impl)
    return rotate(x, cos, sin, layout=layout, impl=impl)
