"""Layouts: the longest sequences that fit, and hybrids that keep states."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cutaway.roofline import (
    AttentionCache,
    KVLayout,
    break_even_tokens,
    max_tokens,
    model_layout,
)
from oracles.cache_layouts import FULL, LOCAL, STATE, layouts

# Budgets


@given(layouts, st.floats(0, 1e5), st.integers(1, 4), st.booleans())
def test_the_longest_sequences_are_those_that_just_fit(
    layout, room, batch, reserved
):
    size = layout.reserved_bytes if reserved else layout.floor_bytes
    longest = max_tokens(layout, room, batch_size=batch, reserved=reserved)
    if longest is None:
        assert batch * size(10**9) <= room
        return
    assert longest == 0 or batch * size(longest) <= room
    assert batch * size(longest + 1) > room


def test_slots_of_the_paged_attention_paper_are_in_gib():
    sizes = (("opt-13b", 12), ("opt-175b", 264))
    slots = [max_tokens(model_layout(n), gib * 2**30) for n, gib in sizes]
    assert slots == [15_728, 60_074]  # printed 15.7K and 60.1K
    decimal = [max_tokens(model_layout(n), gb * 10**9) for n, gb in sizes]
    assert decimal == [14_648, 55_948]


def test_where_the_cache_outweighs_the_weights():
    layout = model_layout("llama-3.1-8b")
    assert max_tokens(layout, 16_060_522_496) == 122_532


def test_a_model_without_full_attention_has_no_longest_sequence():
    state = KVLayout(((STATE,),))
    assert max_tokens(state, 160) is None
    assert max_tokens(state, 159) == 0
    local = KVLayout(((LOCAL,),))
    assert max_tokens(local, 5 * 64) is None
    assert max_tokens(local, 5 * 64 - 1) == 4


def test_break_even_is_the_first_length_at_which_the_hybrid_is_no_dearer():
    hybrid = KVLayout(((STATE,), (FULL,)))
    dense = KVLayout(((FULL,), (FULL,)))
    tokens = break_even_tokens(hybrid, dense)
    assert tokens == math.ceil(160 / 64)
    before = tokens - 1
    assert hybrid.floor_bytes(before) > dense.floor_bytes(before)
    assert hybrid.floor_bytes(tokens) <= dense.floor_bytes(tokens)
    assert break_even_tokens(dense, KVLayout(((LOCAL,), (LOCAL,)))) == 0
    assert break_even_tokens(hybrid, KVLayout(((),))) is None


# Published hybrids


def test_jamba_needs_an_eighth_of_the_attention():
    # Jamba-1.5, table 1: 4 and 9 GB at 256K tokens, which are GiB
    for name, gib, layers in (("mini", 4, 4), ("large", 9, 9)):
        layout = model_layout(f"jamba-1.5-{name}")
        rows = 2**18 * layout.bytes_per_token()
        assert rows == gib * 2**30
        kinds = [type(layer[0]) for layer in layout.layers]
        assert kinds.count(AttentionCache) == layers


def test_qwen3_next_breaks_even_at_1024_tokens():
    layout = model_layout("qwen3-next-80b-a3b")
    assert layout.bytes_per_token() == 24 * 1024
    recurrent = 36 * 32 * 128 * 128 * 4
    conv = 36 * 8192 * 3 * 2
    assert recurrent == 72 * 2**20
    assert layout.state_bytes() == recurrent + conv
    full = KVLayout((layout.layers[3],) * 48)
    assert recurrent == 1024 * 36 * 2048
    assert break_even_tokens(layout, full) == math.ceil(
        (recurrent + conv) / (36 * 2048)
    )


def test_other_hybrids_have_their_published_sizes():
    assert model_layout("qwen3.5-397b-a17b").bytes_per_token() == 30 * 1024
    kimi = model_layout("kimi-linear-48b-a3b")
    assert kimi.bytes_per_token() == 7 * 576 * 2
    # three of four layers keep no tokens: at most 75 % less than all 27
    whole = KVLayout((kimi.layers[3],) * 27)
    saved = 1 - kimi.bytes_per_token() / whole.bytes_per_token()
    assert saved == pytest.approx(20 / 27)
    kinds = [count for count, _ in model_layout("nemotron-h-8b").groups]
    assert sorted(kinds) == [4, 24, 24]
    assert model_layout("gemma-3n-e4b").groups[-1][0] == 15
