"""Exercise 2: the least cache of a text, with windows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge

Windows = list[int | None]


def least_bytes(windows: Windows, num_tokens: int, row_bytes: int) -> int:
    """Return the bytes that the layers need at least."""
    rows = sum(
        num_tokens if window is None else min(num_tokens, window)
        for window in windows
    )
    return rows * row_bytes


def _grade(judge: Judge) -> None:
    fixed: tuple[tuple[Windows, int, int], ...] = (
        ([3, None, 20, None], 10, 4),  # tells all the usual mistakes apart
        ([3, None], 2, 4),  # shorter than the window
        ([3, None], 3, 4),
        ([None, None], 7, 2),
        ([4096] * 3, 100, 16),
        ([128, None] * 12, 131_072, 2048),  # gpt-oss-20b
        ([5, 9, None], 6, 1),
        ([3, None], 0, 4),
    )
    for case in fixed:
        _one_text(judge, case)
    for _ in range(20):
        _one_text(judge, _drawn(judge.rng))


def _one_text(judge: Judge, case: tuple[Windows, int, int]) -> None:
    judge.same_number(judge.call(*case), least_bytes(*case), *case)


def _drawn(rng: Any) -> tuple[Windows, int, int]:
    windows: Windows = [
        None if rng.random() < 0.5 else int(rng.integers(1, 200))
        for _ in range(int(rng.integers(1, 12)))
    ]
    return windows, int(rng.integers(0, 300)), int(rng.integers(1, 9))


def _kept(rows: Callable[[int | None, int], int]) -> Callable[..., int]:
    """Return an answer with another number of rows in a layer."""

    def answer(windows: Windows, num_tokens: int, row_bytes: int) -> int:
        return row_bytes * sum(rows(w, num_tokens) for w in windows)

    return answer


EXERCISE = Exercise(
    id="kv_cache/sizing:2",
    title="The least that layers with windows need",
    reference=least_bytes,
    grade=_grade,
    hints=(
        "How many rows does one layer need? It depends on its window and on "
        "the length of the text.",
        "With a window: as many as the window, but no more than there are "
        "tokens. Without: all.",
        "Add up `min(num_tokens, window)` over the layers with a window and "
        "`num_tokens` over the others; multiply by `row_bytes`.",
    ),
    reread="The least, and what is reserved",
    mistakes=(
        Mistake(
            _kept(lambda window, n: n),
            "that is what is reserved: a layer with a window needs less",
        ),
        Mistake(
            _kept(lambda window, n: n if window is None else 0),
            "layers with a window were left out; they keep the window",
        ),
        Mistake(
            _kept(lambda window, n: n if window is None else window),
            "the text may be shorter than the window",
        ),
        Mistake(
            _kept(
                lambda window, n: n if window is None else min(n, window - 1)
            ),
            "a window counts the token itself: it keeps `window` rows",
        ),
        Mistake(
            _kept(lambda window, n: n if window is None else max(n, window)),
            "the larger was taken; a window keeps no more than its size",
        ),
        Mistake(
            lambda windows, n, size: (
                size
                * len(windows)
                * min([n, *(w for w in windows if w is not None)])
            ),
            "one window was applied to all layers; some see everything",
        ),
        Mistake(
            lambda windows, n, size: least_bytes(windows, n, 1),
            "rows were counted; each takes row_bytes",
        ),
    ),
)
