"""Expectation-maximisation for a unigram model.

Nobody says how the training text is cut, so the probability of a word is
the sum over all its cuts. A step raises it: cut the text in all ways at
once, each way counted by its probability; the counts of the pieces,
divided by their sum, are the new probabilities.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping

from cutaway.tokenizer.corpus import check_word_counts
from cutaway.tokenizer.errors import TokenizerError


def expected_counts(
    word: str, scores: Mapping[str, float], longest: int | None = None
) -> tuple[float, dict[str, float]]:
    """Return a word's log-probability, and how often each piece is used.

    Both are over all cuts of the word: the probability is their sum, and a
    piece is counted in each cut with that cut's share of the sum.

    Args:
        word: The word.
        scores: The log-probability of each piece.
        longest: Characters of the longest piece, if it is known.

    Raises:
        TokenizerError: No cut spells the word.

    Cost: O(n m) for n characters and pieces of at most m.
    Source: Kudo 2018, arXiv 1804.10959, section 3.2; the sums are the
    forward-backward algorithm.

    >>> scores = dict.fromkeys(["a", "b", "ab"], math.log(0.5))
    >>> log_p, counts = expected_counts("ab", scores)
    >>> round(math.exp(log_p), 4), round(counts["ab"], 4)
    (0.75, 0.6667)
    """
    if longest is None:
        longest = max(map(len, scores), default=1)
    spans = [
        (start, end, word[start:end])
        for start in range(len(word))
        for end in range(start + 1, min(start + longest, len(word)) + 1)
        if word[start:end] in scores
    ]
    # The log of the sum over all cuts up to each place, and from it on.
    until = [0.0] + [-math.inf] * len(word)
    for start, end, piece in spans:
        until[end] = _log_add(until[end], until[start] + scores[piece])
    if until[-1] == -math.inf:
        raise TokenizerError("word", repr(word), "a word that pieces spell")
    after = [-math.inf] * len(word) + [0.0]
    for start, end, piece in reversed(spans):
        after[start] = _log_add(after[start], scores[piece] + after[end])
    counts: defaultdict[str, float] = defaultdict(float)
    for start, end, piece in spans:
        log_p = until[start] + scores[piece] + after[end] - until[-1]
        counts[piece] += math.exp(log_p)
    return until[-1], dict(counts)


def expected_totals(
    word_counts: Mapping[str, int], scores: Mapping[str, float]
) -> tuple[dict[str, float], float]:
    """Return the expected counts of a whole text, and its log-likelihood.

    Args:
        word_counts: How often each word occurs.
        scores: The log-probability of each piece.

    Raises:
        TokenizerError: No cut spells one of the words.
    """
    totals: defaultdict[str, float] = defaultdict(float)
    likelihood = 0.0
    longest = max(map(len, scores), default=1)
    for word, times in check_word_counts(word_counts).items():
        log_p, counts = expected_counts(word, scores, longest)
        likelihood += times * log_p
        for piece, count in counts.items():
            totals[piece] += times * count
    return dict(totals), likelihood


def em_step(
    word_counts: Mapping[str, int], scores: Mapping[str, float]
) -> tuple[dict[str, float], float]:
    """Make one step of expectation-maximisation.

    Args:
        word_counts: How often each word occurs.
        scores: The log-probability of each piece.

    Returns:
        The new log-probabilities, and the log-likelihood of the text under
        the *old* ones. From step to step it never falls, if the first
        probabilities do not add up to more than one.

    Raises:
        TokenizerError: No cut spells one of the words.

    Source: Kudo 2018, section 3.2.
    Differs: SentencePiece puts digamma(count) for log(count) and drops
    pieces that are expected less than half a time; with that the
    likelihood may fall.

    >>> scores = dict.fromkeys(["a", "b", "ab"], math.log(1 / 3))
    >>> for _ in range(3):
    ...     scores, likelihood = em_step({"ab": 3, "a": 1}, scores)
    ...     print(round(likelihood, 3))
    -3.531
    -2.893
    -2.517
    """
    totals, likelihood = expected_totals(word_counts, scores)
    log_sum = math.log(math.fsum(totals.values())) if totals else 0.0
    new = {
        piece: math.log(totals[piece]) - log_sum
        for piece in scores
        if totals.get(piece, 0.0) > 0.0
    }
    # A character that no likely cut needs may yet be needed.
    for piece, score in scores.items():
        if len(piece) == 1:
            new.setdefault(piece, score)
    return new, likelihood


def _log_add(a: float, b: float) -> float:
    """Return log(exp(a) + exp(b)); minus infinity is the log of nothing."""
    high, low = max(a, b), min(a, b)
    return high if low == -math.inf else high + math.log1p(math.exp(low - high))
