"""An error budget for low precision, instead of a bare tolerance."""

from __future__ import annotations

import numpy as np


def assert_within_budget(got, plain, exact, *, ulps=4):
    """Check ``got`` against float64, with a plain computation as measure.

    Its largest error may be twice that of ``plain``, the same formula in
    the same precision written down plainly, plus a few units in the last
    place of the largest value.
    """
    got, plain, exact = (np.asarray(a) for a in (got, plain, exact))
    assert got.shape == exact.shape, (got.shape, exact.shape)
    assert got.dtype == plain.dtype
    if exact.size == 0:
        return
    finite = np.isfinite(exact)
    assert np.array_equal(got[~finite], exact[~finite].astype(got.dtype))
    if not finite.any():
        return
    error = np.abs(got[finite] - exact[finite]).max()
    allowance = np.abs(plain[finite] - exact[finite]).max()
    unit = np.finfo(got.dtype).eps * np.abs(exact[finite]).max()
    budget = 2 * allowance + ulps * unit
    assert error <= budget, f"error {error:.3g}, budget {budget:.3g}"
