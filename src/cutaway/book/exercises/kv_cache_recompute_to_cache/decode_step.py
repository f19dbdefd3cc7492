"""Exercise 1: one layer's attention of a decode step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge

Array = np.ndarray
Step = Callable[[Array, Array, Array, Array, Array], Array]


def decode_step(
    q: Array, k: Array, v: Array, keys: Array, values: Array
) -> Array:
    """Return the attention output of the newest token, [heads, dim]."""
    keys = np.concatenate([keys, k[None]])
    values = np.concatenate([values, v[None]])
    group_size = len(q) // len(k)
    out = []
    for head, query in enumerate(q):
        group = head // group_size
        scores = keys[:, group] @ query / len(query) ** 0.5
        weights = np.exp(scores - scores.max())
        out.append(weights / weights.sum() @ values[:, group])
    return np.stack(out)


def _grade(judge: Judge) -> None:
    fixed = ((5, 4, 2, 6), (0, 1, 1, 2), (1, 6, 3, 4), (7, 3, 3, 5))
    fixed += ((0, 6, 2, 8), (12, 9, 3, 59), (3, 8, 1, 16))
    for number, sizes in enumerate(fixed):
        _one_step(judge, sizes, np.float32 if number % 2 else np.float64)
    for _ in range(8):
        rng = judge.rng
        groups, size = (int(n) for n in rng.integers(1, 5, 2))
        held, width = int(rng.integers(0, 20)), int(rng.integers(1, 40))
        _one_step(judge, (held, groups * size, groups, width), np.float64)


def _one_step(
    judge: Judge, sizes: tuple[int, int, int, int], dtype: type
) -> None:
    held, heads, groups, width = sizes

    def draw(*shape: int) -> Array:
        return judge.rng.normal(0, 1.5, shape).astype(dtype)

    q, k, v = draw(heads, width), draw(groups, width), draw(groups, width)
    keys, values = draw(held, groups, width), draw(held, groups, width)
    case = (q, k, v, keys, values)
    judge.same_array(judge.call(*case), decode_step(*case), *case, sums=True)


def _variant(
    *,
    own: bool = True,
    old: bool = True,
    scale: Callable[[int, int], float] = lambda width, held: width**-0.5,
    group_of: Callable[[int, int, int], int] = lambda h, size, n: h // size,
    values_too: bool = True,
) -> Step:
    """Return the step with one slip in it."""

    def step(q: Array, k: Array, v: Array, keys: Array, values: Array) -> Array:
        all_keys = [keys] * old + [k[None]] * own
        all_values = [values] * old + [v[None]] * own
        keys, values = np.concatenate(all_keys), np.concatenate(all_values)
        values = values if values_too else keys
        out = []
        for head, query in enumerate(q):
            group = group_of(head, len(q) // len(k), len(k))
            scores = keys[:, group] @ query * scale(len(query), len(keys))
            weights = np.exp(scores - scores.max(initial=-np.inf))
            out.append(weights @ values[:, group] / weights.sum())
        return np.stack(out)

    return step


def _shifted(q: Array, k: Array, v: Array, keys: Array, values: Array) -> Array:
    """Store the value in front of the others, the key behind them."""
    turned = np.concatenate([v[None], values])
    return decode_step(q, k, turned[-1], keys, turned[:-1])


EXERCISE = Exercise(
    id="kv_cache/recompute_to_cache:1",
    title="Attention of a decode step",
    reference=decode_step,
    grade=_grade,
    hints=(
        "The newest token sees itself. Which keys does its query meet, if "
        "`keys` holds those of the tokens before it?",
        "`np.concatenate([keys, k[None]])`, and the same for the values. No "
        "mask is needed: there is one query, and it is the last.",
        "Query head `h` uses key/value head `h // (len(q) // len(k))`. Divide "
        "the scores by `head_dim ** 0.5` and take the softmax over tokens.",
    ),
    reread="One step by hand",
    mistakes=(
        Mistake(
            _variant(own=False),
            "the token's own key and value are missing; it sees itself",
        ),
        Mistake(
            _variant(old=False),
            "only the newest token was seen; the cache holds the others",
        ),
        Mistake(
            _variant(group_of=lambda h, size, n: h % n),
            "neighbouring query heads share a key/value head: h // group_size",
        ),
        Mistake(
            _variant(group_of=lambda h, size, n: 0),
            "all query heads used the first key/value head",
        ),
        Mistake(
            _variant(scale=lambda width, held: 1.0),
            "the scores were not divided by the root of head_dim",
        ),
        Mistake(
            _variant(scale=lambda width, held: held**-0.5),
            "the scale is the root of head_dim, not of the number of keys",
        ),
        Mistake(
            _variant(values_too=False),
            "the weights were applied to the keys; they belong to the values",
        ),
        Mistake(
            _shifted,
            "keys and values were stored in different orders: each key's "
            "weight met another token's value",
        ),
    ),
)
