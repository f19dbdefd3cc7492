"""Exercise 2: SwiGLU."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def swiglu(
    h: np.ndarray, w_gate: np.ndarray, w_up: np.ndarray, w_down: np.ndarray
) -> np.ndarray:
    """Return W_down (SiLU(W_gate h) * W_up h)."""
    gate = h @ w_gate.T
    with np.errstate(over="ignore"):  # exp(-gate) = inf has the right limit
        silu = gate / (1 + np.exp(-gate))
    return (silu * (h @ w_up.T)) @ w_down.T


def _grade(judge: Judge) -> None:
    sizes = ((2, 4, 4), (1, 1, 1), (3, 4, 6), (1, 7, 3), (5, 3, 59))
    for number, (tokens, hidden, ffn) in enumerate(sizes):
        dtype = np.float32 if number % 2 else np.float64
        shapes = ((tokens, hidden), (ffn, hidden), (ffn, hidden), (hidden, ffn))
        arrays = [judge.rng.normal(0, 1, s).astype(dtype) for s in shapes]
        _one(judge, arrays)
    far = [judge.rng.uniform(1, 2, s) for s in ((2, 3), (4, 3), (4, 3), (3, 4))]
    far[1] *= [[1], [-1], [400], [-400]]
    _one(judge, far)
    none = [np.zeros(s, np.float32) for s in ((0, 3), (4, 3), (4, 3), (3, 4))]
    _one(judge, none)


def _one(judge: Judge, arrays: list[np.ndarray]) -> None:
    # The products cancel: allow for the rounding of another order.
    got, expected = judge.call(*arrays), swiglu(*arrays)
    judge.same_array(got, expected, *arrays, sums=True)


def _sigmoid(gate: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-gate))


_Inner = Callable[[np.ndarray, np.ndarray], np.ndarray]


def _with_inner(inner: _Inner) -> Callable[..., np.ndarray]:
    """Return an answer that combines gate and content by ``inner``."""

    def answer(h, w_gate, w_up, w_down):
        return inner(h @ w_gate.T, h @ w_up.T) @ w_down.T

    return answer


def _overflowing(gate: np.ndarray, up: np.ndarray) -> np.ndarray:
    grown = np.exp(gate)
    return gate * grown / (1 + grown) * up


EXERCISE = Exercise(
    id="flow/vector_math:2",
    title="SwiGLU",
    reference=swiglu,
    grade=_grade,
    hints=(
        "`h @ w_gate.T` is the gate and `h @ w_up.T` the content; both are "
        "`[tokens, d_ff]`.",
        "SiLU applies to the gate alone: `gate / (1 + np.exp(-gate))`. For a "
        "very negative gate the exponential is infinite and the result 0.",
        "Multiply element by element, then `@ w_down.T`.",
    ),
    reread="SwiGLU multiplies two readings of the same vector",
    mistakes=(
        Mistake(
            lambda h, gate, up, down: swiglu(h, up, gate, down),
            "SiLU was applied to the content; it belongs to the gate",
        ),
        Mistake(
            _with_inner(lambda gate, up: _sigmoid(gate) * up),
            "a bare sigmoid was taken; SiLU is the gate times its sigmoid",
        ),
        Mistake(
            _with_inner(lambda gate, up: np.maximum(gate, 0) * up),
            "ReLU was taken in place of SiLU",
        ),
        Mistake(
            _with_inner(lambda gate, up: gate * up * _sigmoid(gate * up)),
            "SiLU was applied to the product; it belongs to the gate alone",
        ),
        Mistake(
            _with_inner(lambda gate, up: gate * _sigmoid(gate) + up),
            "gate and content were added; they multiply",
        ),
        Mistake(
            _with_inner(lambda gate, up: gate * _sigmoid(gate)),
            "the content was left out",
        ),
        Mistake(
            lambda h, gate, up, down: swiglu(h, gate.T, up.T, down.T),
            "the matrices were not transposed: they are stored [out, in]",
        ),
        Mistake(
            lambda h, *matrices: h + swiglu(h, *matrices),
            "h was added; the network returns its contribution alone",
        ),
        Mistake(
            _with_inner(_overflowing),
            "exp overflowed for a large gate: use exp(-gate)",
        ),
    ),
)
