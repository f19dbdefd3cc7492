"""The trace and the picture of merges refuse what they cannot show."""

from __future__ import annotations

import pytest

from cutaway.book.merge_ladder import merge_figure, merge_trace
from cutaway.core.errors import ArgumentError
from cutaway.tokenizer import train_bpe


def test_a_trace_needs_merges_and_the_cut_that_the_script_repeats():
    other = train_bpe(["low low"], num_merges=2)
    with pytest.raises(ArgumentError, match="got gpt-2, expected 'smollm'"):
        merge_trace(other, 1, ["a"])
    made = train_bpe(["low low"], num_merges=2, pretokenizer="smollm")
    for count, examples in ((0, ["a"]), (3, ["a"]), (1, [])):
        with pytest.raises(ArgumentError):
            merge_trace(made, count, examples)
    with pytest.raises(ArgumentError, match="at least one step"):
        merge_figure([])
