"""Normalisation of rows: by the root mean square, and LayerNorm."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.core.backends import backend
from cutaway.core.checks import check_real
from cutaway.layers.arrays import check_array, check_float

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float


def rms_norm(
    x: Float[Any, "*rows hidden"],
    weight: Float[Any, " hidden"],
    eps: float,
    *,
    impl: str,
) -> Float[Any, "*rows hidden"]:
    """Bring each row to unit root mean square, then scale each channel.

    y = x / sqrt(mean(x^2) + eps) * weight. The length of a row is lost,
    its direction is kept; no mean is subtracted, unlike in LayerNorm.

    Args:
        x: The rows, in any leading shape. Half precision is widened: its
            squares would overflow.
        weight: One learned factor per channel.
        eps: Added to the mean square, so that a zero row stays zero.
        impl: ``"numpy"`` or ``"torch"``.

    Returns:
        The normalised rows, of the same shape and dtype.

    Raises:
        ArgumentError: ``x`` holds integers, ``weight`` does not have one
            factor per channel, or ``eps`` is negative.

    Cost: about 4 FLOPs a number; one read and one write of ``x``.
    Source: Zhang & Sennrich 2019, arXiv 1910.07467, equation 4.
    Differs: Gemma multiplies by 1 + weight.

    >>> import numpy as np
    >>> rms_norm(np.array([[3.0, 4.0]]), np.ones(2), 0.0, impl="numpy")
    array([[0.84852814, 1.13137085]])
    """
    _check_rows(x, impl)
    check_array("weight", weight, (x.shape[-1],), impl=impl)
    eps = check_real("eps", eps, 0)
    return backend(__package__, impl).rms_norm(x, weight, eps)


def layer_norm(
    x: Float[Any, "*rows hidden"],
    weight: Float[Any, " hidden"],
    bias: Float[Any, " hidden"],
    eps: float,
    *,
    impl: str,
) -> Float[Any, "*rows hidden"]:
    """Bring each row to mean 0 and variance 1, then scale and shift.

    y = (x - mean(x)) / sqrt(var(x) + eps) * weight + bias. RMSNorm leaves
    out the mean and the bias.

    Args:
        x: The rows, in any leading shape; half precision is widened.
        weight: One learned factor per channel.
        bias: One learned number per channel.
        eps: Added to the variance.
        impl: ``"numpy"`` or ``"torch"``.

    Returns:
        The normalised rows, of the same shape and dtype.

    Raises:
        ArgumentError: ``x`` holds integers, ``weight`` or ``bias`` does
            not have one number per channel, or ``eps`` is negative.

    Cost: about 7 FLOPs a number; one read and one write of ``x``.
    Source: Ba et al. 2016, arXiv 1607.06450, equations 3 and 4.

    >>> import numpy as np
    >>> layer_norm(np.array([[1.0, 3.0]]), np.ones(2), np.ones(2), 0.0,
    ...     impl="numpy")
    array([[0., 2.]])
    """
    _check_rows(x, impl)
    for name, vector in (("weight", weight), ("bias", bias)):
        check_array(name, vector, (x.shape[-1],), impl=impl)
    eps = check_real("eps", eps, 0)
    return backend(__package__, impl).layer_norm(x, weight, bias, eps)


def _check_rows(x: Any, impl: str) -> None:
    """Raise unless these are rows of numbers with a fraction."""
    lead = tuple("rows" for _ in x.shape[:-1])
    check_array("x", x, (*lead, "hidden"), impl=impl)
    check_float("x", x)
