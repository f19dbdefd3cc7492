"""Root-mean-square normalisation."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.core.backends import backend
from cutaway.core.checks import check_real
from cutaway.layers.arrays import check_array

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float


def rms_norm(
    x: Float[Any, "tokens hidden"],
    weight: Float[Any, " hidden"],
    eps: float,
    *,
    impl: str,
) -> Float[Any, "tokens hidden"]:
    """Bring each row to unit root mean square, then scale each channel.

    y = x / sqrt(mean(x^2) + eps) * weight. The length of a row is lost,
    its direction is kept; no mean is subtracted, unlike in LayerNorm.

    Args:
        x: The rows. Half precision is widened: its squares would overflow.
        weight: One learned factor per channel.
        eps: Added to the mean square, so that a zero row stays zero.
        impl: ``"numpy"`` or ``"torch"``.

    Returns:
        The normalised rows, of the same shape and dtype.

    Raises:
        ArgumentError: ``weight`` does not have one factor per channel, or
            ``eps`` is negative.

    Cost: about 4 FLOPs a number; one read and one write of ``x``.
    Source: Zhang & Sennrich 2019, arXiv 1910.07467, equation 4.
    Differs: Gemma multiplies by 1 + weight.

    >>> import numpy as np
    >>> rms_norm(np.array([[3.0, 4.0]]), np.ones(2), 0.0, impl="numpy")
    array([[0.84852814, 1.13137085]])
    """
    check_array("x", x, ("tokens", "hidden"), impl=impl)
    check_array("weight", weight, (x.shape[-1],), impl=impl)
    eps = check_real("eps", eps, 0)
    return backend(__package__, impl).rms_norm(x, weight, eps)
