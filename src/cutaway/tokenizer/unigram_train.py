"""Training a unigram model: start with too many pieces, throw the worst out.

Steps of expectation-maximisation find the probabilities of the pieces.
Then the pieces that would be missed least go, and the others share their
text, until as few are left as were asked for.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from cutaway.core.checks import check_int, check_real
from cutaway.tokenizer.corpus import check_word_counts, count_words
from cutaway.tokenizer.errors import TokenizerError
from cutaway.tokenizer.unigram import SPACE, Unigram, viterbi
from cutaway.tokenizer.unigram_em import em_step, expected_totals

_WORD = re.compile(f"{SPACE}[^{SPACE}]*|[^{SPACE}]+")


def marked_words(text: str) -> list[str]:
    """Cut text before every space, which is written as ``▁``.

    >>> marked_words("low  lower")
    ['▁low', '▁', '▁lower']
    """
    return _WORD.findall(SPACE + text.replace(" ", SPACE)) if text else []


def prune(
    word_counts: Mapping[str, int], scores: Mapping[str, float], keep: int
) -> dict[str, float]:
    """Return the pieces that would be missed most; characters all stay.

    A piece is missed by its expected count times what its best replacement
    by other pieces loses in log-probability.

    Args:
        word_counts: How often each word occurs.
        scores: The log-probability of each piece.
        keep: How many pieces to keep, characters included.

    Source: Kudo 2018, section 3.2, step (b) and (c).
    """
    totals, _ = expected_totals(word_counts, scores)
    others = dict(scores)
    longest = max(map(len, scores), default=1)

    def loss(piece: str) -> float:
        own = others.pop(piece)
        parts = viterbi(piece, others, longest=longest)
        instead = sum(others[part] for part in parts)
        others[piece] = own
        return totals.get(piece, 0.0) * (own - instead)

    longer = {piece: loss(piece) for piece in scores if len(piece) > 1}
    room = max(0, keep - (len(scores) - len(longer)))
    ranked = sorted(longer, key=lambda piece: (-longer[piece], piece))
    best = set(ranked[:room])
    return {
        piece: score
        for piece, score in scores.items()
        if len(piece) == 1 or piece in best
    }


def seed_pieces(
    word_counts: Mapping[str, int], max_piece_chars: int
) -> dict[str, float]:
    """Return the pieces to start with: all that occur more than once.

    Args:
        word_counts: How often each word occurs.
        max_piece_chars: The longest piece to consider.

    Returns:
        Every character and every run of characters of a word that occurs at
        least twice, with the log of its share of all such occurrences,
        longer ones counted for their length.

    >>> sorted(seed_pieces({"ab": 2, "abc": 1}, 2))
    ['a', 'ab', 'b', 'c']
    """
    counts: Counter[str] = Counter()
    for word, times in check_word_counts(word_counts).items():
        for start in range(len(word)):
            longest = min(len(word), start + max_piece_chars)
            for end in range(start + 1, longest + 1):
                counts[word[start:end]] += times
    seeds = {
        piece: count * len(piece)
        for piece, count in counts.items()
        if len(piece) == 1 or count > 1
    }
    total = sum(seeds.values())
    return {piece: math.log(n / total) for piece, n in seeds.items()}


@dataclass(frozen=True)
class UnigramRound:
    """The pieces after some steps of expectation-maximisation.

    Attributes:
        scores: The log-probability of each piece.
        likelihoods: The log-likelihood of the text before each step, and
            after the last. It never falls within a round.
    """

    scores: Mapping[str, float]
    likelihoods: tuple[float, ...]


def unigram_rounds(
    word_counts: Mapping[str, int],
    num_pieces: int,
    *,
    max_piece_chars: int = 16,
    keep_share: float = 0.75,
    em_steps: int = 2,
) -> Iterator[UnigramRound]:
    """Yield the rounds of training: probabilities found, then pieces cut.

    Args:
        word_counts: How often each word occurs, its space as ``▁``.
        num_pieces: Stop when no more pieces than this are left, or only
            single characters.
        max_piece_chars: The longest piece to consider.
        keep_share: The share of pieces that a round leaves to the next.
        em_steps: Steps of expectation-maximisation in a round.

    Raises:
        TokenizerError: The words are no mapping of non-empty texts.
        ArgumentError: A number is out of its range.

    Cost: O(characters of all different words) for a step; the losses of the
    pieces cost as much again for each of them.
    Source: Kudo 2018, arXiv 1804.10959, section 3.2.

    >>> rounds = list(unigram_rounds({"▁low": 5, "▁lower": 2}, 7))
    >>> sorted(rounds[-1].scores)
    ['e', 'l', 'o', 'r', 'w', '▁', '▁low']
    """
    words = check_word_counts(word_counts)
    check_int("num_pieces", num_pieces, low=1)
    check_int("max_piece_chars", max_piece_chars, low=1)
    check_real("keep_share", keep_share, 0, 0.99, open_low=True)
    check_int("em_steps", em_steps, low=1)
    seeds = seed_pieces(words, max_piece_chars)
    return _rounds(words, seeds, (num_pieces, keep_share, em_steps))


def _rounds(
    words: Mapping[str, int],
    scores: dict[str, float],
    settings: tuple[int, float, int],
) -> Iterator[UnigramRound]:
    num_pieces, keep_share, em_steps = settings
    while True:
        likelihoods = []
        for _ in range(em_steps):
            scores, likelihood = em_step(words, scores)
            likelihoods.append(likelihood)
        totals, likelihood = expected_totals(words, scores)
        likelihoods.append(likelihood)
        yield UnigramRound(scores, tuple(likelihoods))
        longer = sum(len(piece) > 1 for piece in scores)
        if len(scores) <= num_pieces or not longer:
            return
        keep = max(num_pieces, int(keep_share * len(scores)))
        scores = prune(words, _lifted(scores, totals), keep)


def train_unigram(
    texts: Iterable[str],
    vocab_size: int,
    *,
    byte_fallback: bool = False,
    max_piece_chars: int = 16,
) -> Unigram:
    """Train a unigram vocabulary from nothing.

    Args:
        texts: What to train on.
        vocab_size: How many pieces to keep: ``<unk>``, the 256 bytes if
            they are asked for, and at least every character of the texts.
        byte_fallback: Spell unknown characters in bytes.
        max_piece_chars: The longest piece to consider.

    Returns:
        The control pieces first, then the others, likeliest first. A
        character that the training text hardly needs by itself gets the
        score of the least likely piece that it does need.

    Raises:
        TokenizerError: A text is no text, or there is none to learn from.
        ArgumentError: ``vocab_size`` is too small for the characters.

    Cost: seconds for some thousand different words.
    Source: Kudo 2018, section 3.2.
    Differs: SentencePiece counts with digamma and limits the seeds; its
    pieces are similar, not the same.

    >>> made = train_unigram(["low low lower lowest wet"], vocab_size=12)
    >>> made.tokenize("low west")
    ['▁low', '▁', 'we', 's', 't']
    """
    words = count_words(texts, marked_words)
    if not words:
        raise TokenizerError("texts", "no text", "some text to learn from")
    control = ["<unk>"]
    if byte_fallback:
        control += [f"<0x{byte:02X}>" for byte in range(256)]
    alphabet = {char for word in words for char in word}
    least = len(control) + len(alphabet)
    check_int("vocab_size", vocab_size, low=least)
    rounds = unigram_rounds(
        words, vocab_size - len(control), max_piece_chars=max_piece_chars
    )
    *_, last = rounds
    # Text may spell a control piece: that is not to be found in it.
    found = {p: s for p, s in last.scores.items() if p not in control}
    totals, _ = expected_totals(words, found)
    scores = _lifted(found, totals)
    ranked = sorted(scores.items(), key=lambda item: (-item[1], item[0]))
    pieces = [*((piece, 0.0) for piece in control), *ranked]
    return Unigram(pieces, byte_fallback=byte_fallback)


def _lifted(
    scores: Mapping[str, float], totals: Mapping[str, float]
) -> dict[str, float]:
    """Raise what is used less than half a time to the least that is used.

    A letter that no likely cut needs has next to no probability after a few
    steps; as part of a replacement or of a new word it must count as rare,
    not as impossible. The probabilities add up to one again.
    """
    used = [s for piece, s in scores.items() if totals.get(piece, 0.0) >= 0.5]
    least = min(used, default=-math.inf)
    raised = {piece: max(score, least) for piece, score in scores.items()}
    log_sum = math.log(math.fsum(map(math.exp, raised.values())))
    return {piece: score - log_sum for piece, score in raised.items()}
