"""Exercise 3: which key head a query head reads."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge

KvHead = Callable[[int, int, int], int]


def grouped_scores(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """Return the scaled scores of every query head, [heads, q_len, kv_len]."""
    group_size = q.shape[1] // k.shape[1]
    keys = np.repeat(k, group_size, axis=1)
    scores = np.einsum("ihd,jhd->hij", q, keys)
    return scores * np.asarray(q.shape[-1] ** -0.5, q.dtype)


def _grade(judge: Judge) -> None:
    sizes = ((2, 3, 6, 2, 5), (1, 1, 1, 1, 1), (3, 3, 6, 6, 4))
    sizes += ((2, 5, 5, 1, 3), (1, 4, 9, 3, 64), (4, 2, 8, 2, 7))
    for number, (q_len, kv_len, heads, kv_heads, head_dim) in enumerate(sizes):
        dtype = np.float32 if number % 2 else np.float64
        q = judge.rng.normal(0, 1, (q_len, heads, head_dim)).astype(dtype)
        k = judge.rng.normal(0, 1, (kv_len, kv_heads, head_dim)).astype(dtype)
        got = judge.call(q, k)
        if isinstance(got, np.ndarray) and got.shape == (q_len, heads, kv_len):
            judge.require(
                q_len == heads,
                f"got shape {got.shape}, expected {(heads, q_len, kv_len)}",
                q,
                k,
                likely="the heads must be the first axis of the result",
            )
        judge.same_array(got, grouped_scores(q, k), q, k, sums=True)


def _reading(kv_head: KvHead) -> Callable[..., np.ndarray]:
    """Return an answer in which head h reads ``kv_head(h, heads, kv)``."""

    def answer(q: np.ndarray, k: np.ndarray) -> np.ndarray:
        heads, kv_heads = q.shape[1], k.shape[1]
        chosen = [kv_head(h, heads, kv_heads) for h in range(heads)]
        scores = np.einsum("ihd,jhd->hij", q, k[:, chosen])
        return scores * np.asarray(q.shape[-1] ** -0.5, q.dtype)

    return answer


def _unscaled(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    keys = np.repeat(k, q.shape[1] // k.shape[1], axis=1)
    return np.einsum("ihd,jhd->hij", q, keys)


def _swapped(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    return grouped_scores(q, k).swapaxes(1, 2)


def _mean_key(q: np.ndarray, k: np.ndarray) -> np.ndarray:
    keys = k.mean(axis=1, keepdims=True)
    return grouped_scores(q, keys)


EXERCISE = Exercise(
    id="flow/attention:3",
    title="Which key head a query head reads",
    reference=grouped_scores,
    grade=_grade,
    hints=(
        "`group_size = q.shape[1] // k.shape[1]` neighbouring query heads "
        "share a key head.",
        "Query head `h` reads `k[:, h // group_size]`. A loop over the "
        "heads will do.",
        "`np.repeat(k, group_size, axis=1)` gives each query head its keys; "
        "`np.einsum('ihd,jhd->hij', q, keys)` all the products. Scale them.",
    ),
    reread="Nine heads of queries, three of keys",
    mistakes=(
        Mistake(
            _reading(lambda h, heads, kv: h % kv),
            "the key heads were dealt out in turn; neighbouring query heads "
            "share one: head h reads h // group_size",
        ),
        Mistake(
            _reading(lambda h, heads, kv: min(h, kv - 1)),
            "every query head but the first ones read the last key head",
        ),
        Mistake(
            _reading(lambda h, heads, kv: 0),
            "all query heads read the first key head",
        ),
        Mistake(
            _reading(lambda h, heads, kv: kv - 1 - h * kv // heads),
            "the groups are in reverse order",
        ),
        Mistake(
            _reading(lambda h, heads, kv: min(h // kv, kv - 1)),
            "the head was divided by the number of key heads; divide by "
            "the size of a group",
        ),
        Mistake(_mean_key, "the key heads were averaged into one"),
        Mistake(_unscaled, "the scale is missing"),
        Mistake(
            _swapped,
            "queries and keys are swapped: the result is [heads, q_len, "
            "kv_len]",
        ),
    ),
)
