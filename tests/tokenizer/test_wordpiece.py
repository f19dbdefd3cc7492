"""WordPiece, against ``tokenizers``, a slow oracle and by hand."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import decoders, models, pre_tokenizers

from cutaway.book.texts import TEXTS
from cutaway.core.errors import ArgumentError
from cutaway.tokenizer import (
    TokenizerError,
    WordPiece,
    train_wordpiece,
    wordpiece_events,
)
from cutaway.tokenizer.wordpiece import split_words
from oracles.nasty_text import CURATED, POOLS, random_texts


def peer_of(ours: WordPiece) -> tokenizers.Tokenizer:
    made = tokenizers.Tokenizer(
        models.WordPiece(
            vocab=dict(ours.ids),
            unk_token=ours.unk_token,
            max_input_chars_per_word=ours.max_chars_per_word,
        )
    )
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.decoder = decoders.WordPiece(cleanup=False)
    return made


@pytest.fixture(scope="module")
def pieces() -> WordPiece:
    """Trained on English and on parts of every pool, so much is unknown."""
    texts = [*TEXTS.values(), *(pool[:12] for pool in POOLS)]
    return train_wordpiece([*texts, *CURATED[::9]], vocab_size=900)


@pytest.fixture(scope="module")
def newer_marks() -> frozenset[str]:
    """Characters that the two libraries class differently."""
    peer = pre_tokenizers.BertPreTokenizer()
    chars = [*map(chr, range(0xD800)), *map(chr, range(0xE000, 0x20000))]
    return frozenset(
        char
        for char in chars
        if [word for word, _ in peer.pre_tokenize_str(f"a{char}b")]
        != split_words(f"a{char}b")
    )


def test_ids_equal_tokenizers_on_nasty_texts(pieces, newer_marks):
    peer = peer_of(pieces)
    known = unknown = 0
    for text in [*CURATED, *random_texts(1500, 11, newer_marks)]:
        ids = pieces.encode(text)
        assert ids == peer.encode(text).ids, ascii(text)
        assert pieces.decode(ids) == peer.decode(ids)
        unknown += ids.count(0)
        known += len(ids) - ids.count(0)
    assert min(known, unknown) > 1000


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=300, deadline=None)
def test_ids_of_any_text_equal_tokenizers(pieces, newer_marks, text):
    text = "".join(char for char in text if char not in newer_marks)
    assert pieces.encode(text) == peer_of(pieces).encode(text).ids


@given(st.text("etaoinshrdlu ,.'"))
def test_decoding_gives_the_words_with_one_space_between(pieces, text):
    assert "[UNK]" not in pieces.tokenize(text)
    assert pieces.decode(pieces.encode(text)) == " ".join(split_words(text))


def test_a_word_is_unknown_as_a_whole():
    made = WordPiece(["[UNK]", "un", "##aff", "##able", "u"])
    assert made.split_word("unaffable") == ["un", "##aff", "##able"]
    assert made.split_word("unaffected") == ["[UNK]"]
    assert made.split_word("able") == ["[UNK]"]


def test_greedy_does_not_look_back():
    """ "ab" + "##c" would do, but "abc" is longer and then "##d" is missing."""
    made = WordPiece(["[UNK]", "a", "ab", "abc", "##cd"])
    assert made.split_word("abcd") == ["[UNK]"]
    assert peer_of(made).encode("abcd").tokens == ["[UNK]"]


@pytest.mark.parametrize("limit", [1, 5, 100])
def test_a_word_of_more_than_the_limit_is_unknown(limit):
    made = WordPiece(["[UNK]", "é", "##é"], max_chars_per_word=limit)
    assert len(made.split_word("é" * limit)) == limit
    assert made.split_word("é" * (limit + 1)) == ["[UNK]"]
    for length in (limit, limit + 1):
        word = "é" * length
        assert made.encode(word) == peer_of(made).encode(word).ids


def test_the_longest_word_is_that_of_hugging_face():
    peer = models.WordPiece({"[UNK]": 0}, unk_token="[UNK]")
    ours = WordPiece(["[UNK]"])
    assert ours.max_chars_per_word == peer.max_input_chars_per_word == 100


def slow_merges(words: dict[str, int]) -> list[tuple[str, str, str, int]]:
    """The loop in exact fractions, all counts made again for each merge."""
    cut = {w: [w[0], *("##" + c for c in w[1:])] for w in words}
    age = sorted({piece for pieces in cut.values() for piece in pieces})
    out = []
    while True:
        single, double = Counter(), Counter()
        for word, n in words.items():
            for piece in cut[word]:
                single[piece] += n
            for pair in pairwise(cut[word]):
                double[pair] += n
        if not double:
            return out
        left, right = min(
            double,
            key=lambda p: (
                -Fraction(double[p], single[p[0]] * single[p[1]]),
                -double[p],
                age.index(p[0]),
                age.index(p[1]),
            ),
        )
        joined = left + right[2:]
        if joined not in age:
            age.append(joined)
        for word, pieces in cut.items():
            new, place = [], 0
            while place < len(pieces):
                if pieces[place : place + 2] == [left, right]:
                    new.append(joined)
                    place += 2
                else:
                    new.append(pieces[place])
                    place += 1
            cut[word] = new
        out.append((left, right, joined, double[left, right]))


@given(
    st.dictionaries(
        st.text("abc#", min_size=1, max_size=8), st.integers(1, 5), max_size=6
    )
)
@settings(max_examples=200, deadline=None)
def test_events_equal_the_slow_oracle(words):
    events = [
        (event.left, event.right, event.joined, event.count)
        for event in wordpiece_events(words)
    ]
    assert events == slow_merges(words)


def test_the_score_prefers_a_pair_that_is_always_together():
    """The score of "q" "##u" is 1/3; of the frequent "e" "##r" 9/200."""
    words = {"qu": 3, "er": 9, "e": 1, "xr": 11}
    first, *_ = wordpiece_events(words)
    assert (first.left, first.right) == ("q", "##u")


def test_training_keeps_every_character_and_the_size():
    for size in (100, 150, 250):
        made = train_wordpiece(TEXTS.values(), size)
        assert made.vocab_size == size
        for text in TEXTS.values():
            assert 0 not in made.encode(text)


def test_tokens_become_fewer_with_a_larger_vocabulary():
    sizes = [90, 120, 180, 300]
    lengths = [
        sum(len(made.encode(text)) for text in TEXTS.values())
        for made in (train_wordpiece(TEXTS.values(), size) for size in sizes)
    ]
    assert lengths == sorted(lengths, reverse=True)
    assert lengths[-1] < lengths[0]


@pytest.mark.parametrize(
    ("tokens", "options", "message"),
    [
        ([], {}, "tokens: got"),
        ("[UNK]", {}, "tokens: got"),
        (None, {}, "tokens: got None"),
        (["[UNK]", ""], {}, r"tokens\[1\]: got ''"),
        (["[UNK]", "a", "a"], {}, r"tokens\[2\]: got 'a'"),
        (["[UNK]", 3], {}, r"tokens\[1\]: got 3"),
        (["a"], {}, r"unk_token: got '\[UNK\]'"),
        (["a"], {"unk_token": None}, "unk_token: got None"),
        (["[UNK]"], {"max_chars_per_word": 0}, "max_chars_per_word: got 0"),
    ],
)
def test_pieces_that_make_no_vocabulary_are_named(tokens, options, message):
    with pytest.raises(ValueError, match=message):
        WordPiece(tokens, **options)


@pytest.mark.parametrize("bad", [None, 3, b"a", "\ud800"])
def test_what_is_no_text_is_refused(pieces, bad):
    for call in (pieces.encode, pieces.tokenize):
        with pytest.raises(TokenizerError, match="text: got"):
            call(bad)


@pytest.mark.parametrize("bad", [-1, 10**6, True, "a", None, 1.0])
def test_what_is_no_id_is_refused_with_its_place(pieces, bad):
    with pytest.raises(TokenizerError, match=r"ids\[1\]: got"):
        pieces.decode([0, bad])


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        (("abc", 9), TokenizerError, "texts: got 'abc'"),
        ((["abc"], 3), ArgumentError, "vocab_size: got 3"),
        ((["abc"], "9"), ArgumentError, "vocab_size: got '9'"),
        (([3], 9), TokenizerError, "text: got 3"),
    ],
)
def test_bad_training_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        train_wordpiece(*arguments)
    with pytest.raises(TokenizerError, match="special_tokens: got"):
        train_wordpiece(["a"], 9, special_tokens="[UNK]")
    with pytest.raises(TokenizerError, match="unk_token"):
        train_wordpiece(["a"], 9, special_tokens=["<unk>"])
    with pytest.raises(ArgumentError, match="min_count: got 0"):
        train_wordpiece(["a"], 9, min_count=0)
    with pytest.raises(ValueError, match="word_counts"):
        wordpiece_events({"a": 0})


def test_order_of_words_does_not_matter():
    words = [word for text in TEXTS.values() for word in split_words(text)]
    shuffled = random.Random(2).sample(words, len(words))
    one = train_wordpiece([" ".join(words)], 200)
    assert one.tokens == train_wordpiece([" ".join(shuffled)], 200).tokens
