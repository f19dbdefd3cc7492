"""What a quantised cache stores for a row of numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from cutaway.core.checks import check, check_choice, check_int
from cutaway.core.float8 import FLOAT8, float8_decode, float8_encode
from cutaway.kvcache.bit_packing import (
    WIDTHS,
    pack_bits,
    packed_bytes,
    unpack_bits,
)

if TYPE_CHECKING:
    from jaxtyping import Float, Float16, Float64

    Field = tuple[type[np.generic], int]

# What the arithmetic of float32 may add to an error, of the largest number.
_ARITHMETIC = 2.0**-20


class Codec(Protocol):
    """A way to write rows of numbers, and to read them back.

    What a row is, the cache decides: the numbers of one head of one token,
    or one channel of several tokens.
    """

    def fields(self, width: int) -> tuple[Field, ...]:
        """Return dtype and length of each array a row of numbers becomes."""
        ...

    def encode(
        self, x: Float[np.ndarray, "*lead width"]
    ) -> tuple[np.ndarray, ...]:
        """Return one array ``[*lead, length]`` for each field."""
        ...

    def decode(
        self, parts: tuple[np.ndarray, ...], width: int
    ) -> Float[np.ndarray, "*lead width"]:
        """Return the numbers, float32."""
        ...

    def error_bound(
        self, x: Float[np.ndarray, "*lead width"]
    ) -> Float64[np.ndarray, "*lead width"]:
        """Return how far each number may come back from where it was."""
        ...


def bytes_per_row(codec: Codec, width: int) -> int:
    """Return the bytes of a row of ``width`` numbers, scales included.

    >>> bytes_per_row(IntegerCodec(bits=4), 64)
    34
    """
    return sum(
        np.dtype(dtype).itemsize * length
        for dtype, length in codec.fields(width)
    )


@dataclass(frozen=True, kw_only=True)
class IntegerCodec:
    """Whole numbers of a few bits; a group of them shares its scale.

    Symmetric: the step is amax / (2**(bits-1) - 1), and 0 stays 0. Affine:
    the step is (max - min) / (2**bits - 1), counted from the minimum.
    Steps and minima are float16 numbers, rounded outwards: so all levels
    together reach over the whole group, and nothing is ever clipped.

    Error: at most half of the stored step, which is amax / 254 for 8 bits,
    amax / 14 for 4, range / 30 for 4 affine ones and range / 6 for 2,
    up to the rounding of the step.

    Attributes:
        bits: 2, 4 or 8 of each number.
        group_size: Numbers that share a scale, the last group of a row
            perhaps fewer; None is the row.
        affine: A minimum is stored beside the step.

    Raises:
        ArgumentError: Other bits, or no such size.

    Source: KIVI, arXiv 2402.02750, section 3 (affine).

    >>> codec = IntegerCodec(bits=2, affine=True)
    >>> codes, step, low = codec.encode(np.array([[1.0, 2.0, 3.2, 4.0]]))
    >>> codes.tolist(), step.tolist(), low.tolist()
    ([[228]], [[1.0]], [[1.0]])
    >>> codec.decode((codes, step, low), 4).tolist()
    [[1.0, 2.0, 3.0, 4.0]]
    """

    bits: int
    group_size: int | None = None
    affine: bool = False

    def __post_init__(self) -> None:
        check(self.bits in WIDTHS, "bits", self.bits, f"one of {WIDTHS}")
        if self.group_size is not None:
            check_int("group_size", self.group_size, low=1)

    @property
    def steps(self) -> int:
        """Steps from the lowest level to the highest."""
        return 2**self.bits - (1 if self.affine else 2)

    def fields(self, width: int) -> tuple[Field, ...]:
        """Codes, then steps, then minima if there are any."""
        size, groups = self._sizes(width)
        scales = ((np.float16, groups),) * (2 if self.affine else 1)
        return ((np.uint8, packed_bytes(groups * size, self.bits)), *scales)

    def encode(
        self, x: Float[np.ndarray, "*lead width"]
    ) -> tuple[np.ndarray, ...]:
        """Return codes and scales.

        Raises:
            ArgumentError: A number is not finite, or its scale is none of
                float16.
        """
        groups = self._grouped(x)
        step, low = self._scales(groups)
        for scale in (step, low):
            if not np.isfinite(scale).all():
                largest = np.abs(x).max()
                expected = "finite numbers, with scales that float16 holds"
                check(False, "x", f"numbers up to {largest:g}", expected)
        unit = np.where(step > 0, step, 1).astype(groups.dtype)[..., None]
        base = low.astype(groups.dtype)[..., None]
        if self.affine:
            codes = np.rint((groups - base) / unit)
        else:
            codes = np.rint(groups / unit) + self.steps // 2
        codes = np.clip(codes, 0, self.steps).astype(np.uint8)
        *lead, count, size = codes.shape
        packed = pack_bits(codes.reshape(*lead, count * size), self.bits)
        return (packed, step, low) if self.affine else (packed, step)

    def decode(
        self, parts: tuple[np.ndarray, ...], width: int
    ) -> Float[np.ndarray, "*lead width"]:
        """Return level times step, plus the minimum."""
        packed, step, *low = parts
        size, groups = self._sizes(width)
        codes = unpack_bits(packed, self.bits, groups * size)
        x = codes.reshape(*codes.shape[:-1], groups, size).astype(np.float32)
        if not self.affine:
            x -= self.steps // 2
        x *= step.astype(np.float32)[..., None]
        if self.affine:
            x += low[0].astype(np.float32)[..., None]
        return x.reshape(*codes.shape)[..., :width]

    def error_bound(
        self, x: Float[np.ndarray, "*lead width"]
    ) -> Float64[np.ndarray, "*lead width"]:
        """Half of the stored step, and a millionth for the arithmetic."""
        groups = self._grouped(x)
        step, _ = self._scales(groups)
        largest = np.abs(groups).max(axis=-1)
        bound = step.astype(np.float64) / 2 + _ARITHMETIC * largest
        wide = np.repeat(bound, groups.shape[-1], axis=-1)
        return wide[..., : x.shape[-1]]

    def _sizes(self, width: int) -> tuple[int, int]:
        """Return the numbers of a group, and the groups of a row."""
        size = max(1, min(width, self.group_size or width))
        return size, -(-width // size)

    def _grouped(
        self, x: Float[np.ndarray, "*lead width"]
    ) -> Float[np.ndarray, "*lead groups size"]:
        """Cut rows into groups; the last number fills up the last group."""
        *lead, width = x.shape
        size, groups = self._sizes(width)
        if missing := groups * size - width:
            ends = [(0, 0)] * len(lead) + [(0, missing)]
            x = np.pad(x, ends, mode="edge")
        return x.reshape(*lead, groups, size)

    def _scales(
        self, groups: Float[np.ndarray, "*lead groups size"]
    ) -> tuple[
        Float16[np.ndarray, "*lead groups"], Float16[np.ndarray, "*lead groups"]
    ]:
        """Return step and minimum of each group, rounded outwards."""
        high = groups.max(axis=-1).astype(np.float64)
        low = groups.min(axis=-1).astype(np.float64)
        if not self.affine:
            step = _outwards(np.maximum(high, -low) * 2 / self.steps)
            return step, np.zeros_like(step)
        base = -_outwards(-low)
        return _outwards((high - base) / self.steps), base


def _outwards(
    x: Float64[np.ndarray, "*shape"],
) -> Float16[np.ndarray, "*shape"]:
    """Return the least float16 that is not below a number."""
    with np.errstate(over="ignore"):
        near = x.astype(np.float16)
        up = np.nextafter(near, np.float16(np.inf))
    return np.where(near < x, up, near)


@dataclass(frozen=True)
class Float8Codec:
    """One 8-bit float for each number, and no scale.

    Error: half of the distance between two neighbours. That is at most
    1/16 of a number for e4m3 and 1/8 for e5m2, or half of the smallest
    subnormal number if that is more. What is beyond the largest number, 448
    or 57,344, becomes the largest.

    Attributes:
        form: ``"e4m3"`` or ``"e5m2"``.

    Raises:
        ArgumentError: No such form.

    Source: Micikevicius et al. 2022, arXiv 2209.05433, section 3.
    Differs: engines multiply by one scale for a whole tensor first, which
    is 1 if nobody has measured another.

    >>> codec = Float8Codec("e4m3")
    >>> codec.decode(codec.encode(np.array([0.3, 17.0, 500.0])), 3).tolist()
    [0.3125, 16.0, 448.0]
    """

    form: str

    def __post_init__(self) -> None:
        check_choice("form", self.form, FLOAT8)

    def fields(self, width: int) -> tuple[Field, ...]:
        """One byte a number."""
        return ((np.uint8, width),)

    def encode(
        self, x: Float[np.ndarray, "*lead width"]
    ) -> tuple[np.ndarray, ...]:
        """Return the codes."""
        return (float8_encode(x, self.form),)

    def decode(
        self, parts: tuple[np.ndarray, ...], width: int
    ) -> Float[np.ndarray, "*lead width"]:
        """Look the codes up."""
        return float8_decode(parts[0], self.form)

    def error_bound(
        self, x: Float[np.ndarray, "*lead width"]
    ) -> Float64[np.ndarray, "*lead width"]:
        """Half a distance, and all that is beyond the largest number."""
        kind, size = FLOAT8[self.form], np.abs(x.astype(np.float64))
        within = np.clip(size, kind.min_normal, kind.largest)
        octave = 2.0 ** (np.frexp(within)[1] - 1.0)
        return np.maximum(octave * kind.eps / 2, size - kind.largest)
