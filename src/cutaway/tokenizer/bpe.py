"""Byte-pair encoding: from the symbols of a word to its tokens.

A word begins as single symbols. Training left a list of merges, each a
pair of tokens that becomes one; a merge's rank is its place in that list.
Encoding replays them: among the neighbouring pairs that are in the list,
join the one of lowest rank, the leftmost if there are several, and look
again until none is left. With the first merges of SmolLM2::

    rank  0  Ġ t        Ġ t h e      "Ġ t" (0) beats "h e" (3)
    rank  3  h e        Ġt h e       "h e" (3) is the only pair
    rank  8  Ġt he      Ġt he        "Ġt he" (8)
                        Ġthe         one token, nothing to join

The same order is written twice: ``merge_steps`` to be read, and ``merge``
to be fast, O(n log n) instead of O(n^2) for a word of n symbols.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise
from typing import Any, TypeVar

from cutaway.tokenizer.errors import TokenizerError

Symbol = TypeVar("Symbol", bound=Hashable)


def merge_steps(
    symbols: Sequence[Symbol],
    merges: Mapping[tuple[Symbol, Symbol], tuple[int, Symbol]],
) -> Iterator[list[Symbol]]:
    """Yield the word as it starts, then after each merge.

    Args:
        symbols: The word's symbols: characters, or their token ids.
        merges: For each pair that joins, its rank and what it becomes.

    Returns:
        Lists, each one symbol shorter than the one before.

    Cost: O(n^2) for n symbols.
    Source: Sennrich et al. 2016, arXiv 1508.07909, section 3.2.

    >>> merges = {
    ...     ("Ġ", "t"): (0, "Ġt"),
    ...     ("h", "e"): (3, "he"),
    ...     ("Ġt", "he"): (8, "Ġthe"),
    ... }
    >>> for step in merge_steps("Ġthe", merges):
    ...     print(*step)
    Ġ t h e
    Ġt h e
    Ġt he
    Ġthe
    """
    word = list(symbols)
    while True:
        yield list(word)
        ranked = [
            (merges[pair][0], place)
            for place, pair in enumerate(pairwise(word))
            if pair in merges
        ]
        if not ranked:
            return
        _, place = min(ranked)  # lowest rank, then leftmost
        _, joined = merges[word[place], word[place + 1]]
        word[place : place + 2] = [joined]


def merge(
    symbols: Sequence[Symbol],
    merges: Mapping[tuple[Symbol, Symbol], tuple[int, Symbol]],
) -> list[Symbol]:
    """Return the word after its last merge: its tokens.

    The order of ``merge_steps``, with the next pair found in O(log n). The
    word is a linked list: a merge keeps its left place and empties its
    right one, so no other symbol moves. The heap holds (rank, place) of
    every pair that joins; an entry whose pair is no longer there is
    skipped when it comes up.

    Args:
        symbols: The word's symbols: characters, or their token ids.
        merges: For each pair that joins, its rank and what it becomes.

    Cost: O(n log n) for n symbols.
    Source: as ``merge_steps``; llama.cpp and Hugging Face keep a heap too.

    >>> merge("aaaaa", {("a", "a"): (0, "aa"), ("aa", "a"): (1, "aaa")})
    ['aa', 'aaa']
    """
    # One empty place at the end: the last symbol's right-hand neighbour.
    word: list[Any] = [*symbols, None]
    after = list(range(1, len(word) + 1))
    before = list(range(-1, len(word) - 1))

    def rank_of(place: int) -> int | None:
        found = merges.get((word[place], word[after[place]]))
        return None if found is None else found[0]

    heap = [
        (rank, place)
        for place in range(len(symbols))
        if (rank := rank_of(place)) is not None
    ]
    heapify(heap)
    while heap:
        rank, place = heappop(heap)
        if rank_of(place) != rank:
            continue
        gone = after[place]
        _, word[place] = merges[word[place], word[gone]]
        word[gone] = None
        after[place] = after[gone]
        before[after[place]] = place
        for start in (before[place], place):
            if start >= 0 and (rank := rank_of(start)) is not None:
                heappush(heap, (rank, start))
    return [symbol for symbol in word if symbol is not None]


def merge_table(
    merges: Sequence[str], ids: Mapping[str, int]
) -> dict[tuple[int, int], tuple[int, int]]:
    """Turn a vocabulary file's merges into the table of ``merge``.

    Args:
        merges: Pairs as ``"left right"``, in order of rank.
        ids: The id of each token.

    Returns:
        ``{(left id, right id): (rank, id of the joined token)}``.

    Raises:
        TokenizerError: A merge is no pair of tokens, its result is no
            token, or a pair comes twice.

    >>> merge_table(["h e"], {"h": 0, "e": 1, "he": 2})
    {(0, 1): (0, 2)}
    """
    table = {}
    for rank, line in enumerate(merges):
        left, _, right = line.partition(" ")
        try:
            table[ids[left], ids[right]] = (rank, ids[left + right])
        except KeyError as absent:
            raise TokenizerError(
                f"merges[{rank}]",
                f"{line!r}, where {absent} is no token",
                "two tokens, with a space between, that join into a token",
            ) from None
    if len(table) < len(merges):
        raise TokenizerError(
            "merges",
            f"{len(merges)} merges of {len(table)} different pairs",
            "each pair once",
        )
    return table
