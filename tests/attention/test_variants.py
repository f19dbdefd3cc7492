"""Variants: what each mask shows, what each score becomes, how they combine."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from cutaway.attention import (
    AttentionVariant,
    alibi,
    alibi_slopes,
    causal,
    full,
    per_head,
    prefix_lm,
    sink_logits,
    sliding_window,
    softcap,
    streaming,
)
from cutaway.core import ArgumentError


def rows(variant, q_len, kv_len):
    """The mask as a list of texts, 1 where the query sees the key."""
    q_pos = np.arange(q_len)[:, None] + kv_len - q_len
    mask = variant.mask_mod(q_pos, np.arange(kv_len), 0)
    return ["".join(str(int(seen)) for seen in row) for row in mask]


def test_causal_is_aligned_at_the_end():
    assert rows(causal(), 2, 5) == ["11110", "11111"]


def test_a_window_counts_the_query_itself():
    assert rows(sliding_window(1), 3, 3) == ["100", "010", "001"]
    assert rows(sliding_window(3), 3, 5) == ["11100", "01110", "00111"]


def test_a_window_as_long_as_the_text_is_the_causal_mask():
    assert rows(sliding_window(5), 5, 5) == rows(causal(), 5, 5)
    assert rows(sliding_window(4), 5, 5) != rows(causal(), 5, 5)


def test_streaming_keeps_the_first_tokens_but_shows_no_future():
    assert rows(streaming(2, 1), 5, 5) == [
        "10000",
        "11000",
        "11100",
        "10110",
        "10011",
    ]
    assert rows(streaming(2, 3), 5, 5)[0] == "10000"
    assert rows(streaming(2, 0), 5, 5) == rows(sliding_window(2), 5, 5)


def test_a_prefix_sees_itself_both_ways_and_the_rest_is_causal():
    assert rows(prefix_lm(3), 4, 4) == ["1110", "1110", "1110", "1111"]
    assert rows(prefix_lm(0), 4, 4) == rows(causal(), 4, 4)


def test_full_hides_and_changes_nothing():
    assert full().mask_mod is None
    assert full().score_mod is None


def test_softcap_is_the_identity_near_zero_and_bounded_far_away():
    bend = softcap(50.0).score_mod
    for make in (np.asarray, torch.tensor):
        got = np.asarray(bend(make([0.0, 0.1, -30.0, 1e6, -1e6]), 0, 0, 0))
        want = [50 * math.tanh(x / 50) for x in (0, 0.1, -30, 1e6, -1e6)]
        np.testing.assert_allclose(got, want, rtol=1e-6)


def test_slopes_of_a_power_of_two_are_a_geometric_sequence():
    assert alibi_slopes(8) == tuple(1 / 2**k for k in range(1, 9))
    np.testing.assert_allclose(
        alibi_slopes(16), [2 ** (-k / 2) for k in range(1, 17)], rtol=1e-15
    )
    assert alibi_slopes(1) == (1 / 256,)


def test_slopes_of_other_counts_borrow_every_other_one_of_twice_the_power():
    assert alibi_slopes(12)[:8] == alibi_slopes(8)
    assert alibi_slopes(12)[8:] == alibi_slopes(16)[:8:2]
    assert alibi_slopes(9)[8:] == alibi_slopes(16)[:1]


@pytest.mark.parametrize("num_heads", range(1, 70))
def test_slopes_equal_those_of_bloom_in_transformers(num_heads):
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    ones = torch.ones(1, 2)  # at position 1 the bias is the slope
    bias = build_alibi_tensor(ones, num_heads, torch.float32)
    np.testing.assert_allclose(
        alibi_slopes(num_heads), bias[:, 0, 1].numpy(), rtol=1e-6
    )


def test_alibi_subtracts_slope_times_distance_in_each_head():
    bias = alibi(4).score_mod
    head = np.arange(4)[:, None]
    got = bias(np.zeros((4, 3)), 7, np.array([7, 5, 0]), head)
    want = [[-slope * d for d in (0, 2, 7)] for slope in alibi_slopes(4)]
    np.testing.assert_allclose(got, want, rtol=1e-15)


def test_combined_masks_both_hold_and_scores_apply_in_order():
    even = AttentionVariant(
        name="even", mask_mod=lambda q_pos, kv_pos, head: kv_pos % 2 == 0
    )
    assert rows(even & causal(), 3, 3) == ["100", "100", "101"]
    assert rows(causal() & even, 3, 3) == ["100", "100", "101"]
    assert rows(causal() & full(), 3, 3) == rows(causal(), 3, 3)
    double = AttentionVariant(score_mod=lambda s, q, k, h: 2 * s)
    plus = AttentionVariant(score_mod=lambda s, q, k, h: s + 1)
    assert (double & plus).score_mod(5, 0, 0, 0) == 11
    assert (plus & double).score_mod(5, 0, 0, 0) == 12


def test_a_combination_keeps_scale_sinks_heads_and_names():
    scaled = AttentionVariant(name="scaled", scale=0.25)
    both = scaled & sink_logits([1, 2, 3]) & causal()
    assert both.scale == 0.25
    assert both.sink_logit == (1.0, 2.0, 3.0)
    assert both.num_heads == 3
    assert repr(both) == "<AttentionVariant scaled & sink_logits & causal>"


def test_two_parts_that_contradict_each_other_are_refused():
    half = AttentionVariant(scale=0.5)
    for first, second, name in [
        (half, half, "scale"),
        (sink_logits([0.0]), sink_logits([0.0]), "sink_logit"),
        (alibi(4), alibi(8), "num_heads"),
        (alibi(4), sink_logits([0.0] * 3), "num_heads"),
    ]:
        with pytest.raises(ArgumentError) as info:
            first & second
        assert info.value.name == name
    with pytest.raises(TypeError):
        causal() & 3


def test_per_head_numbers_take_the_kind_and_dtype_of_the_scores():
    got = per_head((0.1, 0.2), np.array([1, 0]), np.zeros(2, np.float32))
    assert got.dtype == np.float32
    got = per_head((0.1, 0.2), torch.tensor([1, 0]), torch.zeros(2).double())
    assert got.dtype == torch.float64
    assert got.tolist() == [0.2, 0.1]


@pytest.mark.parametrize(
    ("make", "name"),
    [
        (lambda: sliding_window(0), "window"),
        (lambda: sliding_window(2.5), "window"),
        (lambda: streaming(0, 4), "window"),
        (lambda: streaming(4, -1), "sink_tokens"),
        (lambda: prefix_lm(-1), "prefix_tokens"),
        (lambda: softcap(0), "cap"),
        (lambda: softcap(float("inf")), "cap"),
        (lambda: alibi(0), "num_heads"),
        (lambda: alibi_slopes(True), "num_heads"),
        (lambda: alibi_slopes("8"), "num_heads"),
        (lambda: sink_logits([]), "sink_logit"),
        (lambda: sink_logits(3.0), "sink_logit"),
        (lambda: sink_logits([0.0, float("nan")]), "sink_logit[1]"),
        (lambda: AttentionVariant(mask_mod=3), "mask_mod"),
        (lambda: AttentionVariant(score_mod="tanh"), "score_mod"),
        (lambda: AttentionVariant(scale=-1.0), "scale"),
        (lambda: AttentionVariant(num_heads=0), "num_heads"),
        (
            lambda: AttentionVariant(num_heads=2, sink_logit=[0.0]),
            "num_heads",
        ),
    ],
)
def test_a_variant_that_makes_no_sense_is_named(make, name):
    with pytest.raises(ArgumentError) as info:
        make()
    assert info.value.name == name
