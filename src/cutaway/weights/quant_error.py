"""How far a quantised weight can be from the weight it stands for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np

from cutaway.core.checks import check, check_choice
from cutaway.weights.block_types import BLOCK_TYPES
from cutaway.weights.quant_blocks import half_column
from cutaway.weights.quant_superblocks import unpack_scales

if TYPE_CHECKING:
    from jaxtyping import Float, Float32, UInt8


def _block_scale(raw: Any) -> Any:
    return half_column(raw, 0)


def _affine_group_scales(raw: Any) -> Any:
    return half_column(raw, 0) * unpack_scales(raw[:, 4:16])[0]


def _signed_group_scales(raw: Any) -> Any:
    return half_column(raw, 208) * raw[:, 192:208].view(np.int8)


_STEPS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        "Q4_0": _block_scale,
        "Q4_1": _block_scale,
        "Q5_0": _block_scale,
        "Q5_1": _block_scale,
        "Q8_0": _block_scale,
        "Q4_K": _affine_group_scales,
        "Q5_K": _affine_group_scales,
        "Q6_K": _signed_group_scales,
    }
)


def qgroup_steps(
    raw: UInt8[Any, "..."], type_name: str
) -> Float32[Any, " groups"]:
    """Return the distance between two levels of each group of weights.

    A group is what shares a scale: a block of 32, or 16 or 32 elements of
    a superblock. A weight within the group's range is stored with an error
    of at most half a step. If the errors are spread evenly over that, their
    root mean square is ``step / sqrt(12)``.

    Args:
        raw: The packed bytes of a tensor; not changed.
        type_name: A type with evenly spaced levels, such as ``Q4_K``.

    Returns:
        One number a group, at least 0, in the order of the elements.

    Raises:
        ArgumentError: The type has no even levels, or the bytes are no
            whole number of its blocks.

    Cost: O(blocks).

    >>> weights = np.linspace(-1, 2, 32, dtype=np.float32)
    >>> from cutaway.weights import quantize
    >>> qgroup_steps(quantize(weights, "Q4_1"), "Q4_1").round(3)
    array([0.2], dtype=float32)
    """
    check_choice("type_name", type_name, _STEPS)
    check(raw.dtype == np.uint8, "raw.dtype", raw.dtype, "uint8")
    size = BLOCK_TYPES[type_name].block_bytes
    expected = f"a multiple of {size} bytes"
    check(raw.size % size == 0, "raw", f"{raw.size} bytes", expected)
    blocks = np.ascontiguousarray(raw).reshape(-1, size)
    return np.abs(_STEPS[type_name](blocks)).reshape(-1)


def _half_error(value: Any) -> Any:
    """Return what rounding to float16 changes at most.

    Half of the last of 11 bits, and 2**-25 below the normal numbers.
    """
    return np.maximum(np.abs(value) * 2.0**-11, 2.0**-25)


def _symmetric_bound(x: Any, levels: int, clipped: float) -> Any:
    d = np.abs(x).max(axis=-1) / levels
    return clipped * d + levels * _half_error(d)


def _affine_bound(x: Any, top: int) -> Any:
    low = x.min(axis=-1)
    d = (x.max(axis=-1) - low) / top
    return d / 2 + top * _half_error(d) + _half_error(low)


def _mxfp4_bound(x: Any) -> Any:
    # amax / scale is in [4, 8). Half of the gap from 4 to 6 is one scale;
    # what lies beyond 6, the largest number, is off by up to two.
    return np.abs(x).max(axis=-1) / 4


_BOUNDS: Mapping[str, Callable[[Any], Any]] = MappingProxyType(
    {
        "Q4_0": lambda x: _symmetric_bound(x, 8, 1),
        "Q4_1": lambda x: _affine_bound(x, 15),
        "Q5_0": lambda x: _symmetric_bound(x, 16, 1),
        "Q5_1": lambda x: _affine_bound(x, 31),
        "Q8_0": lambda x: _symmetric_bound(x, 127, 0.5),
        "MXFP4": _mxfp4_bound,
    }
)


def error_bound(
    weights: Float[Any, "... row"], type_name: str
) -> Float[Any, "... blocks"]:
    """Return the largest error ``quantize`` can make in each block.

    It follows from the range of the block alone. With d the step before it
    is rounded to float16, and h(y) what that rounding changes y by at most:

    - Q8_0: d = amax / 127, error at most d/2 + 127 h(d);
    - Q4_0, Q5_0: d = amax / 8 or 16, error at most d + 8 h(d) or 16 h(d):
      a whole step, because the mirror image of the largest weight has no
      level and is clipped;
    - Q4_1, Q5_1: d = (max - min) / 15 or 31, error at most
      d/2 + 15 h(d) or 31 h(d) + h(min);
    - MXFP4: amax / 4, since the scale is a power of two, from amax / 8 to
      amax / 4, and what lies beyond 6 scales is clipped.

    The k-quants choose their scales by search and have no such bound before
    they are made; see ``qgroup_steps`` for one after.

    Args:
        weights: Floats, the last axis a whole number of blocks of 32.
        type_name: One of the six types above.

    Returns:
        One number a block, float64; exact arithmetic, so allow one part in
        10,000 for the float32 arithmetic of ``quantize``.

    Raises:
        ArgumentError: The type has no bound, or the rows do not fit it.

    Cost: O(elements).

    >>> weights = np.linspace(-1, 2, 32)
    >>> error_bound(weights, "Q4_1").round(4)
    array([0.102])
    """
    check_choice("type_name", type_name, _BOUNDS)
    array = np.asarray(weights, np.float64)
    size = BLOCK_TYPES[type_name].block_size
    check(
        array.ndim > 0 and array.shape[-1] % size == 0,
        "weights.shape",
        array.shape,
        f"a last axis that is a multiple of {size}",
    )
    blocks = array.reshape(*array.shape[:-1], -1, size)
    return np.asarray(_BOUNDS[type_name](blocks))
