"""Exercise 2: one decode step on the cached rows."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge

Arrays = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def decode_latent(
    q: np.ndarray, rows: np.ndarray, w_k: np.ndarray, w_v: np.ndarray
) -> np.ndarray:
    """Return the output of one token's heads, [heads, value]."""
    rank, nope = w_k.shape[2], w_k.shape[1]
    asked = np.einsum("hn,hnr->hr", q[:, :nope], w_k)
    asked = np.concatenate([asked, q[:, nope:]], axis=1)
    weights = _softmax(asked @ rows.T * _scale(q.shape[1], q))
    return np.einsum("hj,jr,hvr->hv", weights, rows[:, :rank], w_v)


def _scale(width: int, q: np.ndarray) -> np.ndarray:
    return np.asarray(width**-0.5, q.dtype)


def _softmax(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return weights / weights.sum(axis=-1, keepdims=True)


def _grade(judge: Judge) -> None:
    # heads, kv_len, nope, rope, value, rank
    sizes = ((3, 7, 4, 2, 5, 6), (1, 1, 1, 2, 1, 1), (2, 9, 8, 4, 3, 3))
    sizes += ((4, 5, 3, 6, 3, 3), (2, 4, 4, 4, 4, 12), (5, 33, 2, 2, 7, 4))
    for number, size in enumerate(sizes):
        dtype = np.float32 if number % 2 else np.float64
        _one(judge, _draw(judge.rng, *size, dtype))
    # large scores, of whole numbers: exp overflows, no sum is rounded
    q, rows, w_k, w_v = _draw(judge.rng, 2, 5, 3, 2, 2, 3, np.float64)
    _one(judge, (60 * np.rint(q), 9 * np.rint(rows), np.rint(w_k), w_v))


def _draw(
    rng: np.random.Generator,
    heads: int,
    kv_len: int,
    nope: int,
    rope: int,
    value: int,
    rank: int,
    dtype: type,
) -> Arrays:
    shapes = (
        (heads, nope + rope),
        (kv_len, rank + rope),
        (heads, nope, rank),
        (heads, value, rank),
    )
    q, rows, w_k, w_v = (
        rng.normal(0, 1, shape).astype(dtype) for shape in shapes
    )
    return q, rows, w_k, w_v


def _one(judge: Judge, case: Arrays) -> None:
    got = judge.call(*case)
    judge.same_array(got, decode_latent(*case), *case, sums=True)


def _scores(
    case: Arrays, *, content: bool = True, turned: bool = True
) -> np.ndarray:
    """Return the unscaled scores, or a part of them."""
    q, rows, w_k, _ = case
    nope, rank = w_k.shape[1:]
    asked = np.einsum("hn,hnr->hr", q[:, :nope], w_k)
    return (
        content * (asked @ rows[:, :rank].T)
        + turned * (q[:, nope:] @ rows[:, rank:].T)
    ).astype(q.dtype)


def _outputs(case: Arrays, weights: np.ndarray) -> np.ndarray:
    _, rows, w_k, w_v = case
    latents = rows[:, : w_k.shape[2]]
    return np.einsum("hj,jr,hvr->hv", weights, latents, w_v)


def _scaled_by(width: Callable[[Arrays], int]) -> Callable[..., np.ndarray]:
    def answer(
        q: np.ndarray, rows: np.ndarray, w_k: np.ndarray, w_v: np.ndarray
    ) -> np.ndarray:
        case = (q, rows, w_k, w_v)
        scores = _scores(case) * _scale(width(case), q)
        return _outputs(case, _softmax(scores))

    return answer


def _comparing(*, content: bool, turned: bool) -> Callable[..., np.ndarray]:
    def answer(
        q: np.ndarray, rows: np.ndarray, w_k: np.ndarray, w_v: np.ndarray
    ) -> np.ndarray:
        case = (q, rows, w_k, w_v)
        scores = _scores(case, content=content, turned=turned)
        return _outputs(case, _softmax(scores * _scale(q.shape[1], q)))

    return answer


def _latents_out(
    q: np.ndarray, rows: np.ndarray, w_k: np.ndarray, w_v: np.ndarray
) -> np.ndarray:
    scores = _scores((q, rows, w_k, w_v)) * _scale(q.shape[1], q)
    return _softmax(scores) @ rows[:, : w_k.shape[2]]


def _without_max(
    q: np.ndarray, rows: np.ndarray, w_k: np.ndarray, w_v: np.ndarray
) -> np.ndarray:
    case = (q, rows, w_k, w_v)
    weights = np.exp(_scores(case) * _scale(q.shape[1], q))
    return _outputs(case, weights / weights.sum(axis=-1, keepdims=True))


def _keys_matrix(
    q: np.ndarray, rows: np.ndarray, w_k: np.ndarray, w_v: np.ndarray
) -> np.ndarray:
    return decode_latent(q, rows, w_k, w_k)


EXERCISE = Exercise(
    id="kv_cache/mla:2",
    title="One decode step on the cached rows",
    reference=decode_latent,
    grade=_grade,
    hints=(
        "Widths tell the parts: `nope` and `rank` are `w_k.shape[1:]`; what "
        "is left of `q` and of `rows` is rotary.",
        "Absorb the first part of `q` (exercise 1), put the rotary part "
        "behind it, and the scores are one product with `rows.T`.",
        "Scale by one over the root of `q.shape[1]`, take the softmax, weigh "
        "`rows[:, :rank]`, and multiply each head's sum with its `w_v`.",
    ),
    reread="The absorbed form",
    mistakes=(
        Mistake(
            _scaled_by(lambda case: case[1].shape[1]),
            "the scale was taken from the width of a row; it is that of a "
            "query head, nope + rope",
        ),
        Mistake(
            _scaled_by(lambda case: case[2].shape[1]),
            "the scale left out the rotary part of the head",
        ),
        Mistake(
            _scaled_by(lambda case: case[2].shape[2]),
            "the scale was taken from the rank; it is that of a query head",
        ),
        Mistake(
            _scaled_by(lambda case: 1),
            "the scale is missing",
        ),
        Mistake(
            _comparing(content=True, turned=False),
            "the rotary part of queries and rows was left out",
        ),
        Mistake(
            _comparing(content=False, turned=True),
            "only the rotary parts were compared",
        ),
        Mistake(
            _latents_out,
            "the weighted latents came out; each head's w_v makes its "
            "output of them",
        ),
        Mistake(
            _keys_matrix,
            "the values were made with the matrices of the keys",
        ),
        Mistake(
            _without_max,
            "exp overflowed, or a sum was 0: subtract each row's maximum first",
        ),
    ),
)
