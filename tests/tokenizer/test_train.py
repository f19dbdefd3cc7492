"""Training, against ``tokenizers``, a slow oracle and by hand."""

from __future__ import annotations

import json
import random
from collections import Counter
from itertools import pairwise

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import models, pre_tokenizers, trainers

from cutaway.book.texts import TEXTS
from cutaway.core.errors import ArgumentError
from cutaway.tokenizer import (
    BYTE_TO_SYMBOL,
    TokenizerError,
    merge_events,
    train_bpe,
    train_wordpiece,
)
from cutaway.tokenizer.corpus import PairCorpus
from oracles.nasty_text import CURATED, random_texts


def trained_by_peer(texts, vocab_size, special=(), all_bytes=True, min_count=0):
    """Hugging Face's vocabulary and merges of the same training."""
    peer = tokenizers.Tokenizer(models.BPE())
    peer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    trainer = trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=list(special),
        initial_alphabet=list(BYTE_TO_SYMBOL) if all_bytes else [],
        min_frequency=min_count,
        show_progress=False,
    )
    peer.train_from_iterator(texts, trainer)
    return peer


def as_spec(peer):
    vocab = peer.get_vocab()
    state = json.loads(peer.to_str())
    merges = [" ".join(pair) for pair in state["model"]["merges"]]
    return sorted(vocab, key=vocab.__getitem__), merges


@pytest.mark.parametrize("all_bytes", [True, False])
@pytest.mark.parametrize("min_count", [1, 2, 5])
def test_merges_and_ids_equal_tokenizers(all_bytes, min_count):
    texts = list(TEXTS.values())
    special = ["<|end|>", "<|start|>"]
    peer = trained_by_peer(texts, 600, special, all_bytes, min_count)
    ours = train_bpe(
        texts,
        vocab_size=600,
        special_tokens=special,
        all_bytes=all_bytes,
        min_count=min_count,
    )
    tokens, merges = as_spec(peer)
    assert list(ours.spec.merges) == merges
    assert list(ours.spec.tokens) == tokens
    assert len(merges) > 30


def test_ties_and_nasty_texts_are_learned_as_tokenizers_does(newer_characters):
    for seed in range(25):
        texts = random_texts(12, seed, newer_characters)
        size = random.Random(seed).randint(256, 500)
        tokens, merges = as_spec(trained_by_peer(texts, size))
        ours = train_bpe(texts, vocab_size=size)
        assert list(ours.spec.merges) == merges, seed
        assert list(ours.spec.tokens) == tokens


def test_two_merges_may_make_one_token():
    """``tokenizers`` counts tokens, not merges, and so do we."""
    texts = ["abc " * 3 + "zab " * 9 + "bcy " * 9 + "abcabc bc ab a"] * 2
    for size in range(256, 290):
        tokens, merges = as_spec(trained_by_peer(texts, size))
        ours = train_bpe(texts, vocab_size=size)
        assert (list(ours.spec.tokens), list(ours.spec.merges)) == (
            tokens,
            merges,
        )


def slow_merges(words: dict[str, int]) -> list[tuple[str, str, int, int]]:
    """Sennrich's loop: count all pairs of all words again for each merge."""
    cut = {word: list(word) for word in words}
    age = sorted({char for word in words for char in word})
    out = []
    while True:
        counts = Counter()
        for word, n in words.items():
            for pair in pairwise(cut[word]):
                counts[pair] += n
        if not counts:
            return out
        most = max(counts.values())
        left, right = min(
            (pair for pair in counts if counts[pair] == most),
            key=lambda pair: (age.index(pair[0]), age.index(pair[1])),
        )
        if left + right not in age:
            age.append(left + right)
        for word, symbols in cut.items():
            joined, place = [], 0
            while place < len(symbols):
                width = 1 + (symbols[place : place + 2] == [left, right])
                joined.append("".join(symbols[place : place + width]))
                place += width
            cut[word] = joined
        total = sum(n * len(cut[word]) for word, n in words.items())
        out.append((left, right, most, total))


WORDS = st.dictionaries(
    st.text("abc", min_size=1, max_size=9), st.integers(1, 5), max_size=6
)


@given(WORDS)
@settings(max_examples=300, deadline=None)
def test_events_equal_the_slow_oracle(words):
    events = [
        (event.left, event.right, event.count, event.num_tokens)
        for event in merge_events(words)
    ]
    assert events == slow_merges(words)


@given(WORDS, st.integers(1, 6))
@settings(max_examples=100, deadline=None)
def test_training_stops_at_the_first_pair_rarer_than_min_count(words, least):
    events = list(merge_events(words, min_count=least))
    everything = list(merge_events(words))
    assert events == everything[: len(events)]
    assert all(event.count >= least for event in events)
    rest = everything[len(events) :]
    assert not rest or rest[0].count < least
    assert [event.rank for event in events] == list(range(len(events)))


@given(st.lists(st.tuples(st.text("ab", min_size=1), st.integers(1, 3))))
@settings(max_examples=100, deadline=None)
def test_counts_of_pairs_are_those_of_the_words_after_every_merge(words):
    corpus = PairCorpus(words)
    pair = ("a", "b")
    for joined in ("ab", "abab"):
        corpus.merge(pair, joined)
        pairs, symbols = Counter(), Counter()
        for word, n in corpus._words:
            for found in pairwise(word):
                pairs[found] += n
            for symbol in word:
                symbols[symbol] += n
        assert corpus.pairs == pairs
        assert corpus.symbols == symbols
        assert corpus.num_tokens == symbols.total()
        pair = (joined, joined)


def test_a_word_of_equal_letters_is_joined_from_the_left():
    events = list(merge_events({"aaaaa": 1}))
    assert [(e.left, e.right, e.count) for e in events] == [
        ("a", "a", 4),
        ("aa", "a", 1),
        ("aa", "aaa", 1),
    ]


def test_what_was_trained_encodes_and_decodes_any_text(newer_characters):
    trained = train_bpe(TEXTS.values(), vocab_size=400)
    assert trained.vocab_size == 400
    assert not trained.missing_bytes
    for text in [*CURATED, *random_texts(200, 9, newer_characters)]:
        assert trained.decode(trained.encode(text)) == text


def test_without_all_bytes_only_those_seen_have_a_token():
    trained = train_bpe(["abc"], num_merges=1, all_bytes=False)
    assert trained.vocab_size == 4
    assert trained.missing_bytes == set(range(256)) - set(b"abc")
    with pytest.raises(TokenizerError, match="0x64"):
        trained.encode("abcd")


def test_no_text_gives_the_bytes_alone():
    assert train_bpe([], num_merges=5).vocab_size == 256
    assert train_bpe([""], vocab_size=300).vocab_size == 256
    assert list(merge_events({})) == []


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"texts": "abc", "num_merges": 1}, TokenizerError, "texts: got 'abc'"),
        ({"texts": 3, "num_merges": 1}, TokenizerError, "texts: got 3"),
        ({"texts": [3], "num_merges": 1}, TokenizerError, "text: got 3"),
        ({"texts": ["\ud800"], "num_merges": 1}, TokenizerError, "surrogate"),
        ({"texts": []}, ArgumentError, "expected one of the two"),
        (
            {"texts": [], "num_merges": 1, "vocab_size": 300},
            ArgumentError,
            "expected one of the two",
        ),
        ({"texts": [], "vocab_size": 255}, ArgumentError, "integer >= 256"),
        ({"texts": [], "num_merges": -1}, ArgumentError, "integer >= 0"),
        ({"texts": [], "num_merges": 1.5}, ArgumentError, "got 1.5"),
        (
            {"texts": [], "num_merges": 1, "min_count": 0},
            ArgumentError,
            "min_count: got 0",
        ),
        (
            {"texts": [], "num_merges": 1, "pretokenizer": "x"},
            TokenizerError,
            "got 'x', expected one of 'gpt-2'",
        ),
        (
            {"texts": [], "num_merges": 1, "special_tokens": "<a>"},
            TokenizerError,
            "special_tokens: got '<a>'",
        ),
        (
            {"texts": [], "num_merges": 1, "special_tokens": ["x", "x"]},
            TokenizerError,
            "every token once",
        ),
    ],
)
def test_bad_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        train_bpe(**arguments)


@pytest.mark.parametrize(
    ("special", "message"),
    [
        ("<a>", "special_tokens: got '<a>'"),
        (b"<a>", "special_tokens: got b'<a>'"),
        ({"<a>": 1}, "special_tokens: got {'<a>': 1}"),
        (None, "special_tokens: got None"),
        (["<a>", 3], r"special_tokens\[1\]: got 3"),
    ],
)
def test_special_tokens_are_checked_before_a_text_is_read(special, message):
    texts = iter(["low low"])
    for train in (train_bpe, train_wordpiece):
        with pytest.raises(TokenizerError, match=message):
            train(texts, vocab_size=300, special_tokens=special)
    assert next(texts) == "low low"


@pytest.mark.parametrize(
    "words", [None, ["a"], {"": 1}, {1: 1}, {"a": 0}, {"a": True}, {"a": 1.0}]
)
def test_bad_word_counts_are_refused_before_the_first_merge(words):
    with pytest.raises(ValueError, match=r"word_counts.*got"):
        merge_events(words)
