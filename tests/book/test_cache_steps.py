"""The trace of a cache: what passes compute, read and give."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway import LLM
from cutaway.book.cache_steps import MeteredCache, cache_figure, cache_steps
from cutaway.core import ArgumentError, KVCache
from cutaway.roofline import forward_counts
from oracles.tiny_model import write_tiny_model

PROMPT = [60, 61, 70, 62]
NAMES = {"start", "stop", "seen", "made", "read", "tokens", "kv", "flops"}
TOKEN_BYTES = 2 * 1 * 2 * 4 * 4  # K and V, a layer, 2 heads of 4, float32


@pytest.fixture(scope="module")
def llm(tmp_path_factory) -> LLM:
    folder = tmp_path_factory.mktemp("tiny")
    return LLM(write_tiny_model(folder / "tiny.gguf"), impl="numpy")


@pytest.fixture(scope="module")
def steps(llm) -> dict:
    return cache_steps(llm, PROMPT, 5)


def test_it_has_all_that_the_widget_reads(steps):
    assert set(steps) == {"tokens", "prompt", "cached", "uncached"}
    assert len(steps["tokens"]) == 4 + 5
    assert steps["prompt"] == 4
    for mode in ("cached", "uncached"):
        assert len(steps[mode]) == 5
        assert all(set(one) == NAMES for one in steps[mode])


def test_with_a_cache_each_token_is_computed_once(steps):
    spans = [(one["start"], one["stop"]) for one in steps["cached"]]
    assert spans == [(0, 4), (4, 5), (5, 6), (6, 7), (7, 8)]
    assert steps["cached"][-1]["tokens"] == 8


def test_without_one_all_are_computed_in_each_pass(steps):
    spans = [(one["start"], one["stop"]) for one in steps["uncached"]]
    assert spans == [(0, 4), (0, 5), (0, 6), (0, 7), (0, 8)]
    assert [one["seen"] for one in steps["uncached"]] == [0, 4, 5, 6, 7]
    assert steps["uncached"][-1]["tokens"] == 4 + 5 + 6 + 7 + 8


def test_bytes_are_those_of_the_tokens_read_and_made(steps):
    for mode in ("cached", "uncached"):
        total = 0
        for one in steps[mode]:
            count = one["stop"] - one["start"]
            assert one["made"] == count * TOKEN_BYTES
            assert one["read"] == one["start"] * TOKEN_BYTES
            total += one["read"]
            assert one["kv"] == total


def test_flops_are_those_of_the_roofline(steps, llm):
    for mode in ("cached", "uncached"):
        total = 0
        for one in steps[mode]:
            count = one["stop"] - one["start"]
            ops = forward_counts(llm.config, count, one["start"], logit_rows=1)
            total += sum(op.flops for op in ops)
            assert one["flops"] == total


@pytest.mark.parametrize(
    ("prompt", "count", "name"),
    [
        ([], 3, "prompt_token_ids"),
        (PROMPT, 0, "num_tokens"),
        (PROMPT, 61, "num_tokens"),
        (PROMPT, 1.5, "num_tokens"),
    ],
)
def test_bad_arguments_are_named(llm, prompt, count, name):
    with pytest.raises(ArgumentError) as info:
        cache_steps(llm, prompt, count)
    assert info.value.name == name


def test_the_figure_has_a_bar_for_each_kind_of_work(steps):
    left, right = cache_figure(steps).axes
    # the first pass is all new; then there are old tokens and a new one
    assert len(left.patches) == len(right.patches) == 1 + 2 * 4
    widths = [[bar.get_width() for bar in ax.patches] for ax in (left, right)]
    assert widths[0] == widths[1] == [4, 4, 1, 5, 1, 6, 1, 7, 1]


def test_the_figure_says_what_its_colours_mean(steps):
    fig = cache_figure(steps)
    [key] = fig.legends
    meaning = {
        patch.get_facecolor(): text.get_text()
        for patch, text in zip(key.get_patches(), key.texts, strict=True)
    }
    without, with_cache = (
        [meaning[bar.get_facecolor()] for bar in ax.patches] for ax in fig.axes
    )
    first = "computed for the first time"
    assert without == [first, *["computed again", first] * 4]
    assert with_cache == [first, *["read from the cache", first] * 4]


def test_a_metered_cache_is_a_cache(llm):
    cache = MeteredCache(llm.decoder.new_cache(9))
    assert isinstance(cache, KVCache)
    assert (cache.num_tokens, cache.truncation_floor) == (0, 0)
    assert cache.nbytes == 9 * TOKEN_BYTES
    want = llm.logits(PROMPT)
    assert np.array_equal(llm.decoder.forward(PROMPT, cache), want)
    assert (cache.read_bytes, cache.written_bytes) == (0, 4 * TOKEN_BYTES)
    cache.truncate(2)
    got = llm.decoder.forward(PROMPT[2:], cache)
    np.testing.assert_allclose(got, want[2:], atol=1e-5)
    assert cache.read_bytes == 2 * TOKEN_BYTES
    assert cache.num_tokens == 4
