"""Matrix multiplication and its cheap cousin, the table lookup."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.core.backends import backend
from cutaway.layers.arrays import check_array

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float, Int


def linear(
    x: Float[Any, "*rows in_size"],
    weight: Float[Any, "out_size in_size"],
    bias: Float[Any, " out_size"] | None = None,
    *,
    impl: str,
) -> Float[Any, "*rows out_size"]:
    """Multiply each row of ``x`` by the transpose of ``weight``.

    A weight is kept as ``[out, in]``: row j holds what output j takes from
    each input. Llama has no bias; Qwen2, gpt-oss and GPT-2 add one.

    Args:
        x: The rows, in any leading shape.
        weight: The matrix, in any memory order.
        bias: Added to each product, or None.
        impl: ``"numpy"`` or ``"torch"``.

    Returns:
        The products, one row per row of ``x``, of the same dtype.

    Raises:
        ArgumentError: The inner sizes differ, or those of the bias.

    Cost: 2 x rows x in x out FLOPs. With one row every weight is read for
    two FLOPs, so memory sets the time; with hundreds, arithmetic does.

    >>> import numpy as np
    >>> linear(np.array([1.0, 2.0]), np.array([[3.0, 4.0]]), impl="numpy")
    array([11.])
    """
    check_array("weight", weight, ("out", "in"), impl=impl)
    lead = tuple("rows" for _ in x.shape[:-1])
    check_array("x", x, (*lead, weight.shape[1]), impl=impl)
    product = backend(__package__, impl).linear(x, weight)
    if bias is None:
        return product
    check_array("bias", bias, (weight.shape[0],), impl=impl)
    return product + bias


def linear_per_head(
    x: Float[Any, "tokens heads in_size"],
    weight: Float[Any, "heads out_size in_size"],
    *,
    impl: str,
) -> Float[Any, "tokens heads out_size"]:
    """Multiply each head's row by the transpose of that head's matrix.

    Args:
        x: The rows, one a token and head.
        weight: One matrix a head, in any memory order.
        impl: ``"numpy"`` or ``"torch"``.

    Returns:
        The products, of the same dtype.

    Raises:
        ArgumentError: Heads or inner sizes differ.

    Cost: 2 x tokens x heads x in x out FLOPs.

    >>> import numpy as np
    >>> x, weight = np.array([[[1.0], [2.0]]]), np.array([[[3.0]], [[5.0]]])
    >>> linear_per_head(x, weight, impl="numpy")
    array([[[ 3.],
            [10.]]])
    """
    check_array("weight", weight, ("heads", "out", "in"), impl=impl)
    heads, _, in_size = weight.shape
    check_array("x", x, ("tokens", heads, in_size), impl=impl)
    return backend(__package__, impl).linear_per_head(x, weight)


def embed(
    token_ids: Int[Any, " tokens"],
    weight: Float[Any, "vocab hidden"],
    *,
    impl: str,
) -> Float[Any, "tokens hidden"]:
    """Look up the vector of each token.

    The product of a one-hot row with the matrix, without the zeros.

    Args:
        token_ids: Row numbers, each in ``[0, vocab)``; the caller checks.
        weight: One row per token of the vocabulary.
        impl: ``"numpy"`` or ``"torch"``.

    Returns:
        The rows, in the order of ``token_ids``.

    Raises:
        ArgumentError: ``token_ids`` is not flat or ``weight`` not a matrix.

    Cost: no FLOPs; reads ``hidden`` numbers per token, whatever ``vocab``.

    >>> import numpy as np
    >>> embed(np.array([1]), np.array([[1.0, 2], [3, 4]]), impl="numpy")
    array([[3., 4.]])
    """
    check_array("token_ids", token_ids, ("tokens",), impl=impl)
    check_array("weight", weight, ("vocab", "hidden"), impl=impl)
    return backend(__package__, impl).embed(token_ids, weight)
