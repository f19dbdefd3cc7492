"""Exercise 2: the cache of a model that mixes local and global layers."""

from __future__ import annotations

from collections.abc import Callable

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def mixed_bytes(
    pattern: str,
    num_layers: int,
    window: int,
    num_tokens: int,
    bytes_per_layer: int,
) -> int:
    """Return the bytes of a cache that keeps no more than it needs."""
    kept = 0
    for layer in range(num_layers):
        is_local = pattern[layer % len(pattern)] == "L"
        kept += min(num_tokens, window) if is_local else num_tokens
    return kept * bytes_per_layer


def _grade(judge: Judge) -> None:
    fixed = (
        ("LLG", 7, 4, 10, 3),  # the pattern stops in the middle
        ("LLLLLG", 62, 1024, 131_072, 8192),
        ("LG", 24, 128, 131_072, 2048),
        ("L", 32, 4096, 32_768, 4096),
        ("LG", 4, 100, 7, 2),  # shorter than the window
        ("G", 3, 5, 9, 2),
        ("GLL", 5, 2, 6, 1),
    )
    for case in fixed:
        judge.same_number(judge.call(*case), mixed_bytes(*case), *case)
    rng = judge.rng
    for _ in range(20):
        case = (
            "".join(rng.choice(["L", "G"], size=int(rng.integers(1, 7)))),
            int(rng.integers(1, 40)),
            int(rng.integers(1, 500)),
            int(rng.integers(1, 3000)),
            int(rng.integers(1, 9000)),
        )
        judge.same_number(judge.call(*case), mixed_bytes(*case), *case)


def _keeping(
    tokens: Callable[[bool, int, int], int],
) -> Callable[..., int]:
    """Return an answer with another rule for what a layer keeps."""

    def answer(
        pattern: str, layers: int, window: int, num_tokens: int, size: int
    ) -> int:
        kinds = [pattern[i % len(pattern)] == "L" for i in range(layers)]
        return sum(tokens(kind, window, num_tokens) for kind in kinds) * size

    return answer


def _whole_patterns(
    pattern: str, layers: int, window: int, num_tokens: int, size: int
) -> int:
    full = layers // len(pattern)
    return full * mixed_bytes(pattern, len(pattern), window, num_tokens, size)


EXERCISE = Exercise(
    id="kv_cache/windows_and_sinks:2",
    title="The cache of a mixed model",
    reference=mixed_bytes,
    grade=_grade,
    hints=(
        "Go through the layers one by one: which letter of the pattern is "
        "layer i?",
        "`pattern[i % len(pattern)]`; the pattern may stop in the middle, as "
        "in Gemma-3-27B with 62 layers in sixes.",
        "A local layer keeps `min(num_tokens, window)` tokens, a global one "
        "all; add them up and multiply once.",
    ),
    reread="Local and global layers",
    mistakes=(
        Mistake(
            _keeping(lambda local, w, n: n),
            "every layer was charged in full; a local one keeps its window",
        ),
        Mistake(
            _keeping(lambda local, w, n: min(n, w)),
            "every layer was given the window; global layers keep all",
        ),
        Mistake(
            _keeping(lambda local, w, n: w if local else n),
            "a text shorter than the window does not fill it",
        ),
        Mistake(
            _keeping(lambda local, w, n: n if local else min(n, w)),
            "local and global are exchanged: L has the window",
        ),
        Mistake(
            _keeping(lambda local, w, n: min(n, w - 1) if local else n),
            "the window counts the token itself: a layer keeps `window` keys",
        ),
        Mistake(
            _keeping(lambda local, w, n: 0 if local else n),
            "local layers have a cache too",
        ),
        Mistake(
            _whole_patterns,
            "the layers behind the last whole pattern are missing",
        ),
        Mistake(
            lambda p, n, w, t, b: 2 * mixed_bytes(p, n, w, t, b),
            "doubled: `bytes_per_layer` is for keys and values together",
        ),
    ),
)
