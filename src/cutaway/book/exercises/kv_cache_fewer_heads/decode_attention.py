"""Exercise 3: FLOPs and bytes of attention in a decode step."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge

NAMES = ("FLOPs", "bytes")


def decode_attention(
    num_heads: int,
    num_kv_heads: int,
    head_dim: int,
    kv_len: int,
    bytes_per_element: float,
) -> tuple[float, float]:
    """Return the FLOPs, and the bytes of keys and values, in one layer."""
    flops = 4 * num_heads * head_dim * kv_len
    moved = 2 * num_kv_heads * head_dim * kv_len * bytes_per_element
    return flops, moved


def _grade(judge: Judge) -> None:
    cases = [(9, 3, 64, 4096, 4), (64, 8, 128, 1000, 2), (32, 32, 80, 17, 1)]
    cases += [(71, 1, 64, 2048, 2), (40, 8, 128, 1, 0.5)]
    for _ in range(10):
        kv_heads = int(judge.rng.integers(1, 9))
        group, width = (int(n) for n in judge.rng.integers(2, 17, 2))
        keys = int(judge.rng.integers(1, 100_000))
        cases.append((kv_heads * group, kv_heads, 8 * width, keys, 2))
    for case in cases:
        got = judge.call(*case)
        if isinstance(got, np.ndarray):
            got = tuple(got.ravel())
        pair = isinstance(got, (tuple, list)) and len(got) == 2
        judge.require(
            pair,
            f"got {got!r}, expected two numbers",
            *case,
            likely="return FLOPs and bytes, in this order",
        )
        expected = decode_attention(*case)
        for name, one, right in zip(NAMES, got, expected, strict=True):
            number = isinstance(one, (int, float, np.number))
            if not number or not math.isclose(one, right, rel_tol=1e-9):
                finding = f"{name}: got {one!r}, expected {right}"
                raise judge.wrong(finding, case, got)


def _counting(
    flops: Callable[..., float], moved: Callable[..., float]
) -> Callable[..., tuple[float, float]]:
    """Return an answer with other FLOPs or bytes."""
    return lambda *case: (flops(*case), moved(*case))


def _flops(h: int, g: int, d: int, t: int, b: float) -> float:
    return 4 * h * d * t


def _bytes(h: int, g: int, d: int, t: int, b: float) -> float:
    return 2 * g * d * t * b


EXERCISE = Exercise(
    id="kv_cache/fewer_heads:3",
    title="What sharing saves, and what it does not",
    reference=decode_attention,
    grade=_grade,
    hints=(
        "Who does arithmetic: every query head, or every key/value head? "
        "And whose numbers are read?",
        "Each query head multiplies its query with all keys and its weights "
        "with all values: 2 FLOPs a number, twice.",
        "FLOPs: `4 * num_heads * head_dim * kv_len`. Bytes: `2 * "
        "num_kv_heads * head_dim * kv_len * bytes_per_element`.",
    ),
    reread="Same arithmetic, fewer bytes",
    mistakes=(
        Mistake(
            _counting(lambda h, g, d, t, b: 4 * g * d * t, _bytes),
            "sharing was taken to save FLOPs; every query head still meets "
            "every key",
        ),
        Mistake(
            _counting(_flops, lambda h, g, d, t, b: 2 * h * d * t * b),
            "the bytes of one key head for each query head; shared heads are "
            "read once",
        ),
        Mistake(
            _counting(_flops, lambda h, g, d, t, b: g * d * t * b),
            "keys or values were forgotten: both are read",
        ),
        Mistake(
            _counting(lambda h, g, d, t, b: 2 * h * d * t, _bytes),
            "half the FLOPs: there are scores and values",
        ),
        Mistake(
            _counting(_flops, lambda h, g, d, t, b: 2 * (h // g) * d * t * b),
            "the size of a group was taken for the number of key/value heads",
        ),
        Mistake(
            lambda *case: decode_attention(*case)[::-1],
            "bytes and FLOPs are in the wrong order",
        ),
    ),
)
