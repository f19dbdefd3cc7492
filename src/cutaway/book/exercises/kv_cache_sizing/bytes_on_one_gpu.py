"""Exercise 3: a token's bytes on one of several GPUs."""

from __future__ import annotations

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def bytes_on_one_gpu(num_kv_heads: int, head_bytes: int, tp: int) -> int:
    """Return the bytes of a token's keys and values on each GPU."""
    return max(1, num_kv_heads // tp) * head_bytes


def _grade(judge: Judge) -> None:
    fixed = (
        (8, 512, 4),  # tells most of the usual mistakes apart
        (8, 512, 16),  # more GPUs than heads
        (8, 512, 8),
        (8, 512, 1),
        (1, 1152, 8),  # one latent vector
        (2, 10, 64),
    )
    for case in fixed:
        _one_split(judge, case)
    for _ in range(20):
        tp = 2 ** int(judge.rng.integers(0, 7))
        heads = 2 ** int(judge.rng.integers(0, 7))
        size = 3 * int(judge.rng.integers(1, 1000))
        if heads > tp:
            heads *= int(judge.rng.integers(1, 6))
        _one_split(judge, (heads, size, tp))


def _one_split(judge: Judge, case: tuple[int, int, int]) -> None:
    judge.same_number(judge.call(*case), bytes_on_one_gpu(*case), *case)


EXERCISE = Exercise(
    id="kv_cache/sizing:3",
    title="A token's bytes on one of several GPUs",
    reference=bytes_on_one_gpu,
    grade=_grade,
    hints=(
        "A GPU holds whole heads. How many, with as many GPUs as heads, and "
        "how many with more?",
        "No GPU can hold less than one head, for the query heads that it "
        "computes need one.",
        "`max(1, num_kv_heads // tp)` heads of `head_bytes` each.",
    ),
    reread="Heads on several GPUs",
    mistakes=(
        Mistake(
            lambda heads, size, tp: heads * size // tp,
            "a head cannot be cut: beyond one head a GPU it is copied",
        ),
        Mistake(
            lambda heads, size, tp: heads * size,
            "that is the cache of all heads; a GPU holds its share",
        ),
        Mistake(
            lambda heads, size, tp: heads // tp * size,
            "with more GPUs than heads each still holds one head, not none",
        ),
        Mistake(
            lambda heads, size, tp: size,
            "one head was counted; with fewer GPUs each holds several",
        ),
        Mistake(
            lambda heads, size, tp: min(heads, tp) * size,
            "the heads that are spread, not those of one GPU",
        ),
    ),
)
