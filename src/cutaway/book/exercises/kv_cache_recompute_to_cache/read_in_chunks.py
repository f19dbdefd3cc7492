"""Exercise 3: a prompt in chunks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge
from cutaway.book.toy_forward import toy_logits

FROM_ZERO = "the second chunk does not start at position 0 again"
BY_NUMBER = "start is a position, not the number of the chunk"
FROM_ONE = "positions count from 0"
TOO_LARGE = "a call read more than chunk_size tokens"
TOO_SMALL = "all chunks but the last are full"
DROPPED = "tokens at the end of the prompt were not read"
TWICE = "a token was read twice"
OTHER_CHUNK = "those are not the logits of the last chunk"

Read = Callable[[list[int], int], np.ndarray]


def read_in_chunks(
    forward: Read, prompt_ids: list[int], chunk_size: int
) -> np.ndarray:
    """Return the logits after the prompt's last token."""
    logits = np.zeros(0)
    for start in range(0, len(prompt_ids), chunk_size):
        logits = forward(prompt_ids[start : start + chunk_size], start)
    return logits


class Reader:
    """Stands for a decoder and its cache; remembers how it was called.

    Attributes:
        calls: The ids and the start of each call.
    """

    __name__ = "forward"

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._cache: list[tuple[int, int]] = []
        self.calls: list[tuple[list[int], int]] = []

    def __call__(self, new_ids: list[int], start: int) -> np.ndarray:
        """Read ids at the positions from ``start`` on; return logits."""
        ids, first = [int(i) for i in new_ids], int(start)
        self.calls.append((ids, first))
        self._cache += [(first + n, token) for n, token in enumerate(ids)]
        flat = [number for pair in self._cache for number in pair]
        return toy_logits(self._seed, flat)


def _grade(judge: Judge) -> None:
    fixed = ((10, 4), (1, 1), (6, 3), (5, 1), (3, 8), (7, 7), (9, 8))
    for count, size in fixed:
        _one_prompt(judge, list(range(20, 20 + count)), size, 5)
    for _ in range(12):
        count, size = (int(n) for n in judge.rng.integers(1, 40, 2))
        prompt = [int(i) for i in judge.rng.integers(0, 50_000, count)]
        _one_prompt(judge, prompt, size, int(judge.rng.integers(1 << 30)))


def _one_prompt(judge: Judge, prompt: list[int], size: int, seed: int) -> None:
    """Check how the model was called, then what came back."""
    right, reader = Reader(seed), Reader(seed)
    expected = read_in_chunks(right, prompt, size)
    args = (reader, prompt, size)
    got = judge.call(*args)
    judge.require(
        reader.calls == right.calls,
        _first_difference(reader.calls, right.calls),
        *args,
        likely=_slip(reader.calls, len(prompt), size),
    )
    earlier = [
        read_in_chunks(Reader(seed), prompt[:stop], size)
        for stop in range(size, len(prompt), size)
    ]
    same_shape = isinstance(got, np.ndarray) and got.shape == expected.shape
    if same_shape and not np.array_equal(got, expected):
        judge.require(
            not any(np.array_equal(got, other) for other in earlier),
            "got the logits of an earlier chunk, expected the last one's",
            *args,
            likely=OTHER_CHUNK,
        )
    judge.same_array(got, expected, *args)


def _first_difference(got: list[Any], expected: list[Any]) -> str:
    """Say which call differs, and how."""
    for number, (mine, right) in enumerate(
        zip(got, expected, strict=False), start=1
    ):
        if mine != right:
            wanted = f"expected {len(right[0])} at {right[1]}"
            return f"call {number}: {len(mine[0])} ids at {mine[1]}, {wanted}"
    return f"{len(got)} calls, expected {len(expected)}"


def _slip(calls: list[tuple[list[int], int]], total: int, size: int) -> str:
    """Name the mistake behind wrong calls; empty if there is none known."""
    lengths, starts = [len(ids) for ids, _ in calls], [s for _, s in calls]
    if max(lengths, default=0) > size:
        return TOO_LARGE
    if sum(lengths) < total:
        return DROPPED
    if sum(lengths) > total:
        return TWICE
    if any(length < size for length in lengths[:-1]):
        return TOO_SMALL
    if not any(starts):
        return FROM_ZERO
    if starts == list(range(len(starts))):
        return BY_NUMBER
    return FROM_ONE if starts[0] == 1 else ""


def _with_calls(
    plan: Callable[[int, int], Iterable[tuple[int, int, int]]],
) -> Callable[..., Any]:
    """Return an answer that reads the slices of a plan, at its starts."""

    def answer(
        forward: Read, prompt_ids: list[int], chunk_size: int
    ) -> np.ndarray:
        logits = np.zeros(0)
        for low, high, start in plan(len(prompt_ids), chunk_size):
            logits = forward(prompt_ids[low:high], start)
        return logits

    return answer


def _first_logits(
    forward: Read, prompt_ids: list[int], chunk_size: int
) -> np.ndarray:
    starts = range(0, len(prompt_ids), chunk_size)
    first, *_ = [forward(prompt_ids[s : s + chunk_size], s) for s in starts]
    return first


EXERCISE = Exercise(
    id="kv_cache/recompute_to_cache:3",
    title="A prompt in chunks",
    reference=read_in_chunks,
    grade=_grade,
    hints=(
        "`range(0, len(prompt_ids), chunk_size)` gives the position at which "
        "each chunk starts.",
        "A slice that goes beyond the end is cut there, so the last chunk "
        "needs no case of its own.",
        "In the loop: `logits = forward(prompt_ids[start : start + "
        "chunk_size], start)`. Return the last logits.",
    ),
    reread="A prompt in chunks",
    mistakes=(
        Mistake(
            _with_calls(lambda n, c: [(s, s + c, 0) for s in range(0, n, c)]),
            FROM_ZERO,
        ),
        Mistake(
            _with_calls(
                lambda n, c: [(s, s + c, s // c) for s in range(0, n, c)]
            ),
            BY_NUMBER,
        ),
        Mistake(
            _with_calls(
                lambda n, c: [(s, s + c, s + 1) for s in range(0, n, c)]
            ),
            FROM_ONE,
        ),
        Mistake(_with_calls(lambda n, c: [(0, n, 0)]), TOO_LARGE),
        Mistake(
            _with_calls(lambda n, c: [(s, s + 1, s) for s in range(n)]),
            TOO_SMALL,
        ),
        Mistake(
            _with_calls(
                lambda n, c: [(s, s + c, s) for s in range(0, n - c + 1, c)]
            ),
            DROPPED,
        ),
        Mistake(
            _with_calls(
                lambda n, c: [(s, s + c, s) for s in range(0, n, max(1, c - 1))]
            ),
            TWICE,
        ),
        Mistake(_first_logits, OTHER_CHUNK),
    ),
)
