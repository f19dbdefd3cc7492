"""The cache with a budget against loops, and against the plain cache."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cutaway.attention import (
    AttentionVariant,
    alibi,
    sink_logits,
    sliding_window,
    softcap,
)
from cutaway.core import ArgumentError, AttendingCache
from cutaway.decoder import Decoder, Params, generate_tokens, token_losses
from cutaway.kvcache import (
    H2O,
    CacheFullError,
    EvictingCache,
    Recent,
    RollingCache,
    SnapKV,
    make_cache,
)
from cutaway.layers import Rotation, rope_frequencies
from cutaway.roofline import CONFIGS
from cutaway.sampling import SamplingParams
from kvcache.cache_twin import small_config
from oracles import eviction_loops

TEXT = [3, 1, 4, 1, 5, 0, 2, 6, 5, 3, 5, 8, 7, 2]
ONE = small_config(num_layers=1)
RULES = {
    "recent": (Recent(), eviction_loops.recent(0)),
    "sinks": (Recent(2), eviction_loops.recent(2)),
    "h2o": (H2O(2), eviction_loops.h2o(2)),
    "heavy": (H2O(0), eviction_loops.h2o(0)),
    "snapkv": (SnapKV(2, 3), eviction_loops.snapkv(2, 3)),
    "votes": (SnapKV(3, 1), eviction_loops.snapkv(3, 1)),
}
PASSES = [
    [1] * 14,
    [14],
    [8, 1, 1, 1, 3],
    [5, 4, 5],
    [2, 1, 6, 1, 1, 1, 1, 1],
]


@pytest.fixture
def numbers():
    rng = np.random.default_rng(3)
    return [3 * rng.standard_normal((14, heads, 6)) for heads in (4, 2, 2)]


def rope_of(impl="numpy"):
    return Rotation(rope_frequencies(6, 1e4), layout="interleaved", impl=impl)


def attend(cache, numbers, passes, variant=None):
    """Outputs of all passes, and the positions kept after each."""
    wrap = torch.from_numpy if cache.impl == "torch" else np.asarray
    out, shown, start = [], [], 0
    for count in passes:
        q, k, v = (wrap(x[start : start + count]) for x in numbers)
        got = cache.attend(
            0, q, k, v, rope=rope_of(cache.impl), variant=variant
        )
        out.append(np.asarray(got))
        shown.append(cache.positions(0).T.tolist())
        start += count
    return np.concatenate(out), shown


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("passes", PASSES, ids=str)
@pytest.mark.parametrize("rule", RULES)
def test_it_equals_the_loops_whatever_the_budget(rule, passes, impl, numbers):
    policy, loops = RULES[rule]
    for budget in (1, 3, 4, 7, 20):
        for variant, cap in [(None, None), (softcap(2.0), 2.0)]:
            cache = EvictingCache(
                ONE,
                budget,
                policy=policy,
                chunk_tokens=max(passes),
                impl=impl,
                dtype="float64",
            )
            got, shown = attend(cache, numbers, passes, variant)
            want, kept = eviction_loops.read(
                *numbers,
                passes,
                budget=budget,
                room=max(passes),
                rule=loops,
                theta=1e4,
                layout="interleaved",
                cap=cap,
            )
            assert shown == kept, budget
            assert np.abs(got - want).max() < 1e-12, budget


def test_the_rules_do_keep_different_tokens(numbers):
    kept = {
        name: attend(evicting(5, policy), numbers, [1] * 14)[1][-1]
        for name, (policy, _) in RULES.items()
        if not policy.prompts_only
    }
    assert kept["recent"] == [[8, 9, 10, 11, 12, 13]] * 2
    assert kept["sinks"] == [[0, 1, 10, 11, 12, 13]] * 2
    assert kept["h2o"][0] != kept["h2o"][1]  # each head has its own
    assert kept["heavy"] not in (kept["h2o"], kept["recent"])


def evicting(budget, policy, config=ONE, *, impl="numpy", chunk=14):
    return EvictingCache(
        config,
        budget,
        policy=policy,
        chunk_tokens=chunk,
        impl=impl,
        dtype="float64",
    )


def decoder_of(impl="numpy", variant=None, **changes):
    config = small_config(**changes)
    params = Params.random(config, 1, impl=impl, dtype="float64")
    return Decoder(config, params, impl=impl, variant=variant)


def read(decoder, text, cache, chunk):
    starts = range(cache.num_tokens, len(text), chunk)
    return np.concatenate(
        [decoder.forward(text[i : i + chunk], cache) for i in starts]
    )


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("window", [None, 3])
@pytest.mark.parametrize("rule", RULES)
def test_with_room_for_all_it_is_the_plain_cache_to_the_bit(rule, window, impl):
    decoder = decoder_of(impl, window=window)
    for chunk in (1, 3, 14):
        plain = decoder.new_cache(14)
        cache = evicting(14, RULES[rule][0], decoder.config, impl=impl)
        want = read(decoder, TEXT, plain, chunk)
        got = read(decoder, TEXT, cache, chunk)
        # the plain cache cuts keys off that this one masks
        room = 0 if window is None else 1e-12
        np.testing.assert_allclose(got, want, rtol=0, atol=room)
        assert cache.truncation_floor == 0
        for layer in range(3):
            for mine, its in zip(
                cache.view(layer), plain.view(layer), strict=True
            ):
                np.testing.assert_allclose(mine, its, rtol=0, atol=room)


SINKS = (0.5, -1.0, 2.0, 0.0)


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize(
    "variant",
    [sink_logits(SINKS), alibi(4), AttentionVariant(scale=0.7)],
    ids=repr,
)
def test_variants_reach_the_attention_and_the_weights(impl, variant):
    decoder = decoder_of(impl, variant=variant)
    cache = evicting(14, H2O(1), decoder.config, impl=impl)
    want = read(decoder, TEXT, decoder.new_cache(14), 3)
    got = read(decoder, TEXT, cache, 3)
    np.testing.assert_allclose(got, want, atol=1e-12)
    # all weight that the queries gave away has been noted
    totals = cache._layers[0].scores.sum(axis=1)
    full = 14 * 2  # queries, heads in a group
    if variant.sink_logit is None:
        np.testing.assert_allclose(totals, full, rtol=1e-5)
    else:
        assert (totals < 0.95 * full).all()


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("chunk", [1, 2, 4])
def test_a_window_counts_places_of_the_text_not_of_the_cache(impl, chunk):
    decoder = decoder_of(impl, window=4)
    rolling = RollingCache(
        decoder.config, 14, chunk_tokens=chunk, impl=impl, dtype="float64"
    )
    want = read(decoder, TEXT, rolling, chunk)
    cache = evicting(3, Recent(), decoder.config, impl=impl)
    np.testing.assert_allclose(
        read(decoder, TEXT, cache, chunk), want, atol=1e-12
    )
    # tokens from the beginning, kept, are beyond the window: unseen
    cache = evicting(5, Recent(2), decoder.config, impl=impl)
    np.testing.assert_allclose(
        read(decoder, TEXT, cache, chunk), want, atol=1e-12
    )


def test_each_query_head_sees_the_places_of_its_own_group(numbers):
    variant = sliding_window(5) & alibi(4)
    got = {}
    for impl in ("numpy", "torch"):
        cache = evicting(5, H2O(1), impl=impl)
        got[impl] = attend(cache, numbers, [6, 1, 1, 3, 3], variant)
    assert got["numpy"][1] == got["torch"][1]
    assert got["numpy"][1][-1][0] != got["numpy"][1][-1][1]
    np.testing.assert_allclose(got["numpy"][0], got["torch"][0], atol=1e-12)


@pytest.mark.parametrize("rule", RULES)
def test_a_pass_that_was_undone_leaves_no_trace(rule):
    policy = RULES[rule][0]
    decoder = decoder_of()
    straight, undone = (evicting(4, policy, decoder.config) for _ in range(2))
    for start, stop in [(0, 6), (6, 7), (7, 8), (8, 11), (11, 14)]:
        want = decoder.forward(TEXT[start:stop], straight)
        decoder.forward([0, 7, 7], undone)
        undone.truncate(start)
        got = decoder.forward(TEXT[start:stop], undone)
        assert np.array_equal(got, want)
        for layer in range(3):
            assert np.array_equal(
                undone.positions(layer), straight.positions(layer)
            )


def test_part_of_a_pass_may_be_forgotten():
    decoder = decoder_of()
    cache = evicting(4, H2O(2), decoder.config)
    read(decoder, TEXT[:10], cache, 5)
    assert cache.truncation_floor == 5
    cache.truncate(7)
    assert cache.num_tokens == 7
    for layer in range(3):
        assert cache.positions(layer)[-2:].tolist() == [[5, 5], [6, 6]]
        assert (np.diff(cache.positions(layer), axis=0) > 0).all()
    decoder.forward(TEXT[7:9], cache)
    assert cache.positions(0)[-2:].tolist() == [[7, 7], [8, 8]]


def test_snapkv_compresses_a_prompt_and_keeps_the_answer():
    decoder = decoder_of()
    cache = evicting(4, SnapKV(2, 1), decoder.config, chunk=8)
    decoder.forward(TEXT[:8], cache)
    assert len(cache.positions(0)) == 8  # a pass stays until the next
    for token in TEXT[8:12]:
        decoder.forward([token], cache)
    assert len(cache.positions(0)) == 4 + 4
    assert cache.positions(0)[2:].tolist() == [[i, i] for i in range(6, 12)]
    decoder.forward(TEXT[12:14], cache)  # a second question
    decoder.forward([1], cache)
    assert len(cache.positions(0)) == 4 + 1


def test_snapkv_cuts_an_answer_only_when_there_is_no_room_left():
    cache = evicting(4, SnapKV(2, 1), chunk=3)
    row = np.ones((1, 2, 6))
    lengths = []
    for _ in range(12):
        cache.append(0, row, row)
        lengths.append(len(cache.view(0)[0]))
    assert lengths == [1, 2, 3, 4, 5, 6, 7, 5, 6, 7, 5, 6]


@pytest.mark.parametrize("name", ["h2o", "snapkv"])
def test_a_model_answers_the_same_by_name_while_the_text_is_short(name):
    decoder = decoder_of()
    params = SamplingParams(temperature=0, max_tokens=6)
    answers = [
        [
            step.token_id
            for step in generate_tokens(
                decoder, TEXT, params, stop_token_ids=(), cache=cache
            )
        ]
        for cache in (None, decoder.new_cache(19, kind=name))
    ]
    assert answers[0] == answers[1]


def test_losses_differ_once_tokens_are_dropped():
    decoder = decoder_of()
    plain = token_losses(decoder, TEXT)
    cache = evicting(3, H2O(1), decoder.config)
    dropped = token_losses(decoder, TEXT, cache=cache, chunk_size=1)
    assert np.array_equal(plain[:4].round(9), dropped[:4].round(9))
    assert np.abs(plain - dropped).max() > 1e-3


class FaultyError(Exception):
    pass


class Faulty(H2O):
    def scored(self, scores, weights):
        raise FaultyError


@pytest.mark.parametrize("call", ["rope", "variant", "policy"])
def test_a_fault_inside_the_attention_leaves_the_cache_as_it_was(call):
    decoder = decoder_of()
    cache = evicting(4, H2O(2), decoder.config)
    read(decoder, TEXT[:10], cache, 2)
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((3, n, 6)) for n in (4, 2, 2))
    kept_by_next_pass = evicting(4, H2O(2), decoder.config)
    read(decoder, TEXT[:10], kept_by_next_pass, 2)
    decoder.forward(TEXT[10:11], kept_by_next_pass)

    def broken(*_):
        raise FaultyError

    rope, variant, policy = rope_of(), None, cache.policy
    if call == "rope":
        rope = broken
    elif call == "variant":
        variant = AttentionVariant(mask_mod=broken)
    else:
        cache.policy = Faulty(2)
    with pytest.raises(FaultyError):
        cache.attend(1, q, k, v, rope=rope, variant=variant)
    cache.policy = policy
    assert cache.num_tokens == 10
    decoder.forward(TEXT[10:11], cache)
    for layer in range(3):
        for mine, its in zip(
            cache.view(layer), kept_by_next_pass.view(layer), strict=True
        ):
            assert np.array_equal(mine, its)


def test_a_failed_forward_pass_is_rolled_back():
    decoder = decoder_of()
    cache = evicting(4, H2O(2), decoder.config)
    read(decoder, TEXT[:10], cache, 2)

    def stop(name, layer, array):
        if (name, layer) == ("attn_out", 1):
            raise FaultyError

    with pytest.raises(FaultyError):
        decoder.forward(TEXT[10:12], cache, observe=stop)
    assert cache.num_tokens == 10
    other = evicting(4, H2O(2), decoder.config)
    read(decoder, TEXT[:10], other, 2)
    want = decoder.forward(TEXT[10:12], other)
    assert np.array_equal(decoder.forward(TEXT[10:12], cache), want)


def test_a_layer_that_runs_ahead_can_still_be_called_back():
    config = small_config()
    cache = evicting(4, Recent(), config, chunk=6)
    row = np.ones((2, 2, 6))
    for _ in range(3):
        for layer in range(3):
            cache.append(layer, row, row)
    for _ in range(3):
        cache.append(0, row, row)
    with pytest.raises(CacheFullError, match="chunk_tokens = 6"):
        cache.append(0, row, row)
    assert cache.truncation_floor == cache.num_tokens == 6
    cache.truncate(6)
    assert cache.positions(0)[:, 0].tolist() == [2, 3, 4, 5]


def test_a_pass_longer_than_the_chunk_is_refused():
    decoder = decoder_of()
    cache = evicting(4, H2O(2), decoder.config, chunk=3)
    with pytest.raises(CacheFullError, match="4 tokens in one pass"):
        decoder.forward(TEXT[:4], cache)
    assert cache.num_tokens == 0


def test_positions_are_those_of_the_text_so_it_ends_with_the_model():
    decoder = decoder_of(max_seq_len=10)
    cache = evicting(4, Recent(), decoder.config)
    read(decoder, TEXT[:10], cache, 1)
    with pytest.raises(ArgumentError, match="10"):
        decoder.forward([1], cache)
    assert cache.num_tokens == 10


def test_positions_are_a_copy():
    cache = evicting(4, Recent())
    cache.append(0, np.ones((2, 2, 6)), np.ones((2, 2, 6)))
    cache.positions(0)[:] = 99
    assert cache.positions(0).tolist() == [[0, 0], [1, 1]]
    with pytest.raises(ArgumentError) as info:
        cache.positions(1)
    assert info.value.name == "layer"


@pytest.mark.parametrize(
    ("budget", "chunk", "name"),
    [
        (0, 1, "budget_tokens"),
        (2.0, 1, "budget_tokens"),
        (4, 0, "chunk_tokens"),
    ],
)
def test_bad_sizes_are_refused_by_name(budget, chunk, name):
    with pytest.raises(ArgumentError) as info:
        EvictingCache(ONE, budget, policy=Recent(), chunk_tokens=chunk)
    assert info.value.name == name


def test_latent_attention_has_no_heads_to_choose_for():
    with pytest.raises(ArgumentError) as info:
        EvictingCache(CONFIGS["deepseek-v3"], 8, policy=Recent())
    assert info.value.name == "config.mla"


@pytest.mark.parametrize(
    ("q_shape", "kv_tokens", "name"),
    [((2, 3, 6), 2, "q.shape"), ((2, 4, 6), 1, "k.shape[0]")],
)
def test_queries_that_do_not_fit_are_refused(q_shape, kv_tokens, name):
    cache = evicting(8, Recent())
    k = np.ones((kv_tokens, 2, 6))
    with pytest.raises(ArgumentError) as info:
        cache.attend(
            0, np.ones(q_shape), k, k, rope=lambda x, start: x, variant=None
        )
    assert info.value.name == name
    assert cache.num_tokens == 0


def test_its_bytes_depend_on_what_it_keeps_not_on_the_text():
    def size(budget, chunk, **changes):
        config = small_config(**changes)
        return evicting(budget, H2O(1), config, chunk=chunk).nbytes

    row = 2 * (6 + 6) * 8 + 2 * 12  # heads, numbers, bytes; notes
    assert size(10, 3, num_layers=1) == 13 * row
    assert size(10, 3, num_layers=5) == 5 * 13 * row
    assert size(10, 3, max_seq_len=9999) == 3 * 13 * row


@pytest.mark.parametrize("name", ["h2o", "snapkv"])
def test_by_name_they_drop_nothing_of_a_short_text(name):
    cache = make_cache(name, ONE, 100)
    assert isinstance(cache, AttendingCache)
    assert cache.budget_tokens == 100


def test_by_name_long_texts_are_cut():
    h2o, snapkv = (make_cache(name, ONE, 9999) for name in ("h2o", "snapkv"))
    assert (h2o.budget_tokens, h2o.policy.recent_tokens) == (1999, 999)
    assert (snapkv.budget_tokens, snapkv.policy.window_tokens) == (1024, 32)
