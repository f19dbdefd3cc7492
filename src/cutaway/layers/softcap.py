"""A bound that numbers approach instead of being cut off at it."""

from __future__ import annotations

from typing import Any

import numpy as np


def soft_cap(x: Any, cap: float) -> Any:
    """Return ``cap * tanh(x / cap)``: x where it is small, never beyond cap.

    Args:
        x: An array or a tensor.
        cap: The bound, positive.

    Returns:
        An array of the same kind, shape and dtype.

    Source: Gemma 2, arXiv 2408.00118, section 2.

    >>> soft_cap(np.array([1.0, 1000.0]), 50.0).round(3)
    array([ 1., 50.])
    """
    ratio = x / cap
    # tanh is a method of a tensor, a function of NumPy.
    return cap * (ratio.tanh() if hasattr(ratio, "tanh") else np.tanh(ratio))
