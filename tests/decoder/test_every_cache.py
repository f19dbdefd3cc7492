"""What the decoder promises with every cache that has a name."""

from __future__ import annotations

from functools import cache as remembered

import numpy as np
import pytest

from cutaway.core import ArgumentError, AttendingCache, ModelConfig
from cutaway.decoder import Decoder, Params
from cutaway.kvcache import CACHES

CONFIG = ModelConfig(
    num_layers=3,
    hidden_size=20,
    num_heads=4,
    num_kv_heads=2,
    head_dim=8,
    ffn_size=21,
    vocab_size=23,
    rope_theta=1e4,
    norm_eps=1e-5,
    max_seq_len=32,
)
PROMPT = [7, 0, 22, 3, 3, 11, 5, 19, 1, 8, 2]
MORE = [4, 9, 16]

pytestmark = [
    pytest.mark.parametrize("kind", sorted(CACHES)),
    pytest.mark.parametrize("impl", ["numpy", "torch"]),
]


@remembered
def decoder_of(impl):
    params = Params.random(CONFIG, 1, impl=impl)
    return Decoder(CONFIG, params, impl=impl)


def filled(decoder, kind):
    """A cache that has read a prompt in two passes."""
    cache = decoder.new_cache(32, kind=kind)
    decoder.forward(PROMPT[:8], cache)
    decoder.forward(PROMPT[8:], cache)
    return cache


def content(cache):
    views = [cache.view(layer) for layer in range(CONFIG.num_layers)]
    return [np.asarray(array).copy() for pair in views for array in pair]


class Failing:
    """A cache whose append or attend fails in one layer, before or after."""

    def __init__(self, cache, layer, late):
        self._cache, self._layer, self._late = cache, layer, late

    def __getattr__(self, name):
        return getattr(self._cache, name)

    def _call(self, method, layer, *arrays, **options):
        if layer == self._layer and not self._late:
            raise RuntimeError("planted")
        out = method(layer, *arrays, **options)
        if layer == self._layer:
            raise RuntimeError("planted")
        return out

    def append(self, layer, k, v):
        self._call(self._cache.append, layer, k, v)


class FailingAttend(Failing):
    def attend(self, layer, q, k, v, **options):
        return self._call(self._cache.attend, layer, q, k, v, **options)


def failing(cache, layer, late):
    attends = isinstance(cache, AttendingCache)
    return (FailingAttend if attends else Failing)(cache, layer, late)


def assert_as_if_nothing_happened(decoder, kind, cache, before):
    assert cache.num_tokens == len(PROMPT)
    for have, want in zip(content(cache), before, strict=True):
        assert np.array_equal(have, want)
    # nor is there anything hidden: the next passes are those of a twin
    twin = filled(decoder, kind)
    for ids in (MORE, [1], [2]):
        got, want = decoder.forward(ids, cache), decoder.forward(ids, twin)
        assert np.array_equal(got, want)


@pytest.mark.parametrize("late", [False, True], ids=["before", "after"])
@pytest.mark.parametrize("layer", range(3))
@pytest.mark.parametrize("tokens", [1, 3])
def test_a_cache_that_fails_mid_pass_is_rolled_back(
    impl, kind, layer, late, tokens
):
    decoder = decoder_of(impl)
    cache = filled(decoder, kind)
    before = content(cache)
    with pytest.raises(RuntimeError, match="planted"):
        decoder.forward(MORE[:tokens], failing(cache, layer, late))
    assert_as_if_nothing_happened(decoder, kind, cache, before)


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize("layer", range(3))
@pytest.mark.parametrize("stage", ["attn_norm", "v", "attn_out", "resid"])
def test_a_layer_that_fails_mid_pass_leaves_the_cache_as_it_was(
    impl, kind, stage, layer, error
):
    decoder = decoder_of(impl)
    cache = filled(decoder, kind)
    before = content(cache)

    def fail(name, index, array):
        if (name, index) == (stage, layer):
            raise error("planted")

    with pytest.raises(error, match="planted"):
        decoder.forward(MORE, cache, observe=fail)
    assert_as_if_nothing_happened(decoder, kind, cache, before)


def test_a_position_beyond_the_longest_text_is_refused(impl, kind):
    decoder = decoder_of(impl)
    cache = filled(decoder, kind)
    before = content(cache)
    with pytest.raises(ArgumentError, match=r"22 tokens behind 11.*32"):
        decoder.forward([1] * 22, cache)
    assert_as_if_nothing_happened(decoder, kind, cache, before)


@pytest.mark.parametrize("number", [12, -1, None, 3.5])
def test_a_truncation_past_the_end_is_refused(impl, kind, number):
    decoder = decoder_of(impl)
    cache = filled(decoder, kind)
    before = content(cache)
    with pytest.raises(ArgumentError) as info:
        cache.truncate(number)
    assert info.value.name == "num_tokens"
    assert_as_if_nothing_happened(decoder, kind, cache, before)


def test_weights_of_another_dtype_are_refused(impl, kind):
    wide = Params.random(CONFIG, 1, impl=impl, dtype="float64")
    decoder = decoder_of(impl)
    cache = filled(decoder, kind)
    before = content(cache)
    with pytest.raises(ArgumentError, match="float64") as info:
        Decoder(CONFIG, wide, impl=impl).forward(MORE, cache)
    assert info.value.name.endswith(".dtype")
    assert_as_if_nothing_happened(decoder, kind, cache, before)


def test_the_first_pass_over_a_short_text_is_nearly_that_of_no_cache(
    impl, kind
):
    decoder = decoder_of(impl)
    want = decoder.forward(MORE, decoder.new_cache(3))
    got = decoder.forward(MORE, decoder.new_cache(3, kind=kind))
    assert got.shape == want.shape
    assert np.isfinite(got).all()
    error = np.abs(got - want).max() / np.abs(want).max()
    assert error < (1e-5 if kind == "contiguous" else 0.5)
