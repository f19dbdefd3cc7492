"""From many key/value heads to few: merging the rows of a weight matrix."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from cutaway.core.checks import check, check_choice, check_int

if TYPE_CHECKING:
    from jaxtyping import Float

HeadMerge = Literal["mean", "first", "random"]


def group_heads(num_heads: int, num_groups: int) -> tuple[range, ...]:
    """Return which heads come together, neighbours in equal groups.

    Args:
        num_heads: Heads before.
        num_groups: Heads after; divides ``num_heads``.

    Raises:
        ArgumentError: A number is not positive, or they do not divide.

    >>> group_heads(6, 2)
    (range(0, 3), range(3, 6))
    """
    check_int("num_heads", num_heads, low=1)
    check_int("num_groups", num_groups, low=1)
    divides = num_heads % num_groups == 0
    expected = f"a divisor of the {num_heads} heads"
    check(divides, "num_groups", num_groups, expected)
    size = num_heads // num_groups
    return tuple(
        range(start, start + size) for start in range(0, num_heads, size)
    )


def merge_heads(
    weight: Float[np.ndarray, "heads*head_dim hidden"],
    num_heads: int,
    num_groups: int,
    *,
    how: HeadMerge = "mean",
    rng: np.random.Generator | None = None,
) -> Float[np.ndarray, "groups*head_dim hidden"]:
    """Turn the matrix that makes keys or values into one with fewer heads.

    The heads of a group become one: their mean, the first of them, or
    fresh random rows of the same size. Row d of a head is merged with row
    d of the others, so that RoPE still turns the pairs it was made for.

    Args:
        weight: A head's ``head_dim`` rows after another's.
        num_heads: Heads that it holds.
        num_groups: Heads that the result shall hold.
        how: ``"mean"``, ``"first"`` or ``"random"``.
        rng: Draws the rows of ``"random"``; needed for it alone.

    Returns:
        A new array of the same dtype.

    Raises:
        ArgumentError: The rows are no multiple of the heads, the heads
            none of the groups, or there is no such way.

    Cost: one pass over the matrix.
    Source: Ainslie et al. 2023, arXiv 2305.13245, section 2.1 (mean
    pooling is the best of the three after uptraining).

    >>> weight = np.array([[1.0], [2.0], [3.0], [6.0]])
    >>> merge_heads(weight, num_heads=2, num_groups=1)
    array([[2.],
           [4.]])
    """
    groups = group_heads(num_heads, num_groups)
    check_choice("how", how, get_args(HeadMerge))
    array = isinstance(weight, np.ndarray) and weight.ndim == 2
    kind = "[heads*head_dim, hidden]"
    check(array, "weight", type(weight).__name__, f"an array {kind}")
    rows = weight.shape[0]
    divides = rows > 0 and rows % num_heads == 0
    expected = f"a positive multiple of the {num_heads} heads"
    check(divides, "weight.shape[0]", rows, expected)
    heads = weight.reshape(num_heads, -1, weight.shape[1])
    if how == "first":
        merged = heads[[group[0] for group in groups]]
    elif how == "mean":
        merged = heads.reshape(num_groups, len(groups[0]), *heads.shape[1:])
        merged = merged.mean(axis=1)
    else:
        has_rng = isinstance(rng, np.random.Generator)
        check(has_rng, "rng", repr(rng), "a generator, for random rows")
        assert rng is not None
        shape = (num_groups, *heads.shape[1:])
        merged = weight.std() * rng.standard_normal(shape)
    return merged.reshape(-1, weight.shape[1]).astype(weight.dtype)


def repeat_heads(
    weight: Float[np.ndarray, "groups*head_dim hidden"],
    num_groups: int,
    num_heads: int,
) -> Float[np.ndarray, "heads*head_dim hidden"]:
    """Give each head of a group its own copy of the shared rows.

    The inverse in meaning: a model with shared heads is one without, some
    of whose heads are equal. ``merge_heads`` leads back exactly.

    Args:
        weight: Rows of the shared heads.
        num_groups: Heads that it holds.
        num_heads: Heads that the result shall hold.

    Raises:
        ArgumentError: As for ``merge_heads``.

    >>> repeat_heads(np.array([[1.0], [2.0]]), 2, 4).ravel()
    array([1., 1., 2., 2.])
    """
    size = len(group_heads(num_heads, num_groups)[0])
    rows = weight.shape[0]
    divides = rows > 0 and rows % num_groups == 0
    expected = f"a positive multiple of the {num_groups} heads"
    check(divides, "weight.shape[0]", rows, expected)
    heads = weight.reshape(num_groups, -1, weight.shape[1])
    return heads.repeat(size, axis=0).reshape(-1, weight.shape[1])
