"""Exercise 1: the next merge of training."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from itertools import pairwise

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def best_pair(words: list[list[int]], counts: list[int]) -> list[int]:
    """Return [left, right, count] of the most frequent pair."""
    totals: Counter[tuple[int, int]] = Counter()
    for word, count in zip(words, counts, strict=True):
        for pair in pairwise(word):
            totals[pair] += count
    left, right = min(totals, key=lambda pair: (-totals[pair], pair))
    return [left, right, totals[left, right]]


def _grade(judge: Judge) -> None:
    rng = judge.rng
    # Each of these tells one mistake from the others.
    a, b, c = sorted(int(i) for i in rng.choice(50, 3, replace=False))
    _one(judge, [[a, b], [b, c]], [5, 2])
    _one(judge, [[a], [b], [a], [b], [c, a]], [1, 1, 1, 1, 1])
    _one(judge, [[a, b, a, b]], [1])
    _one(judge, [[b, c], [a, b]], [3, 3])  # a tie
    _one(judge, [[a] * 5, [b, a]], [2, 7])  # a run overlaps itself
    for num_words, num_ids in ((3, 3), (1, 2), (5, 4), (12, 3), (30, 9)):
        for _ in range(4):
            words = [
                [int(i) for i in rng.integers(0, num_ids, rng.integers(1, 9))]
                for _ in range(num_words)
            ]
            words.append([1, 0])
            counts = [int(n) for n in rng.integers(1, 6, len(words))]
            _one(judge, words, counts)


def _one(judge: Judge, words: list[list[int]], counts: list[int]) -> None:
    expected = best_pair(words, counts)
    got = judge.call(words, counts)
    judge.same_list(got, expected, words, counts, what="number")


def _variant(
    *,
    weighted: bool = True,
    across: bool = False,
    once_a_word: bool = False,
    unordered: bool = False,
    order: Callable = lambda total, pair: (-total, pair),
) -> Callable[[list[list[int]], list[int]], list[int]]:
    """Return the count with one slip in it."""

    def wrong(words: list[list[int]], counts: list[int]) -> list[int]:
        totals: Counter[tuple[int, int]] = Counter()
        if across:
            for word, later in pairwise(words):
                totals[word[-1], later[0]] += 1
        for word, count in zip(words, counts, strict=True):
            pairs = list(pairwise(word))
            if unordered:
                pairs = [(min(pair), max(pair)) for pair in pairs]
            for pair in set(pairs) if once_a_word else pairs:
                totals[pair] += count if weighted else 1
        left, right = min(totals, key=lambda pair: order(totals[pair], pair))
        return [left, right, totals[left, right]]

    return wrong


EXERCISE = Exercise(
    id="flow/tokenization:1",
    title="The next merge of training",
    reference=best_pair,
    grade=_grade,
    hints=(
        "`itertools.pairwise(word)` gives the neighbours of one word. Add "
        "them up in a `collections.Counter` that the words share.",
        "A word that occurs five times has each of its pairs five times: "
        "add the word's count, not 1.",
        "`min(totals, key=lambda pair: (-totals[pair], pair))` takes the "
        "largest count and, among equals, the smallest pair.",
    ),
    reread="Byte-pair encoding by hand",
    mistakes=(
        Mistake(
            _variant(weighted=False),
            "each word was counted once; its pairs occur as often as it does",
        ),
        Mistake(
            _variant(across=True),
            "a pair was counted across the end of a word",
        ),
        Mistake(
            _variant(once_a_word=True),
            "a pair that a word holds twice was counted once",
        ),
        Mistake(
            _variant(order=lambda total, pair: (-total, -pair[0], -pair[1])),
            "among equally frequent pairs the smallest comes first",
        ),
        Mistake(
            _variant(unordered=True),
            "the pairs [a, b] and [b, a] are two different pairs",
        ),
        Mistake(
            _variant(order=lambda total, pair: (total, pair)),
            "this is the rarest pair, not the most frequent",
        ),
    ),
)
