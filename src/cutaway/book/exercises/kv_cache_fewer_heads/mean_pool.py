"""Exercise 1: several heads become their mean."""

from __future__ import annotations

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def mean_pool(
    weight: np.ndarray, num_heads: int, num_groups: int
) -> np.ndarray:
    """Return the matrix with each group of neighbouring heads averaged."""
    heads = weight.reshape(num_groups, num_heads // num_groups, -1)
    return heads.mean(axis=1).reshape(-1, weight.shape[1])


def _grade(judge: Judge) -> None:
    sizes = ((4, 2, 3, 5), (6, 3, 2, 7), (9, 3, 4, 3), (8, 2, 5, 6))
    sizes += ((3, 1, 4, 2), (2, 2, 3, 4), (1, 1, 1, 1))
    for number, (heads, groups, head_dim, hidden) in enumerate(sizes):
        dtype = np.float32 if number % 2 else np.float64
        shape = (heads * head_dim, hidden)
        weight = judge.rng.normal(0, 1, shape).astype(dtype)
        before = weight.copy()
        got = judge.call(weight, heads, groups)
        expected = mean_pool(weight, heads, groups)
        judge.same_array(got, expected, weight, heads, groups, sums=True)
        judge.require(
            np.array_equal(weight, before),
            "the matrix that was given has changed",
            weight,
            heads,
            groups,
            likely="work on a copy",
        )


def _first(weight: np.ndarray, heads: int, groups: int) -> np.ndarray:
    size = heads // groups
    by_head = weight.reshape(heads, -1, weight.shape[1])
    return by_head[::size].reshape(-1, weight.shape[1])


def _sum(weight: np.ndarray, heads: int, groups: int) -> np.ndarray:
    size = np.asarray(heads // groups, weight.dtype)
    return mean_pool(weight, heads, groups) * size


def _dealt(weight: np.ndarray, heads: int, groups: int) -> np.ndarray:
    dealt = weight.reshape(heads // groups, groups, -1).mean(axis=0)
    return dealt.reshape(-1, weight.shape[1])


def _rows(weight: np.ndarray, heads: int, groups: int) -> np.ndarray:
    size = heads // groups
    return weight.reshape(-1, size, weight.shape[1]).mean(axis=1)


def _swapped(weight: np.ndarray, heads: int, groups: int) -> np.ndarray:
    return mean_pool(weight, heads, heads // groups)


def _all(weight: np.ndarray, heads: int, groups: int) -> np.ndarray:
    return np.tile(mean_pool(weight, heads, 1), (groups, 1))


EXERCISE = Exercise(
    id="kv_cache/fewer_heads:1",
    title="Mean-pool the heads of a matrix",
    reference=mean_pool,
    grade=_grade,
    hints=(
        "The matrix is `[num_heads * head_dim, hidden]`: the rows of head 0, "
        "then those of head 1. Which axis do you want to average over?",
        "Reshape to `[num_groups, heads in a group, head_dim, hidden]` and "
        "take the mean over the second axis.",
        "`weight.reshape(num_groups, num_heads // num_groups, -1, hidden)"
        ".mean(axis=1)`, then back to two dimensions.",
    ),
    reread="From three heads to one, in code",
    mistakes=(
        Mistake(_first, "only the first head of each group was kept"),
        Mistake(_sum, "the heads were added; divide by how many they are"),
        Mistake(
            _dealt,
            "the heads were dealt out in turn; a group is neighbouring heads",
        ),
        Mistake(
            _rows,
            "neighbouring rows were averaged, inside one head; row d belongs "
            "to row d of the other heads",
        ),
        Mistake(
            _swapped,
            "num_groups is how many heads remain, not how many make a group",
        ),
        Mistake(_all, "all heads were averaged together, for every group"),
    ),
)
