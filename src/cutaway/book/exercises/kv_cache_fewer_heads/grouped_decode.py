"""Exercise 2: one decode step in which query heads share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def grouped_decode(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    """Return what the query heads of one token read, [heads, head_dim]."""
    kv_heads, head_dim = k.shape[1:]
    groups = q.reshape(kv_heads, -1, head_dim)
    scores = np.einsum("ghd,tgd->ght", groups, k)
    scores = scores * np.asarray(head_dim**-0.5, q.dtype)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.einsum("ght,tgd->ghd", weights, v).reshape(q.shape)


def _grade(judge: Judge) -> None:
    sizes = ((6, 2, 5, 3), (4, 4, 3, 2), (9, 3, 7, 8), (8, 1, 4, 5))
    sizes += ((1, 1, 1, 1), (12, 4, 33, 16))
    for number, (heads, kv_heads, kv_len, head_dim) in enumerate(sizes):
        dtype = np.float32 if number % 2 else np.float64
        q = judge.rng.normal(0, 2, (heads, head_dim)).astype(dtype)
        k, v = (
            judge.rng.normal(0, 1, (kv_len, kv_heads, head_dim)).astype(dtype)
            for _ in range(2)
        )
        got = judge.call(q, k, v)
        judge.same_array(got, grouped_decode(q, k, v), q, k, v, sums=True)


def _reading(
    key: Callable[[int, int, int], int], value: Callable[[int, int, int], int]
) -> Callable[..., np.ndarray]:
    """Return an answer that reads other heads of keys or values."""

    def answer(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
        heads, kv_heads = q.shape[0], k.shape[1]
        keys = k[:, [key(h, heads, kv_heads) for h in range(heads)]]
        values = v[:, [value(h, heads, kv_heads) for h in range(heads)]]
        return grouped_decode(q, keys, values)

    return answer


def _right(head: int, heads: int, kv_heads: int) -> int:
    return head * kv_heads // heads


def _dealt(head: int, heads: int, kv_heads: int) -> int:
    return head % kv_heads


def _first(head: int, heads: int, kv_heads: int) -> int:
    return 0


def _unscaled(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    root = np.asarray(q.shape[-1] ** 0.5, q.dtype)
    return grouped_decode(q * root, k, v)


def _group_mean(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    groups = q.reshape(k.shape[1], -1, q.shape[1])
    mean = np.broadcast_to(groups.mean(axis=1, keepdims=True), groups.shape)
    return grouped_decode(mean.reshape(q.shape), k, v)


def _over_heads(q: np.ndarray, k: np.ndarray, v: np.ndarray) -> np.ndarray:
    groups = q.reshape(k.shape[1], -1, q.shape[1])
    scores = np.einsum("ghd,tgd->ght", groups, k)
    scores = scores * np.asarray(q.shape[1] ** -0.5, q.dtype)
    weights = np.exp(scores - scores.max())
    weights = weights / weights.sum(axis=(0, 1), keepdims=True)
    return np.einsum("ght,tgd->ghd", weights, v).reshape(q.shape)


EXERCISE = Exercise(
    id="kv_cache/fewer_heads:2",
    title="One decode step with shared heads",
    reference=grouped_decode,
    grade=_grade,
    hints=(
        "Query head `h` reads key/value head `h // group_size`, and so do "
        "its neighbours: `q.reshape(kv_heads, group_size, head_dim)` puts "
        "those that share side by side.",
        "`np.einsum('ghd,tgd->ght', groups, k)` gives all scores without a "
        "copy of the keys. Scale them, and take the softmax over `t`.",
        "The output is `np.einsum('ght,tgd->ghd', weights, v)`, reshaped "
        "to `[heads, head_dim]`.",
    ),
    reread="From three heads to one, in code",
    mistakes=(
        Mistake(
            _reading(_dealt, _dealt),
            "the key/value heads were dealt out in turn; neighbouring query "
            "heads share one",
        ),
        Mistake(
            _reading(_right, _first),
            "all query heads read the values of the first head",
        ),
        Mistake(
            _reading(_right, _dealt),
            "keys and values come from different heads",
        ),
        Mistake(
            _reading(_first, _first), "only the first key/value head was read"
        ),
        Mistake(_unscaled, "the scale is missing"),
        Mistake(
            _group_mean,
            "the queries of a group were averaged; only keys and values are "
            "shared",
        ),
        Mistake(
            _over_heads,
            "softmax ran over the heads; it runs over the keys of each head",
        ),
    ),
)
