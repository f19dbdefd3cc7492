"""The decoder: against loops, cached equals uncached, unchanged on errors."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.core import ArgumentError, ModelConfig
from cutaway.decoder import Decoder, Params
from cutaway.kvcache import CacheFullError, ContiguousCache
from oracles import loops

IMPLS = ["numpy", "torch"]
STAGES = [
    *("attn_norm", "q", "k", "v", "q_rot", "k_rot", "attn_out", "attn_proj"),
    *("resid_mid", "ffn_norm", "ffn_out", "resid"),
]
CONFIG = ModelConfig(
    num_layers=3,
    hidden_size=18,
    num_heads=6,
    num_kv_heads=2,
    head_dim=4,  # 6 x 4 is not hidden_size, on purpose
    ffn_size=21,
    vocab_size=23,
    rope_theta=1e4,
    norm_eps=1e-5,
    max_seq_len=32,
)
PROMPT = [7, 0, 22, 3, 3, 11, 5, 19, 1, 8, 2]


@pytest.fixture(autouse=True)
def one_thread():
    """Matrices this small only lose by being split among threads."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def decoder_of(impl, dtype="float64", **changes):
    config = dataclasses.replace(CONFIG, **changes)
    params = Params.random(config, 1, impl=impl, dtype=dtype)
    return Decoder(config, params, impl=impl)


DECODERS = {impl: decoder_of(impl) for impl in IMPLS}


def all_at_once(decoder, ids=PROMPT):
    return decoder.forward(ids, decoder.new_cache(len(ids)))


def stored(cache, layers=3):
    """A copy of everything that a cache holds."""
    return [np.asarray(a).copy() for i in range(layers) for a in cache.view(i)]


def assert_same_content(before, after):
    for have, wanted in zip(after, before, strict=True):
        assert np.array_equal(have, wanted)


@pytest.mark.parametrize("layout", ["interleaved", "half_split"])
@pytest.mark.parametrize("tied", [True, False])
def test_logits_equal_the_loops(layout, tied):
    changes = {"rope_layout": layout, "tie_embeddings": tied, "num_layers": 2}
    decoder = decoder_of("numpy", **changes)
    params = decoder.params
    weights = {
        "embed": params.embed,
        "final_norm": params.final_norm,
        "unembed": params.embed if tied else params.unembed,
    }
    for index, layer in enumerate(params.layers):
        for field in dataclasses.fields(layer):
            weights[index, field.name] = getattr(layer, field.name)
    sizes = {
        "num_layers": 2,
        "num_heads": 6,
        "num_kv_heads": 2,
        "head_dim": 4,
        "theta": 1e4,
        "layout": layout,
        "eps": 1e-5,
    }
    want = loops.decoder_logits(PROMPT[:6], weights, sizes)
    for impl in IMPLS:
        got = all_at_once(decoder_of(impl, **changes), PROMPT[:6])
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-11)


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("cut", range(1, len(PROMPT)))
def test_two_chunks_give_the_logits_of_one(impl, cut):
    decoder = DECODERS[impl]
    want = all_at_once(decoder)
    cache = decoder.new_cache(len(PROMPT))
    parts = [decoder.forward(p, cache) for p in (PROMPT[:cut], PROMPT[cut:])]
    np.testing.assert_allclose(np.concatenate(parts), want, rtol=0, atol=1e-10)
    assert cache.num_tokens == len(PROMPT)


@settings(deadline=None, derandomize=True, max_examples=40)
@given(
    ids=st.lists(st.integers(0, 22), min_size=1, max_size=20),
    cuts=st.sets(st.integers(1, 19)),
    impl=st.sampled_from(IMPLS),
)
def test_any_chunking_gives_the_logits_of_one_pass(ids, cuts, impl):
    decoder = DECODERS[impl]
    cache = decoder.new_cache(20)
    edges = [0, *sorted(c for c in cuts if c < len(ids)), len(ids)]
    parts = [
        decoder.forward(ids[start:stop], cache)
        for start, stop in itertools.pairwise(edges)
    ]
    np.testing.assert_allclose(
        np.concatenate(parts), all_at_once(decoder, ids), rtol=0, atol=1e-10
    )


@pytest.mark.parametrize("impl", IMPLS)
def test_a_cache_cut_back_continues_as_if_never_longer(impl):
    decoder = DECODERS[impl]
    cache = decoder.new_cache(20)
    decoder.forward(PROMPT[:4], cache)
    decoder.forward([9, 9, 9], cache)
    cache.truncate(4)
    got = decoder.forward(PROMPT[4:], cache)
    np.testing.assert_allclose(
        got, all_at_once(decoder)[4:], rtol=0, atol=1e-10
    )


def test_torch_equals_numpy_in_both_precisions():
    np.testing.assert_allclose(
        all_at_once(DECODERS["torch"]),
        all_at_once(DECODERS["numpy"]),
        rtol=0,
        atol=1e-11,
    )
    low = [all_at_once(decoder_of(impl, "float32")) for impl in IMPLS]
    exact = all_at_once(DECODERS["numpy"])
    for logits in low:
        assert np.abs(logits - exact).max() < 1e-4
    assert np.abs(low[0] - exact).max() > 0  # and it was not float64


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_logits_are_numpy_of_the_dtype_of_the_weights(impl, dtype):
    decoder = decoder_of(impl, dtype)
    logits = all_at_once(decoder)
    assert type(logits) is np.ndarray
    assert logits.dtype == dtype == decoder.dtype
    assert logits.shape == (len(PROMPT), CONFIG.vocab_size)


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("count", [1, 2, 11])
def test_last_only_gives_the_last_row(impl, count):
    decoder = DECODERS[impl]
    ids = PROMPT[:count]
    got = decoder.forward(ids, decoder.new_cache(count), last_only=True)
    assert got.shape == (1, CONFIG.vocab_size)
    np.testing.assert_allclose(
        got, all_at_once(decoder, ids)[-1:], rtol=0, atol=1e-12
    )


def test_later_tokens_do_not_change_the_logits_of_earlier_ones():
    for decoder in DECODERS.values():
        changed = [*PROMPT[:5], 20, 20, 20]
        np.testing.assert_allclose(
            all_at_once(decoder, changed)[:5],
            all_at_once(decoder)[:5],
            rtol=0,
            atol=1e-12,
        )


def test_the_order_of_tokens_matters():
    decoder = DECODERS["numpy"]
    swapped = [PROMPT[1], PROMPT[0], *PROMPT[2:]]
    difference = all_at_once(decoder, swapped)[-1] - all_at_once(decoder)[-1]
    assert np.abs(difference).max() > 1e-3


def test_the_rotary_layout_matters():
    # mixing them still gives fluent short answers: only numbers tell
    right = all_at_once(decoder_of("numpy", rope_layout="interleaved"))
    wrong = all_at_once(decoder_of("numpy", rope_layout="half_split"))
    np.testing.assert_allclose(right[0], wrong[0], atol=1e-12)  # position 0
    assert np.abs(right[1:] - wrong[1:]).max() > 1e-2


@pytest.mark.parametrize("impl", IMPLS)
def test_observe_sees_every_stage_in_order_with_its_shape(impl):
    decoder, calls = DECODERS[impl], []

    def observe(name, layer, array):
        assert type(array) is np.ndarray
        calls.append((name, layer, array.shape))

    cache = decoder.new_cache(9)
    decoder.forward(PROMPT[:4], cache)
    decoder.forward(PROMPT[4:9], cache, observe=observe)
    heads, kv, hidden = (5, 6, 4), (5, 2, 4), (5, 18)
    shapes = {"q": heads, "k": kv, "v": kv, "q_rot": heads, "k_rot": kv}
    shapes["attn_out"] = heads
    want = [("embed", None, hidden)]
    for layer in range(3):
        want += [(name, layer, shapes.get(name, hidden)) for name in STAGES]
    want += [("final_norm", None, hidden), ("logits", None, (5, 23))]
    assert calls == want


@pytest.mark.parametrize("impl", IMPLS)
def test_the_observed_stages_add_up(impl):
    decoder, seen = DECODERS[impl], {}
    cache = decoder.new_cache(11)

    def observe(name, layer, array):
        seen[name, layer] = array.copy()

    logits = decoder.forward(PROMPT, cache, observe=observe)
    stream = seen["embed", None]
    for layer in range(3):
        middle = stream + seen["attn_proj", layer]
        np.testing.assert_allclose(seen["resid_mid", layer], middle)
        stream = middle + seen["ffn_out", layer]
        np.testing.assert_allclose(seen["resid", layer], stream)
        keys, values = (np.asarray(a) for a in cache.view(layer))
        assert np.array_equal(keys, seen["k_rot", layer])
        assert np.array_equal(values, seen["v", layer])
    assert np.array_equal(seen["logits", None], logits)
    assert np.array_equal(logits, all_at_once(decoder))


EVERY_STAGE = [
    ("embed", None),
    *((name, layer) for layer in range(3) for name in STAGES),
    ("final_norm", None),
    ("logits", None),
]


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
def test_a_failure_at_any_stage_leaves_the_cache_as_it_was(impl, error):
    decoder = DECODERS[impl]
    want = all_at_once(decoder)
    cache = decoder.new_cache(len(PROMPT))
    decoder.forward(PROMPT[:6], cache)
    before = stored(cache)
    for stage in EVERY_STAGE:

        def fail(name, layer, array, stage=stage):
            if (name, layer) == stage:
                raise error(f"planted at {stage}")

        with pytest.raises(error, match="planted"):
            decoder.forward(PROMPT[6:], cache, observe=fail)
        assert cache.num_tokens == 6
        assert_same_content(before, stored(cache))
    got = decoder.forward(PROMPT[6:], cache)
    np.testing.assert_allclose(got, want[6:], rtol=0, atol=1e-10)


BAD_IDS = [
    ([], "token_ids"),
    ([[1, 2]], "token_ids[0]"),
    ([[1], [1, 2]], "token_ids[0]"),
    (3, "token_ids"),
    (None, "token_ids"),
    ("abc", "token_ids[0]"),
    ([1.0, 2.0], "token_ids[0]"),
    ([1, None], "token_ids[1]"),
    ([True, False], "token_ids[0]"),
    ([1, 2**70], "token_ids[1]"),
    ([1, 5, 23, 24], "token_ids[2]"),
    ([-1], "token_ids[0]"),
]


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize(("ids", "name"), BAD_IDS, ids=lambda v: str(v)[:12])
def test_bad_token_ids_are_named_before_anything_happens(impl, ids, name):
    decoder = DECODERS[impl]
    cache = decoder.new_cache(9)
    decoder.forward(PROMPT[:2], cache)
    before = stored(cache)
    with pytest.raises(ArgumentError) as info:
        decoder.forward(ids, cache, observe=lambda *_: pytest.fail("ran"))
    assert info.value.name == name
    assert cache.num_tokens == 2
    assert_same_content(before, stored(cache))


@pytest.mark.parametrize("kind", [list, tuple, np.array, torch.tensor])
def test_token_ids_may_come_in_any_flat_sequence(kind):
    decoder = DECODERS["torch"]
    got = all_at_once(decoder, kind(PROMPT))
    assert np.array_equal(got, all_at_once(decoder))


@pytest.mark.parametrize("impl", IMPLS)
def test_positions_end_at_max_seq_len(impl):
    decoder = DECODERS[impl]
    cache = decoder.new_cache(40)
    decoder.forward([1] * 30, cache)
    with pytest.raises(ArgumentError, match=r"3 tokens behind 30.*32") as info:
        decoder.forward([1] * 3, cache, observe=lambda *_: pytest.fail("ran"))
    assert info.value.name == "token_ids"
    assert cache.num_tokens == 30
    assert np.isfinite(decoder.forward([1, 2], cache)).all()
    with pytest.raises(ArgumentError, match="1 tokens behind 32"):
        decoder.forward([1], cache)


@pytest.mark.parametrize("impl", IMPLS)
def test_tokens_that_do_not_fit_leave_the_cache_as_it_was(impl):
    decoder = DECODERS[impl]
    cache = decoder.new_cache(6)
    decoder.forward(PROMPT[:4], cache)
    before = stored(cache)
    with pytest.raises(CacheFullError, match=r"7 tokens.*6"):
        decoder.forward(PROMPT[4:7], cache)
    assert cache.num_tokens == 4
    assert_same_content(before, stored(cache))
    decoder.forward(PROMPT[4:6], cache)


@pytest.mark.parametrize(
    ("changes", "options", "message"),
    [
        ({}, {"impl": "numpy", "dtype": "float64"}, "k: got Tensor"),
        ({}, {"impl": "torch", "dtype": "float32"}, "k.dtype: got torch.fl"),
        ({"num_kv_heads": 3}, {"dtype": "float64"}, "k.shape"),
        ({"head_dim": 6}, {"dtype": "float64"}, "k.shape"),
        ({"num_layers": 2}, {"dtype": "float64"}, "layer: got 2"),
        ({"num_layers": 4}, {"dtype": "float64"}, "cache: got more layers"),
    ],
)
def test_a_cache_of_another_model_is_refused_and_left_empty(
    changes, options, message
):
    config = dataclasses.replace(CONFIG, **changes)
    cache = ContiguousCache(config, 20, **options)
    with pytest.raises(ArgumentError, match=message):
        DECODERS["torch"].forward(PROMPT, cache)
    assert cache.num_tokens == 0
    for layer in range(config.num_layers):
        assert len(cache.view(layer)[0]) == 0


def test_new_cache_matches_the_decoder():
    for impl in IMPLS:
        for dtype in ("float32", "float64"):
            cache = decoder_of(impl, dtype).new_cache(5)
            assert cache.impl == impl
            assert str(cache.view(0)[0].dtype).endswith(dtype)
            assert cache.capacity_tokens == 5
    with pytest.raises(ArgumentError, match="capacity_tokens"):
        DECODERS["torch"].new_cache(0)


def test_two_caches_of_one_decoder_do_not_touch_each_other():
    decoder = DECODERS["torch"]
    first, second = decoder.new_cache(11), decoder.new_cache(11)
    decoder.forward(PROMPT[:5], first)
    decoder.forward([4, 4, 4], second)
    got = decoder.forward(PROMPT[5:], first)
    np.testing.assert_allclose(
        got, all_at_once(decoder)[5:], rtol=0, atol=1e-10
    )
    assert second.num_tokens == 3
