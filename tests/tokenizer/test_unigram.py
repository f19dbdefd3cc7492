"""Unigram, against ``tokenizers``, enumeration of all cuts and by hand."""

from __future__ import annotations

import json
import math
from collections import Counter
from itertools import combinations, pairwise

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st
from tokenizers import models, pre_tokenizers

from cutaway.book.texts import TEXTS
from cutaway.core.errors import ArgumentError
from cutaway.tokenizer import (
    TokenizerError,
    Unigram,
    em_step,
    expected_counts,
    train_unigram,
    unigram_rounds,
    viterbi,
)
from cutaway.tokenizer.corpus import count_words
from cutaway.tokenizer.unigram_em import expected_totals
from cutaway.tokenizer.unigram_train import _lifted, marked_words, prune
from oracles.nasty_text import CURATED, POOLS, random_texts

BYTES = [(f"<0x{byte:02X}>", 0.0) for byte in range(256)]


def all_cuts(text: str):
    for count in range(len(text)):
        for cuts in combinations(range(1, len(text)), count):
            ends = [*cuts, len(text)]
            yield [text[a:b] for a, b in zip([0, *cuts], ends, strict=True)]


def peer_of(ours: Unigram) -> tokenizers.Tokenizer:
    made = tokenizers.Tokenizer(
        models.Unigram(
            vocab=list(ours.pieces),
            unk_id=ours.unk_id,
            byte_fallback=ours.byte_fallback,
        )
    )
    made.pre_tokenizer = pre_tokenizers.Metaspace(
        prepend_scheme="always" if ours.dummy_prefix else "never", split=False
    )
    return made


@pytest.fixture(scope="module", params=["unknown", "bytes", "no prefix"])
def pieces(request) -> Unigram:
    """Trained on English and on parts of every pool, so much is unknown."""
    texts = [*TEXTS.values(), *(pool[:12] for pool in POOLS)]
    trained = train_unigram([*texts, *CURATED[::9]], vocab_size=800)
    control, others = trained.pieces[:1], trained.pieces[1:]
    if request.param == "bytes":
        return Unigram([*control, *BYTES, *others], byte_fallback=True)
    if request.param == "no prefix":
        return Unigram(trained.pieces, dummy_prefix=False)
    return trained


def test_ids_equal_tokenizers_on_nasty_texts(pieces):
    peer = peer_of(pieces)
    known = unknown = tried = 0
    for text in [*CURATED, *random_texts(1500, 12, frozenset())]:
        if pieces.dummy_prefix and text.startswith((" ", "▁")):
            continue  # there the two differ; see the tests below
        if "<unk>" in text:
            continue
        tried += 1
        ids = pieces.encode(text)
        assert ids == peer.encode(text).ids, ascii(text)
        mine = sum(i == 0 or pieces.pieces[i] in BYTES for i in ids)
        unknown += mine
        known += len(ids) - mine
    assert tried > 1000
    assert min(known, unknown) > 1000


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=200, deadline=None)
def test_ids_of_any_text_equal_tokenizers(pieces, text):
    if pieces.dummy_prefix:
        text = text.lstrip(" ▁")
    assert pieces.encode(text) == peer_of(pieces).encode(text).ids


def test_a_space_at_the_front_is_kept_here_and_lost_there():
    made = train_unigram(["a b a b"], vocab_size=6)
    assert made.decode(made.encode(" a")) == " a"
    assert made.decode(made.encode("a")) == "a"
    peer = peer_of(made)
    assert peer.encode(" a").ids == peer.encode("a").ids


def test_control_pieces_are_never_found_in_text():
    letters = [(char, -3.0) for char in "▁<>unk0x41"]
    made = Unigram([("<unk>", 0.0), *BYTES, *letters], byte_fallback=True)
    for text in ("<unk>", "<0x41>"):
        ids = made.encode(text)
        assert made.decode(ids) == text
        assert len(ids) == len(text) + 1
    assert 1 + 0x41 in peer_of(made).encode("<0x41>").ids


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(max_examples=300, deadline=None)
def test_with_bytes_decode_gives_back_what_encode_took(text):
    made = bytes_model()
    plain = text.replace("▁", "")
    ids = made.encode(plain)
    assert made.decode(ids) == plain
    assert 0 not in ids
    stream = made.stream()
    assert "".join(map(stream.push, ids)) + stream.finish() == plain


def bytes_model(made=[]) -> Unigram:  # noqa: B006
    if not made:
        made.append(
            train_unigram(TEXTS.values(), vocab_size=400, byte_fallback=True)
        )
    return made[0]


@given(st.lists(st.integers(0, 399), max_size=30))
@settings(max_examples=300, deadline=None)
def test_streamed_text_is_the_decoded_text_for_any_ids(ids):
    made = bytes_model()
    stream = made.stream()
    pieces = [stream.push(token_id) for token_id in ids]
    assert "".join(pieces) + stream.finish() == made.decode(ids)


def test_an_emoji_in_byte_pieces_comes_out_with_its_last():
    made = bytes_model()
    ids = made.encode("a 🙂")
    stream = made.stream()
    shown = [stream.push(token_id) for token_id in ids]
    assert shown[-4:] == ["", "", "", "🙂"]
    assert "".join(shown) == "a 🙂"


def test_a_push_that_raises_leaves_the_first_space_to_be_taken():
    made = bytes_model()
    stream = made.stream()
    with pytest.raises(TokenizerError, match="token_id"):
        stream.push(10_000)
    ids = made.encode("the")
    assert "".join(map(stream.push, ids)) == "the"


SCORES = st.dictionaries(
    st.text("ab", min_size=2, max_size=4), st.floats(-9, -0.1), max_size=9
).map(lambda more: {"a": -2.5, "b": -1.5, **more})


@given(st.text("ab", max_size=9), SCORES)
@settings(max_examples=300, deadline=None)
def test_the_best_cut_is_the_best_of_all(text, scores):
    found = viterbi(text, scores)
    assert "".join(found) == text
    if text:
        best = max(
            sum(scores[piece] for piece in cut)
            for cut in all_cuts(text)
            if all(piece in scores for piece in cut)
        )
        assert sum(scores[p] for p in found) == pytest.approx(best, abs=1e-12)


def test_of_equal_cuts_the_one_with_the_longest_last_piece_wins():
    scores = {"a": -1.0, "aa": -2.0, "aaa": -3.0}
    assert viterbi("aaaa", scores) == ["a", "aaa"]
    made = Unigram([("<unk>", 0.0), *scores.items()], dummy_prefix=False)
    for length in range(12):
        text = "a" * length
        assert made.encode(text) == peer_of(made).encode(text).ids


@given(st.text("ab", min_size=1, max_size=9), SCORES, st.integers(0, 9))
@settings(max_examples=100, deadline=None)
def test_the_longest_piece_may_be_given_and_too_long_does_not_matter(
    text, scores, more
):
    longest = max(map(len, scores)) + more
    assert viterbi(text, scores, longest=longest) == viterbi(text, scores)
    given = expected_counts(text, scores, longest)
    assert given == expected_counts(text, scores)


def test_encoding_does_not_go_over_the_vocabulary_for_each_text():
    class Counted(dict):
        passes = 0

        def __iter__(self):
            type(self).passes += 1
            return super().__iter__()

    made = train_unigram(TEXTS.values(), 100)
    made.scores = Counted(made.scores)
    made.encode("low lower")
    expected_totals({"low": 1, "lower": 2, "wet": 1}, Counted(made.scores))
    assert Counted.passes <= 2  # one copies the scores


@given(st.text("ab", min_size=1, max_size=9), SCORES)
@settings(max_examples=200, deadline=None)
def test_expected_counts_are_sums_over_all_cuts(word, scores):
    total, counts = 0.0, Counter()
    for cut in all_cuts(word):
        if all(piece in scores for piece in cut):
            p = math.exp(math.fsum(scores[piece] for piece in cut))
            total += p
            for piece in cut:
                counts[piece] += p
    log_p, got = expected_counts(word, scores)
    assert log_p == pytest.approx(math.log(total), abs=1e-9)
    assert set(got) == set(counts)
    for piece, count in counts.items():
        assert got[piece] == pytest.approx(count / total, rel=1e-9)


WORDS = st.dictionaries(
    st.text("ab", min_size=1, max_size=8), st.integers(1, 5), min_size=1,
    max_size=6,
)  # fmt: skip


@given(WORDS, SCORES)
@settings(max_examples=150, deadline=None)
def test_the_likelihood_never_falls_from_step_to_step(words, scores):
    log_sum = math.log(sum(map(math.exp, scores.values())))
    scores = {piece: score - log_sum for piece, score in scores.items()}
    before = -math.inf
    for _ in range(6):
        scores, likelihood = em_step(words, scores)
        assert likelihood >= before - 1e-9 * (1 + abs(likelihood))
        before = likelihood
        used = {p for w in words for p in expected_counts(w, scores)[1]}
        mass = math.fsum(math.exp(scores[piece]) for piece in used)
        assert mass == pytest.approx(1, abs=1e-9)


def test_training_on_the_books_texts_only_gains_within_a_round():
    words = count_words(TEXTS.values(), marked_words)
    rounds = list(unigram_rounds(words, 120, em_steps=3))
    assert len(rounds) > 3
    sizes = [len(one.scores) for one in rounds]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] <= 120 < sizes[-2]
    letters = {char for word in words for char in word}
    for one in rounds:
        assert list(one.likelihoods) == sorted(one.likelihoods)
        assert letters <= set(one.scores)


def test_a_round_begins_lower_because_rare_pieces_were_raised():
    words = {"low": 5, "lower": 2, "newest": 6, "widest": 3}
    rounds = list(unigram_rounds(words, 22, keep_share=0.6))
    assert [len(one.scores) for one in rounds] == [46, 27, 22]
    for before, after in pairwise(rounds):
        end, begin = before.likelihoods[-1], after.likelihoods[0]
        totals, _ = expected_totals(words, before.scores)
        raised = expected_totals(words, _lifted(before.scores, totals))[1]
        assert end - begin > 20
        assert 0.98 * (end - begin) < end - raised < end - begin
        assert abs(end - after.likelihoods[-1]) < 0.02


@given(WORDS, SCORES, st.integers(0, 12))
@settings(max_examples=100, deadline=None)
def test_pruning_keeps_characters_and_no_more_than_asked(words, scores, keep):
    kept = prune(words, scores, keep)
    assert {"a", "b"} <= set(kept) <= set(scores)
    assert len(kept) == min(len(scores), max(2, keep))
    assert all(kept[piece] == scores[piece] for piece in kept)


def test_pruning_drops_the_piece_that_is_replaced_at_least_cost():
    half = math.log(0.25)
    scores = {"a": half, "b": half, "ab": half, "ba": math.log(0.0626)}
    kept = prune({"ab": 9, "ba": 9}, scores, 3)
    assert set(kept) == {"a", "b", "ab"}


def test_training_gives_the_size_and_every_character():
    for size in (60, 120, 300):
        made = train_unigram(TEXTS.values(), size)
        assert made.vocab_size <= size
        for text in TEXTS.values():
            ids = made.encode(text)
            assert made.unk_id not in ids
            assert made.decode(ids) == text
    assert train_unigram(["ab"], 400, byte_fallback=True).pieces[1:257] == (
        tuple(BYTES)
    )


@pytest.mark.parametrize("byte_fallback", [False, True])
def test_text_that_spells_a_control_piece_does_not_learn_it(byte_fallback):
    text = "x<unk>x<unk>x<0x41>y<0x41>" * 20
    made = train_unigram([text], 400, byte_fallback=byte_fallback)
    names = [piece for piece, _ in made.pieces]
    assert names.count("<unk>") == 1
    assert any("<unk>" in name for name in names[1:])
    mass = math.fsum(map(math.exp, made.scores.values()))
    assert mass == pytest.approx(1, abs=1e-9)
    ids = made.encode(text)
    assert made.unk_id not in ids
    assert made.decode(ids) == text


def test_a_json_file_of_tokenizers_has_our_pieces():
    made = train_unigram(TEXTS.values(), 100)
    state = json.loads(peer_of(made).to_str())["model"]
    assert [tuple(piece) for piece in state["vocab"]] == list(made.pieces)


@pytest.mark.parametrize(
    ("pieces", "options", "message"),
    [
        ([], {}, "pieces: got"),
        ("ab", {}, "pieces: got 'ab'"),
        (None, {}, "pieces: got None"),
        ([("<unk>", 0), ("a",)], {}, r"pieces\[1\]: got \('a',\)"),
        ([("<unk>", 0), 3], {}, r"pieces\[1\]: got 3"),
        ([("<unk>", 0), ("", -1)], {}, r"pieces\[1\]: got ''"),
        ([("<unk>", 0), ("a", -1), ("a", -2)], {}, r"pieces\[2\]: got 'a'"),
        ([("<unk>", 0), ("a", math.nan)], {}, r"pieces\[1\]\[1\]: got nan"),
        ([("<unk>", 0), ("a", "x")], {}, r"pieces\[1\]\[1\]: got 'x'"),
        ([("a", -1)], {}, "unk_piece: got '<unk>'"),
        ([("<unk>", 0)], {"byte_fallback": True}, "pieces: got no <0x00>"),
    ],
)
def test_pieces_that_make_no_model_are_named(pieces, options, message):
    with pytest.raises(ValueError, match=message):
        Unigram(pieces, **options)


@pytest.mark.parametrize("bad", [None, 3, b"a", "\ud800"])
def test_what_is_no_text_is_refused(bad):
    for call in (bytes_model().encode, bytes_model().tokenize):
        with pytest.raises(TokenizerError, match="text: got"):
            call(bad)


@pytest.mark.parametrize("bad", [-1, 400, True, "a", None, 1.0])
def test_what_is_no_id_is_refused_with_its_place(bad):
    with pytest.raises(TokenizerError, match=r"ids\[1\]: got"):
        bytes_model().decode([0, bad])
    with pytest.raises(TokenizerError, match="token_id: got"):
        bytes_model().token_bytes(bad)


def test_a_text_without_a_cut_is_refused():
    with pytest.raises(TokenizerError, match="text: got 'abc'"):
        viterbi("abc", {"a": -1.0, "b": -1.0})
    with pytest.raises(TokenizerError, match="word: got 'abc'"):
        expected_counts("abc", {"a": -1.0, "b": -1.0})
    assert viterbi("", {}) == []


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"texts": "abc", "vocab_size": 9}, TokenizerError, "texts: got 'abc'"),
        ({"texts": [], "vocab_size": 9}, TokenizerError, "texts: got no text"),
        ({"texts": ["abc"], "vocab_size": 4}, ArgumentError, "vocab_size"),
        ({"texts": ["a"], "vocab_size": 2.5}, ArgumentError, "vocab_size"),
        (
            {"texts": ["a"], "vocab_size": 9, "max_piece_chars": 0},
            ArgumentError,
            "max_piece_chars: got 0",
        ),
    ],
)
def test_bad_training_arguments_are_named(arguments, error, message):
    with pytest.raises(error, match=message):
        train_unigram(**arguments)


@pytest.mark.parametrize(
    "options", [{"keep_share": 0}, {"keep_share": 1}, {"em_steps": 0}]
)
def test_bad_settings_of_rounds_are_named_before_the_first(options):
    with pytest.raises(ArgumentError, match=next(iter(options))):
        unigram_rounds({"ab": 1}, 5, **options)
