"""Exercise 3: what a streaming cache keeps, and where it stands."""

from __future__ import annotations

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def places(token: int, sink_tokens: int, window: int) -> np.ndarray:
    """Return two rows: the tokens that a token sees, and their positions."""
    first = np.arange(min(sink_tokens, token + 1))
    newest = np.arange(max(sink_tokens, token + 1 - window), token + 1)
    seen = np.concatenate([first, newest])
    return np.stack([seen, np.arange(len(seen))])


def _grade(judge: Judge) -> None:
    fixed = (
        (9, 4, 4),  # the example of the paper
        (0, 4, 4),
        (2, 4, 4),
        (3, 4, 1),
        (7, 4, 4),
        (8, 4, 4),
        (5, 0, 3),
        (20, 1, 1),
        (6, 2, 9),
    )
    rng = judge.rng
    drawn = [
        (
            int(rng.integers(0, 60)),
            int(rng.integers(0, 7)),
            int(rng.integers(1, 12)),
        )
        for _ in range(20)
    ]
    for case in (*fixed, *drawn):
        judge.same_array(judge.call(*case), places(*case), *case)


def _in_the_text(token: int, sink_tokens: int, window: int) -> np.ndarray:
    seen = places(token, sink_tokens, window)[0]
    return np.stack([seen, seen])


def _twice(token: int, sink_tokens: int, window: int) -> np.ndarray:
    first = np.arange(min(sink_tokens, token + 1))
    newest = np.arange(max(0, token + 1 - window), token + 1)
    seen = np.concatenate([first, newest])
    return np.stack([seen, np.arange(len(seen))])


def _backwards(token: int, sink_tokens: int, window: int) -> np.ndarray:
    seen = places(token, sink_tokens, window)[0]
    return np.stack([seen, np.arange(len(seen))[::-1]])


EXERCISE = Exercise(
    id="kv_cache/windows_and_sinks:3",
    title="Places in a streaming cache",
    reference=places,
    grade=_grade,
    hints=(
        "Write down the seen tokens first, the sinks and then the newest; "
        "the token itself is the last of them.",
        "The newest are `max(sink_tokens, token + 1 - window)` to `token`; "
        "at the beginning of a text there may be fewer sinks than "
        "`sink_tokens`.",
        "The second row only counts: `np.arange(len(seen))`. "
        "`np.stack([seen, positions])` makes the two rows.",
    ),
    reread="Places in the cache",
    mistakes=(
        Mistake(
            _in_the_text,
            "these are positions in the text; a streaming cache counts the "
            "places of what it holds",
        ),
        Mistake(
            _twice,
            "a token is seen twice: as long as the window still reaches the "
            "sinks, they must not be counted again",
        ),
        Mistake(
            lambda t, s, w: places(t, s, w + 1),
            "one token too many: the window counts the token itself",
        ),
        Mistake(
            lambda t, s, w: places(t, 0, w),
            "the sinks are missing",
        ),
        Mistake(
            lambda t, s, w: places(t, s, max(1, w - s)),
            "the sinks were taken out of the window; they come on top",
        ),
        Mistake(
            lambda t, s, w: places(t, s, w)[:, :-1],
            "the token itself is missing; it sees itself",
        ),
        Mistake(
            _backwards,
            "the positions run backwards: they grow with the text",
        ),
    ),
)
