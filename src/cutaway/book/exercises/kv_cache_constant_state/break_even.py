"""Exercise 4: from which context on a state is smaller than a cache."""

from __future__ import annotations

from collections.abc import Callable

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def break_even(
    heads: int, key_dim: int, value_dim: int, num_kv_heads: int, head_dim: int
) -> int:
    """Return the least tokens whose cache is as large as the state."""
    state_bytes = 4 * heads * key_dim * value_dim
    row_bytes = 2 * 2 * num_kv_heads * head_dim
    return -(-state_bytes // row_bytes)


def _grade(judge: Judge) -> None:
    cases = [(48, 128, 96, 3, 80), (32, 128, 128, 2, 256), (3, 64, 64, 3, 64)]
    cases += [(5, 7, 3, 1, 16), (1, 1, 1, 1, 1), (16, 96, 192, 5, 80)]
    for _ in range(12):
        heads, kv_heads = (int(n) for n in judge.rng.integers(1, 33, 2))
        widths = (int(n) for n in judge.rng.integers(3, 200, 3))
        key_dim, value_dim, head_dim = widths
        cases.append((heads, key_dim, value_dim, kv_heads, head_dim))
    for case in cases:
        judge.same_number(judge.call(*case), break_even(*case), *case)


def _with(state_bytes: float, values: int = 2) -> Callable[..., int]:
    """Return an answer with other bytes, or fewer numbers in a row."""

    def answer(
        heads: int, key_dim: int, value_dim: int, kv_heads: int, head_dim: int
    ) -> int:
        state = int(state_bytes * heads * key_dim * value_dim)
        return -(-state // (2 * values * kv_heads * head_dim))

    return answer


def _down(h: int, k: int, v: int, g: int, d: int) -> int:
    return 4 * h * k * v // (4 * g * d)


def _vector(h: int, k: int, v: int, g: int, d: int) -> int:
    return -(-4 * h * (k + v) // (4 * g * d))


def _one_head(h: int, k: int, v: int, g: int, d: int) -> int:
    return break_even(h, k, v, 1, d)


def _key_square(h: int, k: int, v: int, g: int, d: int) -> int:
    return break_even(h, k, k, g, d)


EXERCISE = Exercise(
    id="kv_cache/constant_state:4",
    title="The context at which a state pays",
    reference=break_even,
    grade=_grade,
    hints=(
        "Write down the bytes of the state, and the bytes that a token adds "
        "to an attention layer. What must n times the second reach?",
        "The state: heads x key_dim x value_dim numbers of 4 bytes. A "
        "token: a key and a value, num_kv_heads x head_dim numbers each, of "
        "2 bytes.",
        "Divide and round up: `-(-state_bytes // row_bytes)`.",
    ),
    reread="How large a state is",
    mistakes=(
        Mistake(_with(2), "states are kept in float32: 4 bytes a number"),
        Mistake(_with(4, 1), "a token adds a key and a value"),
        Mistake(_down, "rounded down, the cache is still smaller"),
        Mistake(_vector, "a state is a matrix: key_dim times value_dim"),
        Mistake(_one_head, "each key/value head has a row of its own"),
        Mistake(_key_square, "the state is key_dim x value_dim, no square"),
    ),
)
