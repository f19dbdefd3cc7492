"""Numbers of eight bits with an exponent: FP8 in two forms."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check, check_choice

if TYPE_CHECKING:
    from jaxtyping import Float, Float32, UInt8

_SIGN = 0x80
_NAN = 0x7F


@dataclass(frozen=True, kw_only=True)
class Float8Format:
    """How the seven bits below the sign are read.

    With m bits of mantissa, a code c is an exponent field ``c >> m`` and a
    fraction of ``c % 2**m`` parts in ``2**m``. The field 0 holds the
    subnormal numbers, with no leading one. So the numbers grow with their
    codes, and a code counts quanta.

    Attributes:
        mantissa_bits: Below the leading one.
        bias: Exponent field of the numbers from 1 to 2.
        largest_code: Of the largest finite number.
        overflow_code: Of what is too large and does not saturate.

    >>> FLOAT8["e4m3"].largest, FLOAT8["e5m2"].largest
    (448.0, 57344.0)
    """

    mantissa_bits: int
    bias: int
    largest_code: int
    overflow_code: int

    @property
    def eps(self) -> float:
        """Distance from 1 to the next number."""
        return 2.0**-self.mantissa_bits

    @property
    def min_normal(self) -> float:
        """Smallest number with a leading one."""
        return 2.0 ** (1 - self.bias)

    @property
    def min_subnormal(self) -> float:
        """Smallest number above 0."""
        return self.min_normal * self.eps

    @property
    def largest(self) -> float:
        """Largest finite number."""
        return self.value(self.largest_code)

    def value(self, code: int) -> float:
        """Return the number of a finite code below the sign."""
        field, part = divmod(code, 1 << self.mantissa_bits)
        if field == 0:
            return part * self.min_subnormal
        return (1 + part * self.eps) * 2.0 ** (field - self.bias)


FLOAT8: Mapping[str, Float8Format] = MappingProxyType(
    {
        "e4m3": Float8Format(
            mantissa_bits=3, bias=7, largest_code=0x7E, overflow_code=_NAN
        ),
        "e5m2": Float8Format(
            mantissa_bits=2, bias=15, largest_code=0x7B, overflow_code=0x7C
        ),
    }
)
"""The two forms of arXiv 2209.05433; torch calls the first e4m3fn."""


def float8_encode(
    x: Float[np.ndarray, "*shape"], form: str, *, saturate: bool = True
) -> UInt8[np.ndarray, "*shape"]:
    """Round to the nearest 8-bit float; of two equally near, the even code.

    Args:
        x: Floats of 32 or 64 bits, each rounded once.
        form: ``"e4m3"`` or ``"e5m2"``.
        saturate: What is beyond the largest number becomes the largest.
            Otherwise it becomes what the form has for it, NaN or infinity.

    Returns:
        The codes. NaN stays NaN either way.

    Raises:
        ArgumentError: No such form, or no floats of these widths.

    Cost: O(size).
    Source: Micikevicius et al. 2022, arXiv 2209.05433, section 3.

    >>> float8_encode(np.array([1.0, -1.0, 17.0, 1e9]), "e4m3").tolist()
    [56, 184, 88, 126]
    """
    check_choice("form", form, FLOAT8)
    wide = x.dtype in (np.float32, np.float64)
    check(wide, "x.dtype", x.dtype, "float32 or float64")
    kind = FLOAT8[form]
    size = np.abs(np.where(np.isfinite(x), x, 0))
    # x = fraction * 2**exponent with a fraction from 1/2 to 1; octave 0 is
    # that of the smallest normal numbers, and of all below them.
    octave = np.frexp(np.maximum(size, kind.min_normal))[1] - 2 + kind.bias
    quantum = np.ldexp(kind.min_subnormal, octave)
    # Rounding up may reach the next octave; its first code comes next.
    codes = np.rint(size / quantum) + octave * 2.0**kind.mantissa_bits
    over = kind.largest_code if saturate else kind.overflow_code
    codes[np.isinf(x) | (codes > kind.largest_code)] = over
    codes[np.isnan(x)] = _NAN
    return codes.astype(np.uint8) | np.signbit(x) * np.uint8(_SIGN)


def _table(form: str) -> Float32[np.ndarray, "256"]:
    """Return the number of every code."""
    kind = FLOAT8[form]
    finite = [kind.value(code) for code in range(kind.largest_code + 1)]
    half = np.full(128, np.nan, np.float32)
    half[: len(finite)] = finite
    if kind.overflow_code != _NAN:
        half[kind.overflow_code] = np.inf
    return np.concatenate([half, -half])


_TABLES = {form: _table(form) for form in FLOAT8}


def float8_decode(
    codes: UInt8[np.ndarray, "*shape"], form: str
) -> Float32[np.ndarray, "*shape"]:
    """Return the numbers that codes stand for, exactly.

    Args:
        codes: Any of the 256.
        form: ``"e4m3"`` or ``"e5m2"``.

    Raises:
        ArgumentError: No such form, or the codes are no bytes.

    Cost: one look-up a number.

    >>> float8_decode(np.array([1, 126], np.uint8), "e4m3").tolist()
    [0.001953125, 448.0]
    """
    check_choice("form", form, FLOAT8)
    check(codes.dtype == np.uint8, "codes.dtype", codes.dtype, "uint8")
    return _TABLES[form][codes]
