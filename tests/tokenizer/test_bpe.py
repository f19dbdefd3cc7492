from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.tokenizer import TokenizerError, merge, merge_steps
from cutaway.tokenizer.bpe import merge_table
from oracles.slow_bpe import merge_word


def table_of(pairs: list[tuple[str, str]]) -> dict:
    return {pair: (rank, "".join(pair)) for rank, pair in enumerate(pairs)}


def test_the_worked_example_of_the_module():
    merges = table_of([("Ġ", "t"), ("h", "e"), ("Ġt", "he")])
    assert list(merge_steps("Ġthe", merges)) == [
        ["Ġ", "t", "h", "e"],
        ["Ġt", "h", "e"],
        ["Ġt", "he"],
        ["Ġthe"],
    ]
    assert merge("Ġthe", merges) == ["Ġthe"]


def test_the_lowest_rank_goes_first_not_the_leftmost_or_longest():
    merges = table_of([("b", "c"), ("a", "b"), ("ab", "c")])
    assert merge("abc", merges) == ["a", "bc"]


def test_of_equal_pairs_the_leftmost_goes_first():
    assert merge("aaa", table_of([("a", "a")])) == ["aa", "a"]


def test_a_merge_may_open_a_pair_of_lower_rank():
    merges = table_of([("ab", "a"), ("a", "b")])
    assert merge("ababa", merges) == ["aba", "b", "a"]


@pytest.mark.parametrize("word", ["", "a", "zz"])
def test_a_word_without_pairs_stays_as_it_is(word):
    assert merge(word, table_of([("a", "b")])) == list(word)
    assert list(merge_steps(word, table_of([("a", "b")]))) == [list(word)]


@st.composite
def words_and_merges(draw):
    """A word over three letters, and merges in an order no training gives."""
    pieces = ["a", "b", "c"]
    pairs = []
    for _ in range(draw(st.integers(0, 12))):
        pair = (draw(st.sampled_from(pieces)), draw(st.sampled_from(pieces)))
        if pair not in pairs:
            pairs.append(pair)
            pieces.append("".join(pair))
    word = draw(st.text("abc", max_size=60))
    return word, draw(st.permutations(pairs))


@given(words_and_merges())
def test_heap_and_textbook_and_oracle_agree(case):
    word, pairs = case
    expected = merge_word(
        list(word), {pair: rank for rank, pair in enumerate(pairs)}
    )
    assert merge(word, table_of(pairs)) == expected
    *_, last = merge_steps(word, table_of(pairs))
    assert last == expected


@given(words_and_merges())
def test_each_step_joins_one_pair_and_keeps_the_text(case):
    word, pairs = case
    steps = list(merge_steps(word, table_of(pairs)))
    assert ["".join(step) for step in steps] == [word] * len(steps)
    lengths = [len(step) for step in steps]
    assert lengths == list(range(len(word), len(word) - len(steps), -1))


class CountingTable(dict):
    """Merges that count how often they are asked."""

    asked = 0

    def get(self, *args):
        self.asked += 1
        return super().get(*args)

    def __getitem__(self, pair):
        self.asked += 1
        return super().__getitem__(pair)


@pytest.mark.parametrize("word", ["a", "ab", "abcabd"])
def test_work_grows_in_proportion_to_the_word(word):
    """A heap asks a bounded number of times per symbol, a scan n times."""
    pairs = [("a", "b"), ("a", "a"), ("aa", "aa"), ("ab", "c"), ("ab", "ab")]
    for length in (100, 1_000, 10_000):
        table = CountingTable(table_of(pairs))
        merge((word * length)[:length], table)
        assert table.asked <= 7 * length


def test_merge_table_keeps_ranks_and_ids():
    ids = {"a": 5, "b": 3, "ab": 9, "abb": 2}
    assert merge_table(["a b", "ab b"], ids) == {(5, 3): (0, 9), (9, 3): (1, 2)}


@pytest.mark.parametrize(
    ("merges", "got"),
    [
        (["a b", "c ab"], "'c ab', where 'cab' is no token"),
        (["a b", "b a"], "'b a', where 'ba' is no token"),
        (["a b", "ab"], "'ab', where '' is no token"),
        (["a b", "a b b"], "'a b b', where 'ab b' is no token"),
        (["a b", ""], "'', where '' is no token"),
    ],
)
def test_a_merge_that_is_not_of_tokens_names_its_place(merges, got):
    with pytest.raises(TokenizerError) as fault:
        merge_table(merges, {"a": 0, "b": 1, "ab": 2})
    assert fault.value.name == "merges[1]"
    assert fault.value.got == got


def test_a_pair_that_comes_twice_is_refused():
    with pytest.raises(TokenizerError, match="2 merges of 1 different pairs"):
        merge_table(["a b", "a b"], {"a": 0, "b": 1, "ab": 2})
