"""The rolling cache against the mask of a window over all keys."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cutaway.attention import attention, sliding_window
from cutaway.core import ArgumentError, AttentionConfig, NormConfig
from cutaway.decoder import Decoder, Params
from cutaway.kvcache import (
    CacheFullError,
    ContiguousCache,
    Ring,
    RollingCache,
    StreamingCache,
)
from cutaway.roofline import kv_cache_bytes
from kvcache.cache_twin import small_config
from oracles import variant_loops

TEXT = [3, 1, 4, 1, 5, 0, 2, 6, 5, 3, 5, 8, 7]
MIXED = ("local", "global", "local")


def decoder_of(impl="numpy", **changes):
    config = small_config(**changes)
    params = Params.random(config, 1, impl=impl, dtype="float64")
    return Decoder(config, params, impl=impl)


def rolling(decoder, capacity, chunk):
    return RollingCache(
        decoder.config,
        capacity,
        chunk_tokens=chunk,
        impl=decoder.impl,
        dtype="float64",
    )


def masked_logits(decoder, text):
    """All keys kept, the window a mask over them."""
    return decoder.forward(text, decoder.new_cache(len(text)))


def read(decoder, text, cache, chunk):
    starts = range(cache.num_tokens, len(text), chunk)
    return np.concatenate(
        [decoder.forward(text[i : i + chunk], cache) for i in starts]
    )


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("pattern", [None, MIXED])
def test_it_equals_the_mask_for_every_window_and_chunk(pattern, impl):
    for window in (*range(1, 7), 12, 13, 14):
        changes = {"window": window, "window_pattern": pattern}
        decoder = decoder_of(impl, **changes)
        want = masked_logits(decoder, TEXT)
        for chunk in (*range(1, 8), 13):
            got = read(decoder, TEXT, rolling(decoder, 13, chunk), chunk)
            error = np.abs(got - want).max()
            assert error < 1e-10, (window, chunk)


def test_it_equals_loops_over_what_each_token_sees():
    rng = np.random.default_rng(0)
    q, k, v = (rng.standard_normal((11, n, 6)) for n in (4, 2, 2))
    for window, chunk in itertools.product(range(1, 6), range(1, 6)):
        config = small_config(num_layers=1, window=window)
        cache = RollingCache(
            config, 99, chunk_tokens=chunk, impl="numpy", dtype="float64"
        )
        want, _ = variant_loops.attention(q, k, v, window=window)
        for start in range(0, 11, chunk):
            rows = slice(start, start + chunk)
            cache.append(0, k[rows], v[rows])
            keys, values = cache.view(0)
            got = attention(
                q[rows],
                keys,
                values,
                variant=sliding_window(window),
                impl="numpy",
            ).out
            np.testing.assert_allclose(got, want[rows], atol=1e-12)


def test_passes_of_any_length_undone_and_read_again_change_nothing():
    rng = np.random.default_rng(5)
    decoder = decoder_of(window=3, window_pattern=MIXED)
    want = masked_logits(decoder, TEXT)
    for _ in range(30):
        cache, got = rolling(decoder, 13, 4), []
        while cache.num_tokens < 13:
            start = cache.num_tokens
            size = min(int(rng.integers(1, 5)), 13 - start)
            decoder.forward([8] * size, cache)  # a draft that is rejected
            keep = int(rng.integers(cache.truncation_floor, start + 1))
            cache.truncate(keep)
            got = [*got[:keep]]
            size = min(size, 13 - keep)
            got += [*decoder.forward(TEXT[keep : keep + size], cache)]
        assert np.abs(np.array(got) - want).max() < 1e-10


def test_a_window_counts_the_token_itself():
    # Mistral's text says keys i - W to i, its figure "at most W": W it is
    cache = rolling(decoder_of(window=4, num_layers=1), 99, 1)
    for _ in range(9):
        cache.append(0, np.zeros((1, 2, 6)), np.zeros((1, 2, 6)))
    assert cache.slots == (4,)
    assert len(cache.view(0)[0]) == 4


@pytest.mark.parametrize(("window", "chunk"), [(3, 2), (4, 4), (2, 3)])
def test_with_one_slot_fewer_the_first_of_a_chunk_would_miss_a_key(
    window, chunk
):
    config = small_config(num_layers=1, window=window)
    slots = RollingCache(config, 99, chunk_tokens=chunk).slots[0]
    assert slots == window - 1 + chunk
    short = Ring(slots - 1, config.kv_shape, impl="numpy", dtype="float64")
    for _ in range(4):
        start = short.stored
        short.write(np.zeros((chunk, 2, 6)), np.zeros((chunk, 2, 6)))
    assert short.first > start - (window - 1)  # it is gone


def test_layers_without_a_window_keep_all_and_others_what_they_need():
    config = small_config(window=5, window_pattern=MIXED)
    assert RollingCache(config, 50, chunk_tokens=3).slots == (7, 50, 7)
    assert RollingCache(config, 6, chunk_tokens=3).slots == (6, 6, 6)
    assert RollingCache(small_config(), 6, chunk_tokens=3).slots == (6, 6, 6)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("capacity", [1, 4, 5, 40])
@pytest.mark.parametrize("pattern", [None, MIXED])
def test_token_by_token_its_bytes_are_the_least_cache(pattern, capacity, dtype):
    config = small_config(window=5, window_pattern=pattern)
    cache = RollingCache(config, capacity, chunk_tokens=1, dtype=dtype)
    width = int(dtype[-2:]) // 8
    assert cache.nbytes == kv_cache_bytes(config, capacity, width)


def test_a_text_of_any_length_if_every_layer_has_a_window():
    decoder = decoder_of(window=3)
    cache = rolling(decoder, 8, 4)
    got = read(decoder, TEXT, cache, 4)
    assert cache.num_tokens == 13 > cache.capacity_tokens
    assert np.abs(got - masked_logits(decoder, TEXT)).max() < 1e-10


@pytest.mark.parametrize("pattern", [None, MIXED])
def test_a_layer_that_keeps_all_is_full_at_its_capacity(pattern):
    window = None if pattern is None else 3
    decoder = decoder_of(window=window, window_pattern=pattern)
    cache = rolling(decoder, 8, 5)
    read(decoder, TEXT[:8], cache, 4)
    with pytest.raises(CacheFullError, match=r"9 tokens.*capacity of 8"):
        decoder.forward([1], cache)
    assert cache.num_tokens == 8


def test_a_ring_cut_short_by_the_capacity_does_not_close():
    decoder = decoder_of(window=9)  # a ring would need 10 slots
    cache = rolling(decoder, 6, 2)
    read(decoder, TEXT[:6], cache, 2)
    with pytest.raises(CacheFullError, match=r"7 tokens.*capacity of 6"):
        decoder.forward([1], cache)
    assert cache.truncation_floor == 0


def test_more_tokens_than_a_pass_may_bring_are_refused():
    decoder = decoder_of(window=3)
    cache = rolling(decoder, 99, 4)
    read(decoder, TEXT[:8], cache, 4)
    before = [rows.copy() for rows in cache.view(1)]
    with pytest.raises(CacheFullError, match=r"5 tokens in one pass.*4"):
        decoder.forward(TEXT[8:], cache)
    after = cache.view(1)
    assert cache.num_tokens == 8
    for got, want in zip(after, before, strict=True):
        assert np.array_equal(got[-2:], want[-2:])
    got = decoder.forward(TEXT[8:12], cache)
    want = masked_logits(decoder, TEXT)[8:12]
    assert np.abs(got - want).max() < 1e-10


def test_half_a_pass_counts_towards_what_a_pass_may_bring():
    cache = rolling(decoder_of(window=3), 99, 4)
    rows = np.ones((3, 2, 6))
    cache.append(0, rows, rows)
    with pytest.raises(CacheFullError, match="6 tokens in one pass"):
        cache.append(0, rows, rows)
    assert cache.truncation_floor == 0


@pytest.mark.parametrize("failing", [0, 1, 2])
def test_a_pass_that_fails_in_some_layer_is_as_if_it_never_was(failing):
    decoder = decoder_of(window=3, window_pattern=MIXED)
    want = masked_logits(decoder, TEXT)
    cache = rolling(decoder, 13, 4)
    read(decoder, TEXT[:9], cache, 3)

    def fault(stage, layer, array):
        if (stage, layer) == ("attn_out", failing):
            raise RuntimeError("planted")

    with pytest.raises(RuntimeError, match="planted"):
        decoder.forward([8, 8, 8, 8], cache, observe=fault)
    assert cache.num_tokens == 9
    assert np.abs(read(decoder, TEXT, cache, 4) - want[9:]).max() < 1e-10


def test_what_was_dropped_cannot_be_gone_back_to():
    decoder = decoder_of(window=3)
    cache = rolling(decoder, 99, 2)
    read(decoder, TEXT[:10], cache, 2)
    assert cache.truncation_floor == 8
    with pytest.raises(ArgumentError, match="from 8 to 10") as info:
        cache.truncate(7)
    assert info.value.name == "num_tokens"
    assert cache.num_tokens == 10


@pytest.mark.parametrize("window", [0, -1, 2.5])
def test_a_window_that_shows_nothing_is_refused(window):
    with pytest.raises(ArgumentError) as info:
        RollingCache(small_config(window=window), 8)
    assert info.value.name == "window"


@pytest.mark.parametrize("chunk", [0, -3, 1.5, None])
def test_a_pass_of_no_tokens_is_refused(chunk):
    with pytest.raises(ArgumentError) as info:
        RollingCache(small_config(window=3), 8, chunk_tokens=chunk)
    assert info.value.name == "chunk_tokens"


def test_a_model_without_windows_makes_it_a_contiguous_cache():
    decoder = decoder_of()
    cache = rolling(decoder, 13, 13)
    plain = ContiguousCache(decoder.config, 13, impl="numpy", dtype="float64")
    assert cache.nbytes == plain.nbytes
    got = read(decoder, TEXT, cache, 5)
    assert np.abs(got - read(decoder, TEXT, plain, 5)).max() < 1e-12


MODELS = {
    # what each family adds to the scores, with a window in some layers
    "gemma-2": {
        "window_pattern": ("local", "global"),
        "attention": AttentionConfig(softcap=5.0, scale=0.3),
    },
    "gemma-3": {
        "window_pattern": ("local", "local", "global"),
        "local_rope_theta": 100.0,
        "norm": NormConfig(qk=True),
    },
    "gpt-oss": {
        "window_pattern": ("local", "global"),
        "attention": AttentionConfig(sink_logits=True),
    },
}


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("name", MODELS)
def test_mixed_models_with_caps_sinks_and_two_bases_run_on_it(name, impl):
    decoder = decoder_of(impl, window=3, **MODELS[name])
    want = masked_logits(decoder, TEXT)
    for chunk in (1, 2, 3, 5, 13):
        got = read(decoder, TEXT, rolling(decoder, 13, chunk), chunk)
        assert np.abs(got - want).max() < 1e-10, chunk


@pytest.mark.parametrize("name", MODELS)
def test_streaming_runs_the_same_models_whatever_the_chunk(name):
    decoder = decoder_of(window=3, **MODELS[name])
    full = masked_logits(decoder, TEXT)

    def streamed(capacity, chunk):
        cache = StreamingCache(
            decoder.config,
            capacity,
            sink_tokens=2,
            chunk_tokens=chunk,
            impl="numpy",
            dtype="float64",
        )
        return read(decoder, TEXT, cache, chunk)

    assert np.abs(streamed(13, 4) - full).max() < 1e-10
    want = streamed(6, 1)
    assert np.abs(want - full).max() > 1e-4
    for chunk in (2, 3, 5):
        assert np.abs(streamed(6, chunk) - want).max() < 1e-10
