"""Exercise 2: encoding replays the merges."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise

from cutaway.book.exercise import Exercise, Mistake
from cutaway.book.judge import Judge


def encode_word(word: list[int], merges: list[list[int]]) -> list[int]:
    """Return the ids of a word after all its merges."""
    ranks = {(left, right): n for n, (left, right, _) in enumerate(merges)}
    ids = list(word)
    while True:
        ranked = [
            (ranks[pair], place)
            for place, pair in enumerate(pairwise(ids))
            if pair in ranks
        ]
        if not ranked:
            return ids
        rank, place = min(ranked)
        ids[place : place + 2] = [merges[rank][2]]


def _grade(judge: Judge) -> None:
    # Each of these tells one mistake from the others.
    shift = int(judge.rng.integers(0, 90))
    a, b, c, d, e, ab, bc, cd, abc = (shift + n for n in range(9))
    _one(judge, [a, b, c, d, e], [[c, d, cd], [a, b, ab], [b, c, bc]])
    _one(judge, [a, b, c], [[b, c, bc], [a, b, ab], [a, bc, abc]])
    _one(judge, [a, b, c, d], [[c, d, cd], [a, b, ab], [ab, c, abc]])
    _one(judge, [a, a, a], [[a, a, ab]])
    _one(judge, [a, b, c, a, b], [[a, b, ab], [ab, c, abc]])
    for length in (7, 2, 1, 5, 12, 30):
        for num_merges in (6, 1, 12, 25):
            base = 3
            merges = _merges(judge, base, num_merges)
            word = [int(i) for i in judge.rng.integers(0, base, length)]
            _one(judge, word, merges)
            _one(judge, [word[0]] * length, merges)


def _merges(judge: Judge, base: int, count: int) -> list[list[int]]:
    """Draw merges as training makes them: parts exist, pairs differ."""
    merges: list[list[int]] = []
    seen: set[tuple[int, int]] = set()
    while len(merges) < count:
        known = base + len(merges)
        left, right = (int(i) for i in judge.rng.integers(0, known, 2))
        if (left, right) not in seen:
            seen.add((left, right))
            merges.append([left, right, known])
    return merges


def _one(judge: Judge, word: list[int], merges: list[list[int]]) -> None:
    expected = encode_word(word, merges)
    got = judge.call(word, merges)
    judge.same_list(got, expected, word, merges)


def _chosen(choose: Callable[[list[tuple[int, int]]], tuple[int, int]]):
    """Return the loop that takes another of the ranked pairs."""

    def wrong(word: list[int], merges: list[list[int]]) -> list[int]:
        ranks = {(left, right): n for n, (left, right, _) in enumerate(merges)}
        ids = list(word)
        while True:
            ranked = [
                (ranks[pair], place)
                for place, pair in enumerate(pairwise(ids))
                if pair in ranks
            ]
            if not ranked:
                return ids
            rank, place = choose(ranked)
            ids[place : place + 2] = [merges[rank][2]]

    return wrong


def _one_merge(word: list[int], merges: list[list[int]]) -> list[int]:
    for left, right, joined in merges:
        for place, pair in enumerate(pairwise(word)):
            if pair == (left, right):
                return [*word[:place], joined, *word[place + 2 :]]
    return list(word)


def _longest_known(word: list[int], merges: list[list[int]]) -> list[int]:
    spelled: dict[tuple[int, ...], int] = {(i,): i for i in word}
    spelling: dict[int, tuple[int, ...]] = {i: (i,) for i in word}
    for left, right, joined in merges:
        parts = spelling.get(left, (left,)) + spelling.get(right, (right,))
        spelling[joined] = parts
        spelled.setdefault(parts, joined)
    ids, start = [], 0
    while start < len(word):
        end = len(word)
        while tuple(word[start:end]) not in spelled:
            end -= 1
        ids.append(spelled[tuple(word[start:end])])
        start = end
    return ids


EXERCISE = Exercise(
    id="flow/tokenization:2",
    title="Encode by ranks",
    reference=encode_word,
    grade=_grade,
    hints=(
        "Make a dictionary from pair to rank first. A rank is the place in "
        "the list of merges.",
        "In each round look at *all* neighbours, take the one of lowest "
        "rank, leftmost if there are several, and join that one place.",
        "Stop when no pair is in the dictionary. The next round must see "
        "the pairs that the new token makes with its neighbours.",
    ),
    reread="Encoding replays the merges",
    mistakes=(
        Mistake(
            _longest_known,
            "this takes the longest token that fits, as WordPiece does",
        ),
        Mistake(
            _chosen(lambda ranked: min(ranked, key=lambda e: (e[0], -e[1]))),
            "of several places with one pair the leftmost comes first",
        ),
        Mistake(
            _one_merge,
            "one merge was done; go on until no pair is in the list",
        ),
        Mistake(
            _chosen(lambda ranked: min(ranked, key=lambda entry: entry[1])),
            "the leftmost pair came first; the lowest rank must",
        ),
        Mistake(
            _chosen(max),
            "the highest rank came first; the lowest must",
        ),
    ),
)
