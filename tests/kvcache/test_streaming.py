"""The streaming cache against loops that count places anew."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from cutaway.attention import (
    AttentionVariant,
    alibi,
    alibi_slopes,
    sink_logits,
    sliding_window,
    softcap,
)
from cutaway.core import ArgumentError, AttendingCache, ModelConfig
from cutaway.decoder import Decoder, Params, generate_tokens, token_losses
from cutaway.kvcache import (
    CacheFullError,
    RollingCache,
    StreamingCache,
    make_cache,
)
from cutaway.layers import Rotation, rope_frequencies
from cutaway.roofline import CONFIGS
from cutaway.sampling import SamplingParams
from kvcache.cache_twin import small_config
from oracles import streaming_loops

TEXT = [3, 1, 4, 1, 5, 0, 2, 6, 5, 3, 5, 8, 7, 2]
ONE = small_config(num_layers=1)
SINKS = (0.5, -1.0, 2.0, 0.0)
RULES = {
    "none": (None, {}),
    "softcap": (softcap(2.0), {"cap": 2.0}),
    "sink_logits": (sink_logits(SINKS), {"sink": SINKS}),
    "scale": (AttentionVariant(scale=0.7), {"scale": 0.7}),
    "window": (sliding_window(3), {"window": 3}),
    "alibi": (alibi(4), {"slopes": alibi_slopes(4)}),
    "all": (
        softcap(3.0) & sink_logits(SINKS) & sliding_window(4),
        {"cap": 3.0, "sink": SINKS, "window": 4},
    ),
}


@pytest.fixture
def numbers():
    rng = np.random.default_rng(3)
    return [rng.standard_normal((14, heads, 6)) for heads in (4, 2, 2)]


def attend_in_chunks(numbers, chunk, *, impl, variant, **settings):
    arrays = numbers if impl == "numpy" else map(torch.from_numpy, numbers)
    q, k, v = arrays
    cache = StreamingCache(
        ONE, chunk_tokens=chunk, impl=impl, dtype="float64", **settings
    )
    rope = Rotation(rope_frequencies(6, 1e4), layout="interleaved", impl=impl)
    out = [
        cache.attend(
            0,
            q[start : start + chunk],
            k[start : start + chunk],
            v[start : start + chunk],
            rope=rope,
            variant=variant,
        )
        for start in range(0, len(q), chunk)
    ]
    return np.concatenate([np.asarray(part) for part in out])


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("rule", RULES)
def test_it_equals_the_loops_whatever_the_sizes(rule, impl, numbers):
    variant, words = RULES[rule]
    for capacity, sinks in [(1, 0), (3, 0), (4, 1), (5, 2), (6, 5), (20, 4)]:
        sizes = {"capacity": capacity, "sink_tokens": sinks}
        want = streaming_loops.attention(
            *numbers, **sizes, theta=1e4, layout="interleaved", **words
        )
        for chunk in (1, 2, 3, 5, 14):
            got = attend_in_chunks(
                numbers,
                chunk,
                impl=impl,
                variant=variant,
                capacity_tokens=capacity,
                sink_tokens=sinks,
            )
            error = np.abs(got - want).max()
            assert error < 1e-12, (capacity, sinks, chunk)


def decoder_of(impl="numpy", **changes):
    config = small_config(**changes)
    params = Params.random(config, 1, impl=impl, dtype="float64")
    return Decoder(config, params, impl=impl)


def streaming(decoder, capacity, sinks, chunk):
    return StreamingCache(
        decoder.config,
        capacity,
        sink_tokens=sinks,
        chunk_tokens=chunk,
        impl=decoder.impl,
        dtype="float64",
    )


def read(decoder, text, cache, chunk):
    starts = range(cache.num_tokens, len(text), chunk)
    return np.concatenate(
        [decoder.forward(text[i : i + chunk], cache) for i in starts]
    )


def test_places_are_those_in_the_cache_not_those_in_the_text():
    # the paper's example: 0 1 2 3 and 6 7 8 are kept, 9 is decoded
    cache = StreamingCache(
        ONE, 8, sink_tokens=4, chunk_tokens=1, impl="numpy", dtype="float64"
    )
    places, turned = {}, []

    def rope(x, start):
        for place, row in enumerate(x, start):
            turned.append((place, row[0, 0]))
        return x

    for token in range(10):
        turned.clear()
        q = np.full((1, 4, 6), 100.0 + token)
        k = np.full((1, 2, 6), float(token))
        cache.attend(0, q, k, k, rope=rope, variant=None)
        places = {row: place for place, row in turned}
    kept = [places[token] for token in (0, 1, 2, 3, 6, 7, 8, 9)]
    assert kept == [0, 1, 2, 3, 4, 5, 6, 7]
    assert places[109] == 7  # the query
    assert {4, 5}.isdisjoint(places)
    assert cache.view(0)[0][:, 0, 0].tolist() == [0, 1, 2, 3, 6, 7, 8, 9]


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_until_it_is_full_it_is_the_plain_cache(impl):
    decoder = decoder_of(impl)
    want = decoder.forward(TEXT, decoder.new_cache(14))
    for chunk in (1, 3, 14):
        cache = streaming(decoder, 14, 4, chunk)
        assert np.abs(read(decoder, TEXT, cache, chunk) - want).max() < 1e-10


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("sinks", [0, 1, 3])
def test_the_length_of_a_pass_changes_nothing(sinks, impl):
    decoder = decoder_of(impl)
    want = read(decoder, TEXT, streaming(decoder, 5, sinks, 1), 1)
    for chunk in (2, 3, 4, 14):
        cache = streaming(decoder, 5, sinks, chunk)
        assert np.abs(read(decoder, TEXT, cache, chunk) - want).max() < 1e-10


def test_without_sinks_it_is_a_model_with_a_window():
    # places do not matter then: rotation knows distances alone
    plain, local = decoder_of(), decoder_of(window=4)
    rolling = RollingCache(
        local.config, 99, chunk_tokens=3, impl="numpy", dtype="float64"
    )
    want = read(local, TEXT, rolling, 3)
    got = read(plain, TEXT, streaming(plain, 4, 0, 3), 3)
    assert np.abs(got - want).max() < 1e-10


def test_places_in_the_text_would_give_something_else():
    # with sinks it is not the mask "window or first tokens" over all keys
    from cutaway.attention import streaming as mask

    plain = decoder_of()
    masked = Decoder(
        plain.config, plain.params, impl="numpy", variant=mask(4, 2)
    )
    want = masked.forward(TEXT, masked.new_cache(14))
    got = read(plain, TEXT, streaming(plain, 6, 2, 3), 3)
    assert np.abs(got - want)[:6].max() < 1e-10
    assert np.abs(got - want)[7:].max() > 1e-3


def test_text_that_was_dropped_is_forgotten():
    # one layer, so that nothing of it lives on in the tokens behind it
    decoder = decoder_of(num_layers=1)
    other = [*TEXT[:2], 8, 8, 8, 0, *TEXT[6:]]
    a, b = (
        read(decoder, text, streaming(decoder, 5, 2, 1), 1)
        for text in (TEXT, other)
    )
    assert np.abs(a - b)[2:6].max() > 1e-3
    assert np.array_equal(a[8:], b[8:])
    changed_sink = [TEXT[0], 8, *TEXT[2:]]
    c = read(decoder, changed_sink, streaming(decoder, 5, 2, 1), 1)
    assert np.abs(a - c)[8:].max() > 1e-6


def test_a_text_may_be_longer_than_the_model_was_made_for():
    decoder = decoder_of(max_seq_len=8)
    cache = streaming(decoder, 6, 2, 2)
    got = read(decoder, TEXT, cache, 2)
    wide = decoder_of(max_seq_len=64)
    want = read(wide, TEXT, streaming(wide, 6, 2, 2), 2)
    assert np.abs(got - want).max() < 1e-12
    assert (cache.num_tokens, cache.next_position) == (14, 5)
    too_wide = streaming(decoder, 12, 2, 2)
    with pytest.raises(ArgumentError, match="max_seq_len = 8"):
        read(decoder, TEXT, too_wide, 2)
    assert too_wide.num_tokens == 8


def test_losses_of_a_long_text_need_the_cache_alone():
    decoder = decoder_of(max_seq_len=8)
    cache = streaming(decoder, 6, 2, 4)
    got = token_losses(decoder, TEXT, chunk_size=2, cache=cache)
    logits = read(decoder, TEXT[:-1], streaming(decoder, 6, 2, 1), 1)
    total = np.log(np.exp(logits).sum(-1))
    want = total - logits[np.arange(13), TEXT[1:]]
    np.testing.assert_allclose(got, want, atol=1e-10)
    with pytest.raises(ArgumentError, match="an empty cache"):
        token_losses(decoder, TEXT, cache=cache)


@pytest.mark.parametrize("size", [1, 4, 5, 8, 14])
@pytest.mark.parametrize("window", [None, 3])
def test_a_prompt_is_read_in_passes_that_the_cache_takes(window, size):
    decoder = decoder_of(window=window)
    params = SamplingParams(temperature=0, max_tokens=5)
    rolling = RollingCache(
        decoder.config, 99, chunk_tokens=4, impl="numpy", dtype="float64"
    )
    answers = [
        [
            step.token_id
            for step in generate_tokens(
                decoder, TEXT[:size], params, stop_token_ids=(), cache=cache
            )
        ]
        for cache in (None, rolling, streaming(decoder, 20, 4, 4))
    ]
    assert answers[0] == answers[1] == answers[2]
    assert rolling.num_tokens == size + 4


@pytest.mark.parametrize("call", ["rope", "variant"])
def test_a_fault_inside_the_attention_leaves_the_cache_as_it_was(call):
    decoder = decoder_of()
    cache = streaming(decoder, 6, 2, 3)
    read(decoder, TEXT[:10], cache, 2)
    before = [np.array(rows) for rows in cache.view(1)]
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((3, n, 6)) for n in (4, 2, 2))

    def fault(*arguments):
        raise RuntimeError("planted")

    options = {"rope": lambda x, start: x, "variant": None}
    options[call] = (
        fault if call == "rope" else AttentionVariant(score_mod=fault)
    )
    with pytest.raises(RuntimeError, match="planted"):
        cache.attend(1, q, k, v, **options)
    assert cache.num_tokens == 10
    for got, rows in zip(cache.view(1), before, strict=True):
        seen_next = np.concatenate([rows[:2], rows[-3:]])
        assert np.array_equal(got, seen_next)
    got = decoder.forward(TEXT[10:12], cache)
    want = read(decoder, TEXT[:12], streaming(decoder, 6, 2, 2), 2)[10:]
    assert np.abs(got - want).max() < 1e-10


def test_passes_undone_and_read_again_change_nothing():
    decoder = decoder_of()
    want = read(decoder, TEXT, streaming(decoder, 6, 2, 1), 1)
    cache, got = streaming(decoder, 6, 2, 3), []
    for start in range(0, 14, 2):
        decoder.forward([8, 8, 8], cache)
        cache.truncate(start)
        got += [*decoder.forward(TEXT[start : start + 2], cache)]
    assert np.abs(np.array(got) - want).max() < 1e-10
    assert 0 < cache.truncation_floor <= 12
    with pytest.raises(ArgumentError) as info:
        cache.truncate(cache.truncation_floor - 1)
    assert info.value.name == "num_tokens"


def test_more_tokens_than_a_pass_may_bring_are_refused():
    decoder = decoder_of()
    cache = streaming(decoder, 6, 2, 3)
    with pytest.raises(CacheFullError, match=r"4 tokens in one pass.*3"):
        decoder.forward(TEXT[:4], cache)
    assert cache.num_tokens == 0


@pytest.mark.parametrize(
    ("capacity", "settings", "name"),
    [
        (4, {"sink_tokens": 4}, "sink_tokens"),
        (4, {"sink_tokens": -1}, "sink_tokens"),
        (4, {"sink_tokens": 1.0}, "sink_tokens"),
        (8, {"chunk_tokens": 0}, "chunk_tokens"),
        (0, {"sink_tokens": 0}, "capacity_tokens"),
        (-8, {}, "capacity_tokens"),
    ],
)
def test_bad_sizes_are_refused_by_name(capacity, settings, name):
    with pytest.raises(ArgumentError) as info:
        StreamingCache(ONE, capacity, **settings)
    assert info.value.name == name


def test_latent_attention_has_no_keys_to_rotate_again():
    with pytest.raises(ArgumentError) as info:
        StreamingCache(CONFIGS["deepseek-v3"], 8)
    assert info.value.name == "config.mla"


@pytest.mark.parametrize(
    ("q_shape", "kv_tokens", "name"),
    [((2, 3, 6), 2, "q.shape"), ((2, 4, 6), 1, "k.shape[0]")],
)
def test_queries_that_do_not_fit_are_refused(q_shape, kv_tokens, name):
    cache = StreamingCache(ONE, 8, impl="numpy")
    q = np.ones(q_shape, np.float32)
    k = np.ones((kv_tokens, 2, 6), np.float32)
    with pytest.raises(ArgumentError) as info:
        cache.attend(0, q, k, k, rope=lambda x, start: x, variant=None)
    assert info.value.name == name
    assert cache.num_tokens == 0


def test_its_bytes_depend_on_what_it_keeps_not_on_the_text():
    def size(**changes) -> int:
        config = ModelConfig(**{**vars(ONE), **changes})
        return StreamingCache(config, 10, chunk_tokens=3).nbytes

    assert size() == (10 - 1 + 3) * 2 * 2 * 6 * 4
    assert size(num_layers=5) == 5 * size()
    assert size(max_seq_len=9999) == size()


@pytest.mark.parametrize("capacity", [1, 2, 5, 100])
def test_by_name_it_drops_nothing_of_a_text_that_fits(capacity):
    cache = make_cache("streaming", ONE, capacity)
    assert isinstance(cache, AttendingCache)
    assert cache.capacity_tokens == capacity
    assert make_cache("streaming", ONE, 9999).capacity_tokens == 1024


def test_sinks_and_window_of_many_sizes_add_up():
    for capacity, sinks in itertools.product(range(1, 9), range(8)):
        if sinks < capacity:
            cache = StreamingCache(ONE, capacity, sink_tokens=sinks)
            assert cache.sink_tokens + cache.window == capacity
