"""Exercise 4: the longest texts that fit beside the weights."""

from __future__ import annotations

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def longest_context(
    memory_bytes: int,
    weight_bytes: int,
    batch_size: int,
    bytes_per_token: int,
    state_bytes: int,
) -> int:
    """Return the tokens that each of the sequences can have."""
    each = (memory_bytes - weight_bytes) // batch_size - state_bytes
    return max(0, each // bytes_per_token)


def _grade(judge: Judge) -> None:
    fixed = (
        (1000, 300, 3, 7, 20),  # tells all the usual mistakes apart
        (80_000_000_000, 16_060_522_496, 1, 131_072, 0),
        (80_000_000_000, 16_060_522_496, 64, 131_072, 0),
        (2 * 16_060_522_496, 16_060_522_496, 1, 131_072, 0),
        (100, 200, 2, 7, 0),  # the weights alone do not fit
        (100, 90, 2, 7, 6),  # the states do not
        (100, 90, 1, 10, 0),
        (100, 91, 1, 10, 0),
    )
    for case in fixed:
        _one_budget(judge, case)
    for _ in range(20):
        memory = int(judge.rng.integers(1_000, 100_000))
        weights = int(judge.rng.integers(0, memory))
        batch, row = (int(judge.rng.integers(1, 30)) for _ in range(2))
        state = int(judge.rng.integers(0, 300))
        _one_budget(judge, (memory, weights, batch, row, state))


def _one_budget(judge: Judge, case: tuple[int, ...]) -> None:
    judge.same_number(judge.call(*case), longest_context(*case), *case)


EXERCISE = Exercise(
    id="kv_cache/sizing:4",
    title="The longest texts that fit",
    reference=longest_context,
    grade=_grade,
    hints=(
        "What is left for caches once the weights are loaded, and how much "
        "of it is one sequence's share?",
        "A sequence pays its state first, whatever its length; the rest it "
        "spends on tokens.",
        "`(memory_bytes - weight_bytes) // batch_size - state_bytes`, "
        "divided by `bytes_per_token` and rounded down; never below 0.",
    ),
    reread="What fits beside the weights",
    mistakes=(
        Mistake(
            lambda memory, weights, batch, row, state: max(
                0, (memory // batch - state) // row
            ),
            "the weights need their part of the memory too",
        ),
        Mistake(
            lambda memory, weights, batch, row, state: max(
                0, (memory - weights - state) // row
            ),
            "that is one sequence alone; the batch shares the memory",
        ),
        Mistake(
            lambda memory, weights, batch, row, state: max(
                0, (memory - weights) // batch // row
            ),
            "each sequence has a state besides its tokens",
        ),
        Mistake(
            lambda memory, weights, batch, row, state: max(
                0, (memory - weights - state) // batch // row
            ),
            "the state was counted once; every sequence has its own",
        ),
        Mistake(
            lambda memory, weights, batch, row, state: (
                ((memory - weights) // batch - state) // row
            ),
            "a negative number of tokens: where nothing fits, return 0",
        ),
        Mistake(
            lambda memory, weights, batch, row, state: max(
                0, -(-((memory - weights) // batch - state) // row)
            ),
            "rounded up: a token that fits in part does not fit",
        ),
    ),
)
