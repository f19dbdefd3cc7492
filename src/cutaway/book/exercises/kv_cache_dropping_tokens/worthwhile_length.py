"""Exercise 3: from which length on a budget saves memory."""

from __future__ import annotations

from collections.abc import Callable

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge

NOTE_BYTES = 12


def worthwhile_length(
    budget_tokens: int,
    chunk_tokens: int,
    head_dim: int,
    bytes_per_element: int,
) -> int:
    """Return the fewest tokens of which a plain cache takes more bytes."""
    token_bytes = 2 * head_dim * bytes_per_element
    rows = budget_tokens + chunk_tokens
    return rows * (token_bytes + NOTE_BYTES) // token_bytes + 1


def _grade(judge: Judge) -> None:
    cases = [(32, 96, 64, 4), (1024, 512, 128, 2), (1, 1, 8, 1)]
    cases += [(20, 12, 6, 1), (96, 32, 64, 4)]
    for _ in range(12):
        budget, chunk = (int(n) for n in judge.rng.integers(1, 3000, 2))
        head_dim = 8 * int(judge.rng.integers(1, 33))
        cases.append(
            (budget, chunk, head_dim, int(judge.rng.choice([1, 2, 4])))
        )
    for case in cases:
        got = judge.call(*case)
        judge.same_number(got, worthwhile_length(*case), *case)


def _counting(
    rows: Callable[[int, int], int] = lambda budget, chunk: budget + chunk,
    *,
    notes: int = NOTE_BYTES,
    copies: int = 2,
    shift: int = 1,
) -> Callable[..., int]:
    """Return an answer that counts something else."""

    def answer(
        budget_tokens: int,
        chunk_tokens: int,
        head_dim: int,
        bytes_per_element: int,
    ) -> int:
        token_bytes = copies * head_dim * bytes_per_element
        count = rows(budget_tokens, chunk_tokens)
        return count * (token_bytes + notes) // token_bytes + shift

    return answer


EXERCISE = Exercise(
    id="kv_cache/dropping_tokens:3",
    title="From which length on a budget saves memory",
    reference=worthwhile_length,
    grade=_grade,
    hints=(
        "Compare the bytes of one head in one layer; all heads and layers "
        "multiply both sides alike.",
        "The plain cache takes `2 * head_dim * bytes_per_element` for each "
        "of n tokens. The other takes 12 bytes more a row, and has "
        "`budget_tokens + chunk_tokens` rows whatever n is.",
        "You need n * token_bytes > rows * (token_bytes + 12), strictly: "
        "divide with `//` and add 1.",
    ),
    reread="What it costs and what it saves",
    mistakes=(
        Mistake(
            _counting(lambda budget, chunk: budget),
            "the rows for a pass were forgotten: it is there whole until "
            "the next begins",
        ),
        Mistake(
            _counting(notes=0),
            "the positions and scores take memory too: 12 bytes a row",
        ),
        Mistake(
            _counting(copies=1), "a token has a key and a value: 2 x head_dim"
        ),
        Mistake(
            _counting(shift=0),
            "off by one: at this length the plain cache is not larger yet",
        ),
        Mistake(
            _counting(max),
            "the budget and a pass are held at the same time: add them",
        ),
    ),
)
