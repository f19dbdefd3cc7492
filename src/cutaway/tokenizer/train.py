"""Training byte-pair encoding: which pair is joined first, which next.

Start from single symbols. Count every pair of neighbours in the text, join
the most frequent pair everywhere, count again, and so on. The list of pairs
in the order in which they were joined is all that training leaves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from itertools import islice

from cutaway.core.checks import check_int
from cutaway.core.errors import ArgumentError
from cutaway.tokenizer.checks import check_special_tokens
from cutaway.tokenizer.corpus import PairCorpus, check_word_counts, count_words
from cutaway.tokenizer.pretokenize import Pretokenizer
from cutaway.tokenizer.spec import TokenizerSpec
from cutaway.tokenizer.symbols import BYTE_TO_SYMBOL, to_symbols
from cutaway.tokenizer.tokenizer import Tokenizer
from cutaway.tokenizer.vocab import CONTROL, NORMAL


@dataclass(frozen=True)
class MergeEvent:
    """One step of training.

    Attributes:
        rank: Its place in the list of merges, from 0.
        left: The left one of the two tokens that it joins.
        right: The right one.
        joined: The token that they become.
        count: How often the pair stood in the text.
        num_tokens: The tokens of the whole text after the merge.
    """

    rank: int
    left: str
    right: str
    joined: str
    count: int
    num_tokens: int


def merge_events(
    word_counts: Mapping[str, int], *, min_count: int = 1
) -> Iterator[MergeEvent]:
    """Yield the merges of training, one by one, until no pair is left.

    The most frequent pair is next. Among equally frequent ones it is the
    pair whose left token is older, then the one whose right token is. The
    single symbols count as oldest, in the order of their code points.

    Args:
        word_counts: How often each word occurs; a character of a word is
            a symbol.
        min_count: Stop when the next pair occurs less often.

    Raises:
        TokenizerError: The words are no mapping of non-empty texts.
        ArgumentError: A count is no integer from 1.

    Cost: O(log pairs) for each pair that a merge touches: the pairs wait in
    a heap, and an entry that is out of date is passed over.
    Source: Sennrich et al. 2016, arXiv 1508.07909, algorithm 1.
    Differs: their code leaves ties to the order of a dictionary. This rule
    for ties is that of Hugging Face ``tokenizers``.

    >>> for event in merge_events({"low": 5, "lower": 2, "wet": 2}):
    ...     print(event.left, event.right, event.count, event.num_tokens)
    l o 7 24
    lo w 7 17
    e r 2 15
    e t 2 13
    w et 2 11
    low er 2 9
    """
    words = check_word_counts(word_counts)
    check_int("min_count", min_count, low=1)
    return _events(words, min_count)


def _events(words: Mapping[str, int], min_count: int) -> Iterator[MergeEvent]:
    corpus = PairCorpus(words.items())
    ages = {symbol: age for age, symbol in enumerate(sorted(corpus.symbols))}

    def entry(pair: tuple[str, str]) -> tuple[int, int, int, tuple[str, str]]:
        left, right = pair
        return -corpus.pairs.get(pair, 0), ages[left], ages[right], pair

    heap = [entry(pair) for pair in corpus.pairs]
    heapify(heap)
    rank = 0
    while heap:
        item = heappop(heap)
        count, pair = -item[0], item[3]
        if count != corpus.pairs.get(pair, 0):
            continue  # out of date; an entry with the right count follows
        if count < min_count:
            return
        joined = "".join(pair)
        ages.setdefault(joined, len(ages))
        touched = corpus.merge(pair, joined)
        for other in touched:
            if other in corpus.pairs:
                heappush(heap, entry(other))
        yield MergeEvent(rank, *pair, joined, count, corpus.num_tokens)
        rank += 1


def train_bpe(
    texts: Iterable[str],
    *,
    vocab_size: int | None = None,
    num_merges: int | None = None,
    pretokenizer: str = "gpt-2",
    special_tokens: Sequence[str] = (),
    all_bytes: bool = True,
    min_count: int = 1,
) -> Tokenizer:
    """Train a byte-level BPE tokenizer from nothing.

    The vocabulary is the special tokens, then the bytes in the order of
    their symbols, then one token for each merge. Training ends early when
    no pair is left to join.

    Args:
        texts: What to train on.
        vocab_size: How many tokens to make; this or ``num_merges``.
        num_merges: How many merges to learn.
        pretokenizer: The cut into words: a name of ``Pretokenizer``.
        special_tokens: Texts that get ids of their own, the first ones.
        all_bytes: Give a token to all 256 bytes. With False only bytes
            that occur in the texts have one, and later text that holds
            another cannot be encoded.
        min_count: Learn no pair that occurs less often.

    Raises:
        TokenizerError: A text is no text, or a special token is no text,
            empty or given twice.
        ArgumentError: Neither or both sizes are given, or one is too small.

    Cost: seconds for a megabyte of English and a few thousand merges.
    Source: Sennrich et al. 2016, section 3.2; on bytes: Radford et al. 2019.
    Differs: the same merges and ids as ``BpeTrainer`` of Hugging Face
    ``tokenizers`` with ``ByteLevel`` cuts, ties included.

    >>> tokenizer = train_bpe(["low low lower wet"], num_merges=3)
    >>> [tokenizer.id_to_token(i) for i in tokenizer.encode("slow wet")]
    ['s', 'low', 'Ġ', 'w', 'e', 't']
    """
    special = check_special_tokens(special_tokens)
    words = _symbol_words(texts, Pretokenizer(pretokenizer))
    seen = BYTE_TO_SYMBOL if all_bytes else {c for word in words for c in word}
    symbols = sorted(seen)
    tokens = [*special, *symbols]
    if (vocab_size is None) == (num_merges is None):
        got = f"vocab_size={vocab_size}, num_merges={num_merges}"
        raise ArgumentError("size", got, "one of the two")
    if vocab_size is not None:
        check_int("vocab_size", vocab_size, low=len(tokens))
    if num_merges is not None:
        check_int("num_merges", num_merges, low=0)
    merges: list[str] = []
    known = set(tokens)
    events = merge_events(words, min_count=min_count)
    for event in islice(events, num_merges):
        if len(tokens) == vocab_size:
            break
        merges.append(f"{event.left} {event.right}")
        if event.joined not in known:  # two merges may make one token
            known.add(event.joined)
            tokens.append(event.joined)
    marked = len(special)
    return Tokenizer(
        TokenizerSpec(
            tokens=tokens,
            kinds=[CONTROL] * marked + [NORMAL] * (len(tokens) - marked),
            merges=merges,
            pre=pretokenizer,
        )
    )


def _symbol_words(
    texts: Iterable[str], pretokenizer: Pretokenizer
) -> dict[str, int]:
    """Return the words of some texts, in byte symbols, with their counts."""
    counts = count_words(texts, pretokenizer)
    return {to_symbols(word.encode()): n for word, n in counts.items()}
