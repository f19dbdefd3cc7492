"""Training WordPiece: join the pair that is surprising, not the frequent one.

The loop is that of byte-pair encoding. What differs is which pair is next:
the one whose count is largest *for the counts of its two parts*. A pair
that always stands together comes before one that is frequent because its
parts are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain

from cutaway.core.checks import check_int
from cutaway.tokenizer.checks import check_special_tokens
from cutaway.tokenizer.corpus import PairCorpus, check_word_counts, count_words
from cutaway.tokenizer.train import MergeEvent
from cutaway.tokenizer.wordpiece import PREFIX, WordPiece, split_words


def wordpiece_events(
    word_counts: Mapping[str, int], *, min_count: int = 1
) -> Iterator[MergeEvent]:
    """Yield the merges of WordPiece training until no pair is left.

    Next is the pair of the highest score ``count(ab) / (count(a) *
    count(b))``. Among equal scores it is the more frequent pair, then the
    one whose left piece is older, then the one whose right piece is;
    single characters are oldest, in the order of their code points.

    Args:
        word_counts: How often each word occurs.
        min_count: Leave aside pairs that occur less often.

    Raises:
        TokenizerError: The words are no mapping of non-empty texts.
        ArgumentError: A count is no integer from 1.

    Cost: O(pairs) for each merge: a merge changes the scores of all pairs
    that share a part with it.
    Source: the score is that of the Hugging Face course, chapter 6. Schuster
    and Nakajima 2012 do not give it: they take the unit that raises the
    likelihood of the text most.
    Differs: the trainer of BERT's vocabulary was not published. Hugging
    Face ``tokenizers`` trains WordPiece by plain counts, as byte-pair
    encoding; TensorFlow Text goes from whole words downwards.

    >>> words = {"low": 5, "lower": 2, "wet": 4}
    >>> event = next(wordpiece_events(words))  # "l" "##o" is there 7 times
    >>> event.left, event.right, event.joined, event.count
    ('##e', '##t', '##et', 4)
    """
    words = check_word_counts(word_counts)
    check_int("min_count", min_count, low=1)
    return _events(words, min_count)


def _events(words: Mapping[str, int], min_count: int) -> Iterator[MergeEvent]:
    corpus = PairCorpus((characters(word), n) for word, n in words.items())
    ages = {symbol: age for age, symbol in enumerate(sorted(corpus.symbols))}

    def order(pair: tuple[str, str]) -> tuple[float, int, int, int]:
        left, right = pair
        count, parts = corpus.pairs[pair], corpus.symbols
        score = count / (parts[left] * parts[right])
        return -score, -count, ages[left], ages[right]

    rank = 0
    while True:
        pairs = [pair for pair, n in corpus.pairs.items() if n >= min_count]
        if not pairs:
            return
        pair = min(pairs, key=order)
        count = corpus.pairs[pair]
        joined = pair[0] + pair[1].removeprefix(PREFIX)
        ages.setdefault(joined, len(ages))
        corpus.merge(pair, joined)
        yield MergeEvent(rank, *pair, joined, count, corpus.num_tokens)
        rank += 1


def characters(word: str) -> list[str]:
    """Return the characters of a word, all but the first marked.

    >>> characters("low")
    ['l', '##o', '##w']
    """
    return [word[:1], *(PREFIX + char for char in word[1:])]


def train_wordpiece(
    texts: Iterable[str],
    vocab_size: int,
    *,
    special_tokens: Sequence[str] = ("[UNK]",),
    min_count: int = 1,
) -> WordPiece:
    """Train a WordPiece vocabulary from nothing.

    It is the special tokens, then the characters of the texts, then one
    piece for each merge; training ends early when no pair is left.

    Args:
        texts: What to train on; words are those of ``split_words``.
        vocab_size: How many pieces to make.
        special_tokens: Pieces that no word is made of; one is ``[UNK]``.
        min_count: Learn no pair that occurs less often.

    Raises:
        TokenizerError: A text is no text, or the special tokens are
            unusable.
        ArgumentError: ``vocab_size`` is too small for the characters.

    Source: as ``wordpiece_events``.

    >>> pieces = train_wordpiece(["low low lower wet wet"], vocab_size=10)
    >>> pieces.tokens[8:], pieces.tokenize("wet low, slow")
    (('##ow', 'low'), ['w', '##e', '##t', 'low', '[UNK]', '[UNK]'])
    """
    special = check_special_tokens(special_tokens)
    words = count_words(texts, split_words)
    alphabet = set(chain.from_iterable(map(characters, words)))
    tokens = [*special, *sorted(alphabet)]
    check_int("vocab_size", vocab_size, low=max(1, len(tokens)))
    known = set(tokens)
    for event in wordpiece_events(words, min_count=min_count):
        if len(tokens) == vocab_size:
            break
        if event.joined not in known:
            known.add(event.joined)
            tokens.append(event.joined)
    return WordPiece(tokens)
