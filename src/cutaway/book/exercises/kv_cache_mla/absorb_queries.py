"""Exercise 1: the matrix of the keys goes to the queries."""

from __future__ import annotations

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def absorb_queries(q: np.ndarray, w_k: np.ndarray) -> np.ndarray:
    """Return what each head asks the latents, [tokens, heads, rank]."""
    return np.einsum("thn,hnr->thr", q, w_k)


def _grade(judge: Judge) -> None:
    shapes = ((2, 3, 4, 4), (2, 3, 4, 5), (1, 1, 1, 1), (4, 2, 6, 6))
    shapes += ((1, 5, 2, 9), (2, 4, 9, 3), (3, 3, 3, 3), (0, 2, 3, 4))
    for number, (tokens, heads, nope, rank) in enumerate(shapes):
        dtype = np.float32 if number % 2 else np.float64
        q = judge.rng.normal(0, 1, (tokens, heads, nope)).astype(dtype)
        w_k = judge.rng.normal(0, 1, (heads, nope, rank)).astype(dtype)
        got = judge.call(q, w_k)
        judge.same_array(got, absorb_queries(q, w_k), q, w_k, sums=True)


def _transposed(q: np.ndarray, w_k: np.ndarray) -> np.ndarray:
    return np.einsum("thn,hrn->thr", q, w_k)  # where the matrix is square


def _first_matrix(q: np.ndarray, w_k: np.ndarray) -> np.ndarray:
    return q @ w_k[0]


def _summed_heads(q: np.ndarray, w_k: np.ndarray) -> np.ndarray:
    total = np.einsum("thn,hnr->tr", q, w_k)
    return np.repeat(total[:, None], q.shape[1], axis=1)


def _mean_matrix(q: np.ndarray, w_k: np.ndarray) -> np.ndarray:
    return (q @ w_k.mean(axis=0)).astype(q.dtype)


def _scaled(q: np.ndarray, w_k: np.ndarray) -> np.ndarray:
    scale = np.asarray(w_k.shape[2] ** -0.5, q.dtype)
    return absorb_queries(q, w_k) * scale


def _other_heads(q: np.ndarray, w_k: np.ndarray) -> np.ndarray:
    return np.einsum("thn,hnr->thr", q, w_k[::-1])


def _heads_first(q: np.ndarray, w_k: np.ndarray) -> np.ndarray:
    return np.einsum("thn,hnr->htr", q, w_k)


EXERCISE = Exercise(
    id="kv_cache/mla:1",
    title="The matrix of the keys goes to the queries",
    reference=absorb_queries,
    grade=_grade,
    hints=(
        "For one head and one token: `q @ w_k`, a row times `[nope, rank]`. "
        "No transpose is needed.",
        "Every head has a matrix of its own. A loop over the heads fills "
        "`out[:, head] = q[:, head] @ w_k[head]`.",
        "`np.einsum('thn,hnr->thr', q, w_k)` does it at once.",
    ),
    reread="Two heads, by hand",
    mistakes=(
        Mistake(
            _heads_first,
            "the heads came out as the first axis; [tokens, heads, rank] is "
            "asked for",
        ),
        Mistake(
            _transposed,
            "the matrices were transposed: q . (W c) = (W^T q) . c, and a "
            "row times W is W^T q",
        ),
        Mistake(
            _first_matrix,
            "all heads used the first head's matrix",
        ),
        Mistake(
            _mean_matrix,
            "the heads' matrices were averaged; each head has its own",
        ),
        Mistake(
            _summed_heads,
            "the heads were added up; each asks the latents by itself",
        ),
        Mistake(
            _other_heads,
            "the heads took each other's matrices, in reverse order",
        ),
        Mistake(
            _scaled,
            "a scale was applied; it belongs to the scores, and is not that "
            "of the rank",
        ),
    ),
)
