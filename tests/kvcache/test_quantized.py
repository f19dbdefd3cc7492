"""Caches in few bits behind a decoder, their bytes, and KIVI's groups."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.core import ArgumentError
from cutaway.decoder import Decoder, Params
from cutaway.kvcache import (
    CacheFullError,
    Float8Codec,
    GroupScheme,
    IntegerCodec,
    KIVICache,
    QuantizedCache,
    make_cache,
)
from cutaway.roofline import (
    CONFIGS,
    CacheFormat,
    bits_per_value,
    model_layout,
)
from kvcache.cache_twin import small_config
from oracles import rounding_bounds

TEXT = [3, 1, 4, 1, 5, 0, 2, 6, 5, 3, 5, 8, 7, 2]
SMALL = CONFIGS["smollm2-135m"]
LIMITS = {  # of the largest error of a logit, in standard deviations
    "int8": 0.04,
    "int4": 0.5,
    "fp8_e4m3": 0.25,
    "fp8_e5m2": 0.5,
    "kivi4": 0.2,
    "kivi2": 1.0,
}
KINDS = list(LIMITS)


def decoder_of(impl="numpy", **changes):
    config = small_config(**changes)
    params = Params.random(config, 1, impl=impl, dtype="float64")
    return Decoder(config, params, impl=impl)


def kivi(config, *, capacity=14, residual=3, chunk=14, impl="numpy", **scheme):
    scheme = {"bits": 4, "group_size": 2, **scheme}
    return KIVICache(
        config,
        capacity,
        GroupScheme(**scheme),
        residual_tokens=residual,
        chunk_tokens=chunk,
        impl=impl,
        dtype="float64",
    )


def read(decoder, text, cache, chunk):
    starts = range(cache.num_tokens, len(text), chunk)
    return np.concatenate(
        [decoder.forward(text[i : i + chunk], cache) for i in starts]
    )


def rows(rng, tokens, heads=2, width=6):
    return rng.standard_normal((2, tokens, heads, width))


@pytest.mark.parametrize(
    ("kind", "bits", "group", "zero_bits"),
    [
        ("int8", 8, 64, 0),
        ("int4", 4, 64, 0),
        ("fp8_e4m3", 8, None, 0),
        ("fp8_e5m2", 8, None, 0),
    ],
)
def test_nbytes_is_the_formula_of_the_layout(kind, bits, group, zero_bits):
    cache = make_cache(kind, SMALL, 100)
    each = bits
    if group is not None:
        each = bits_per_value(bits, group_size=group, zero_bits=zero_bits)
    form = CacheFormat.of(each / 8)
    want = model_layout("smollm2-135m").bytes_per_token(form)
    assert cache.bytes_per_token == want
    assert cache.nbytes == 100 * want


@pytest.mark.parametrize("bits", [2, 4, 8])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_kivi_takes_groups_of_few_bits_and_a_residual_of_all(bits, dtype):
    cache = KIVICache(SMALL, 1000, GroupScheme(bits=bits), dtype=dtype)
    rounded = (1000 - 128) // 32 * 32
    each = bits_per_value(bits, group_size=32, zero_bits=16)
    form = CacheFormat.of(each / 8)
    layout = model_layout("smollm2-135m")
    plain = CacheFormat.of(np.dtype(dtype).itemsize)
    want = rounded * layout.bytes_per_token(form)
    want += (128 + 31 + 512) * layout.bytes_per_token(plain)
    assert cache.nbytes == want


def test_two_bits_take_less_than_four_less_than_eight():
    sizes = [
        make_cache(kind, SMALL, 40_000).nbytes
        for kind in ("kivi2", "kivi4", "int8", "contiguous")
    ]
    assert sizes == sorted(sizes)
    assert sizes[0] < sizes[-1] / 8


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_logits_stay_near_those_of_the_plain_cache(kind, impl):
    decoder = decoder_of(impl)
    want = decoder.forward(TEXT, decoder.new_cache(14))
    if kind.startswith("kivi"):
        bits = int(kind[-1])
        cache = kivi(
            decoder.config, bits=bits, group_size=4, residual=1, impl=impl
        )
    else:
        cache = decoder.new_cache(14, kind=kind)
    error = np.abs(read(decoder, TEXT, cache, 1) - want).max()
    spread = want.std()
    assert 0 < error < LIMITS[kind] * spread


@pytest.mark.parametrize("kind", ["int8", "int4", "fp8_e4m3", "fp8_e5m2"])
def test_the_length_of_a_pass_changes_nothing(kind):
    decoder = decoder_of()
    want = read(decoder, TEXT, decoder.new_cache(14, kind=kind), 1)
    for chunk in (2, 3, 14):
        cache = decoder.new_cache(14, kind=kind)
        got = read(decoder, TEXT, cache, chunk)
        assert np.abs(got - want).max() < 1e-10


@pytest.mark.parametrize("kind", ["int8", "int4", "fp8_e4m3", "kivi"])
def test_passes_undone_and_read_again_change_nothing(kind):
    decoder = decoder_of()

    def new():
        if kind == "kivi":
            return kivi(decoder.config)
        return decoder.new_cache(14, kind=kind)

    want = read(decoder, TEXT, new(), 2)
    cache, got = new(), []
    for start in range(0, 14, 2):
        if start < 12:
            decoder.forward([8, 8, 8], cache)
            cache.truncate(start)
        got += [*decoder.forward(TEXT[start : start + 2], cache)]
    assert np.abs(np.array(got) - want).max() < 1e-10


@pytest.mark.parametrize("failing", [0, 1, 2])
@pytest.mark.parametrize("kind", ["int4", "kivi"])
def test_a_pass_that_fails_in_some_layer_is_as_if_it_never_was(kind, failing):
    decoder = decoder_of()
    caches = [
        kivi(decoder.config)
        if kind == "kivi"
        else decoder.new_cache(14, kind=kind)
        for _ in range(2)
    ]
    for cache in caches:
        read(decoder, TEXT[:9], cache, 3)

    def fault(stage, layer, array):
        if (stage, layer) == ("attn_out", failing):
            raise RuntimeError("planted")

    with pytest.raises(RuntimeError, match="planted"):
        decoder.forward([8, 8, 8, 8], caches[0], observe=fault)
    assert caches[0].num_tokens == 9
    got, want = (read(decoder, TEXT, cache, 4) for cache in caches)
    assert np.array_equal(got, want)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 1e30])
@pytest.mark.parametrize("which", ["k", "v"])
def test_numbers_that_are_refused_leave_the_cache_as_it_was(bad, which):
    config = small_config()
    cache = QuantizedCache(
        config, 9, codec=IntegerCodec(bits=8), impl="numpy", dtype="float64"
    )
    rng = np.random.default_rng(0)
    cache.append(0, *rows(rng, 3))
    before = cache.view(0)
    k, v = rows(rng, 2)
    (k if which == "k" else v)[1, 0, 0] = bad
    with pytest.raises(ArgumentError, match="float16"):
        cache.append(0, k, v)
    for got, want in zip(cache.view(0), before, strict=True):
        assert np.array_equal(got, want)


def test_a_float8_cache_saturates():
    cache = QuantizedCache(
        small_config(), 9, codec=Float8Codec("e4m3"), impl="numpy"
    )
    big = np.full((1, 2, 6), 1e5, np.float32)
    cache.append(0, big, -big)
    keys, values = cache.view(0)
    assert (keys == 448).all()
    assert (values == -448).all()


@pytest.mark.parametrize("kind", KINDS)
def test_latent_attention_has_keys_and_no_values(kind):
    config = CONFIGS["deepseek-v3"]
    cache = make_cache(kind, config, 300, impl="numpy")
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((200, 1, 576)).astype(np.float32)
    none = np.zeros((200, 1, 0), np.float32)
    cache.append(0, rows, none)
    for _ in range(2):
        cache.append(0, rows[:0], none[:0])
    keys, values = cache.view(0)
    assert values.shape == (200, 1, 0)
    assert np.corrcoef(keys.ravel(), rows.ravel())[0, 1] > 0.9


class TestKIVI:
    """Which tokens are rounded, when, and with what they share a scale."""

    def rounded_after(self, passes, **settings):
        cache = kivi(small_config(num_layers=1), capacity=99, **settings)
        rng = np.random.default_rng(0)
        counts = []
        for tokens in passes:
            cache.append(0, *rows(rng, tokens))
            counts.append(cache.rounded_tokens(0))
        return counts

    def test_a_group_is_rounded_when_the_residual_can_do_without(self):
        # 3 stay; two tokens more make a group, at the next pass
        assert self.rounded_after([1] * 9) == [0, 0, 0, 0, 0, 2, 2, 4, 4]

    def test_a_prompt_is_rounded_when_the_next_pass_begins(self):
        assert self.rounded_after([12, 1, 1, 1]) == [0, 8, 10, 10]
        assert self.rounded_after([12, 1], residual=0) == [0, 12]
        assert self.rounded_after([12, 1], group_size=5) == [0, 5]
        assert self.rounded_after([12, 1], residual=40) == [0, 0]

    def test_the_newest_tokens_are_exact_and_older_ones_within_bounds(self):
        cache = kivi(
            small_config(num_layers=1), capacity=99, bits=2, group_size=4
        )
        rng = np.random.default_rng(0)
        given = [
            np.concatenate(x)
            for x in zip(
                *[rows(rng, tokens) for tokens in (9, 3, 6, 1)], strict=True
            )
        ]
        for start, stop in ((0, 9), (9, 12), (12, 18), (18, 19)):
            cache.append(0, *(x[start:stop] for x in given))
        done = cache.rounded_tokens(0)
        assert done == 12
        for which, x, got in zip("kv", given, cache.view(0), strict=True):
            assert np.array_equal(got[done:], x[done:])
            error = np.abs(got - x)[:done]
            assert error.max() > 0.05
            assert (error <= rounding_bounds.kivi(2, 4, x[:done], which)).all()

    def test_a_large_channel_of_keys_costs_no_other_channel(self):
        cache = kivi(small_config(num_layers=1), capacity=99, group_size=4)
        k, v = rows(np.random.default_rng(0), 12)
        k[:, :, 2] += 500
        v[5] *= 500
        cache.append(0, k, v)
        cache.append(0, k[:1], v[:1])
        assert cache.rounded_tokens(0) == 8
        keys, values = (x[:8] for x in cache.view(0))
        others = [0, 1, 3, 4, 5]
        assert np.abs(keys - k[:8])[:, :, others].max() < 0.2
        assert np.abs(values - v[:8])[[0, 1, 2, 3, 4, 6, 7]].max() < 0.2
        assert np.abs(values - v[:8])[5].max() > 2

    @pytest.mark.parametrize("keys", ["channel", "token"])
    @pytest.mark.parametrize("values", ["channel", "token"])
    def test_either_may_share_by_channel_or_by_token(self, keys, values):
        by = {"keys": keys, "values": values}
        config = small_config(num_layers=1)
        cache = kivi(config, capacity=99, group_size=3, residual=0, **by)
        given = rows(np.random.default_rng(0), 9)
        cache.append(0, *given)
        cache.append(0, *(x[:0] for x in given))
        assert cache.rounded_tokens(0) == 9
        for axis, x, got in zip(
            (keys, values), given, cache.view(0), strict=True
        ):
            which = "k" if axis == "channel" else "v"
            error = np.abs(got - x)
            assert (error <= rounding_bounds.kivi(4, 3, x, which)).all()
            other = "v" if which == "k" else "k"
            assert (error > rounding_bounds.kivi(4, 3, x, other)).any()

    def test_what_is_rounded_cannot_be_cut(self):
        decoder = decoder_of()
        cache = kivi(decoder.config)
        read(decoder, TEXT, cache, 3)
        floor = cache.truncation_floor
        assert floor == cache.rounded_tokens(0) == 8
        for inside in (7, 6, 5, 1, 0):
            with pytest.raises(ArgumentError, match="from 8 to 14") as info:
                cache.truncate(inside)
            assert info.value.name == "num_tokens"
            assert cache.num_tokens == 14
        before = [x.copy() for x in cache.view(1)]
        cache.truncate(floor)
        for got, want in zip(cache.view(1), before, strict=True):
            assert np.array_equal(got, want[:floor])

    def test_a_layer_that_is_ahead_rounds_no_more_than_the_others(self):
        cache = kivi(small_config(), capacity=99, chunk=20)
        rng = np.random.default_rng(0)
        for _ in range(5):
            cache.append(0, *rows(rng, 4))
        assert cache.num_tokens == cache.truncation_floor == 0
        with pytest.raises(CacheFullError, match=r"21 tokens in one pass"):
            cache.append(0, *rows(rng, 1))
        assert len(cache.view(0)[0]) == 20

    def test_a_group_that_cannot_be_rounded_leaves_the_cache_as_it_was(self):
        cache = kivi(small_config(num_layers=1), capacity=99)
        rng = np.random.default_rng(0)
        k, v = rows(rng, 6)
        v[1, 0, 3] = np.nan
        cache.append(0, k, v)
        with pytest.raises(ArgumentError, match="float16"):
            cache.append(0, k, v)
        assert (cache.num_tokens, cache.rounded_tokens(0)) == (6, 0)
        np.testing.assert_array_equal(cache.view(0)[1], v)

    def test_the_residual_is_the_whole_cache_of_a_short_text(self):
        decoder = decoder_of()
        cache = decoder.new_cache(14, kind="kivi2")
        want = read(decoder, TEXT, decoder.new_cache(14), 3)
        assert np.abs(read(decoder, TEXT, cache, 3) - want).max() < 1e-12
        assert cache.nbytes == decoder.new_cache(14).nbytes

    @pytest.mark.parametrize(
        ("changes", "name"),
        [
            ({"keys": "head"}, "keys"),
            ({"values": None}, "values"),
            ({"bits": 3}, "bits"),
            ({"bits": 16}, "bits"),
            ({"group_size": 0}, "group_size"),
            ({"group_size": 2.0}, "group_size"),
            ({"residual": -1}, "residual_tokens"),
            ({"chunk": 0}, "chunk_tokens"),
            ({"capacity": 0}, "capacity_tokens"),
        ],
    )
    def test_bad_settings_are_refused_by_name(self, changes, name):
        with pytest.raises(ArgumentError) as info:
            kivi(small_config(), **changes)
        assert info.value.name == name
