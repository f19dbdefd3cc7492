"""A training text as words with counts, and the pairs inside them.

Training looks only at words: each different word once, with how often it
occurs. Counting a pair of neighbours then means adding up the counts of
the words that hold it, and a merge touches only those words.
"""

from __future__ import annotations

import reprlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from cutaway.core.checks import check_int
from cutaway.tokenizer.checks import check_text
from cutaway.tokenizer.errors import TokenizerError

Pair = tuple[str, str]


def count_words(
    texts: Iterable[str], cut: Callable[[str], Iterable[str]]
) -> Counter[str]:
    """Return how often each word occurs in some texts.

    Args:
        texts: The texts; no word reaches from one into the next.
        cut: Gives the words of a text.

    Raises:
        TokenizerError: ``texts`` is no iterable of texts.

    >>> count_words(["a b a", "b c"], str.split)
    Counter({'a': 2, 'b': 2, 'c': 1})
    """
    counts: Counter[str] = Counter()
    if isinstance(texts, (str, bytes)) or not isinstance(texts, Iterable):
        raise TokenizerError("texts", reprlib.repr(texts), "a list of texts")
    for text in texts:
        check_text(text)
        counts.update(cut(text))
    return counts


def check_word_counts(word_counts: Any) -> Mapping[str, int]:
    """Return counts of words, or say what is wrong with them."""
    if not isinstance(word_counts, Mapping):
        got = reprlib.repr(word_counts)
        raise TokenizerError("word_counts", got, "a mapping {word: count}")
    for word, count in word_counts.items():
        if not isinstance(word, str) or not word:
            raise TokenizerError("word_counts", repr(word), "non-empty words")
        check_int(f"word_counts[{word!r}]", count, low=1)
    return word_counts


class PairCorpus:
    """Words cut into symbols, with the count of every neighbouring pair.

    Invariants:

    - ``pairs`` holds exactly the pairs that stand in some word, each with
      its number of places in the text;
    - ``symbols`` does the same for single symbols;
    - the symbols of a word, their continuation marks taken off, spell it.

    Args:
        words: Each word as its symbols, with how often it occurs.

    >>> corpus = PairCorpus([(("l", "o", "w"), 5), (("l", "o"), 2)])
    >>> corpus.pairs["l", "o"], corpus.num_tokens
    (7, 19)
    >>> touched = corpus.merge(("l", "o"), "lo")
    >>> corpus.pairs, corpus.num_tokens
    ({('lo', 'w'): 5}, 12)
    """

    def __init__(self, words: Iterable[tuple[Sequence[str], int]]) -> None:
        self.pairs: dict[Pair, int] = {}
        self.symbols: dict[str, int] = {}
        self.num_tokens = 0
        self._words: list[tuple[Sequence[str], int]] = []
        self._places: defaultdict[Pair, set[int]] = defaultdict(set)
        for word, count in words:
            self._words.append((word, count))
            self._add(len(self._words) - 1, 1)

    def merge(self, pair: Pair, joined: str) -> set[Pair]:
        """Join a pair wherever it stands, from left to right in each word.

        Returns:
            The pairs whose counts may have changed.

        Cost: O(symbols of the words that hold the pair).
        """
        touched: set[Pair] = set()
        for place in sorted(self._places[pair]):
            word, count = self._words[place]
            touched.update(pairwise(word))
            self._add(place, -1)
            self._words[place] = (join_pair(word, pair, joined), count)
            self._add(place, 1)
            touched.update(pairwise(self._words[place][0]))
        return touched

    def _add(self, place: int, sign: int) -> None:
        """Count a word's symbols and pairs in, or with -1 out again."""
        word, count = self._words[place]
        self.num_tokens += sign * count * len(word)
        for symbol in word:
            _add_to(self.symbols, symbol, sign * count)
        for pair in pairwise(word):
            _add_to(self.pairs, pair, sign * count)
            if sign > 0:
                self._places[pair].add(place)
            else:
                self._places[pair].discard(place)


def join_pair(word: Sequence[str], pair: Pair, joined: str) -> list[str]:
    """Return a word with a pair joined, leftmost first.

    >>> join_pair(["a", "a", "a"], ("a", "a"), "aa")
    ['aa', 'a']
    """
    out: list[str] = []
    place = 0
    while place < len(word):
        if tuple(word[place : place + 2]) == pair:
            out.append(joined)
            place += 2
        else:
            out.append(word[place])
            place += 1
    return out


def _add_to(counts: dict[Any, int], key: Any, amount: int) -> None:
    """Add to a count; a count of zero leaves the mapping."""
    counts[key] = counts.get(key, 0) + amount
    if not counts[key]:
        del counts[key]
