"""One test suite for every KV cache.

A cache joins by entries in ``CACHES`` (``in_every_form`` makes them). The
fields of ``CacheCase`` say what it may do that the plain cache does not:
round what it stores, or drop old tokens. ``test_caches.py`` runs
``CacheSuite`` over the list.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.core import ArgumentError, KVCache
from cutaway.core.checks import check_int
from cutaway.kvcache import (
    CacheFullError,
    ContiguousCache,
    EvictingCache,
    Float8Codec,
    GroupScheme,
    IntegerCodec,
    KIVICache,
    QuantizedCache,
    Recent,
    RollingCache,
    StreamingCache,
    h2o_cache,
    snapkv_cache,
)
from kvcache.cache_twin import CacheCase, Twin, in_every_form, small_config
from oracles import rounding_bounds

CAPACITY = 12
LAYERS = range(3)

LONGEST_PASS = 6


def windowed(config, capacity, /, *, impl, dtype):
    """A rolling cache whose layers all have a window of 3."""
    return RollingCache(
        replace(config, window=3),
        capacity,
        chunk_tokens=LONGEST_PASS,
        impl=impl,
        dtype=dtype,
    )


def streaming(config, capacity, /, *, impl, dtype):
    """A streaming cache of 2 + 3 tokens, however many are to be read."""
    kept = min(capacity, 5) if isinstance(capacity, int) else capacity
    return StreamingCache(
        config,
        kept,
        sink_tokens=min(2, kept - 1) if isinstance(kept, int) else 2,
        chunk_tokens=LONGEST_PASS,
        impl=impl,
        dtype=dtype,
    )


def recent(config, capacity, /, *, impl, dtype):
    """A cache of the first token and the 4 newest, however many are read."""
    kept = min(capacity, 5) if isinstance(capacity, int) else capacity
    check_int("capacity_tokens", kept, low=1)
    return EvictingCache(
        config,
        kept,
        policy=Recent(sink_tokens=1),
        chunk_tokens=LONGEST_PASS,
        impl=impl,
        dtype=dtype,
    )


def in_threes(config, capacity, /, *, bits, impl, dtype):
    """A KIVI cache with groups of 3, and 2 tokens as they are."""
    return KIVICache(
        config,
        capacity,
        GroupScheme(bits=bits, group_size=3),
        residual_tokens=2,
        chunk_tokens=LONGEST_PASS,
        impl=impl,
        dtype=dtype,
    )


FIVE = {"budget_tokens": 5, "chunk_tokens": LONGEST_PASS}

CACHES = [
    *in_every_form("contiguous", ContiguousCache),
    *in_every_form("rolling", RollingCache),
    *in_every_form("windowed", windowed, drops=True, keeps=2),
    *in_every_form("streaming", streaming, drops=True, keeps=2),
    *in_every_form("recent", recent, drops=True, keeps=4),
    *in_every_form("h2o", partial(h2o_cache, **FIVE), drops=True, keeps=5),
    *in_every_form(
        "snapkv", partial(snapkv_cache, **FIVE), drops=True, keeps=5
    ),
    *(
        case
        for bits in (8, 4)
        for case in in_every_form(
            f"int{bits}",
            partial(QuantizedCache, codec=IntegerCodec(bits=bits)),
            bound=partial(rounding_bounds.symmetric, bits),
        )
    ),
    *(
        case
        for form in ("e4m3", "e5m2")
        for case in in_every_form(
            f"fp8_{form}",
            partial(QuantizedCache, codec=Float8Codec(form)),
            bound=partial(rounding_bounds.float8, form),
        )
    ),
    *(
        case
        for bits in (4, 2)
        for case in in_every_form(
            f"kivi{bits}",
            partial(in_threes, bits=bits),
            merges=True,
            bound=partial(rounding_bounds.kivi, bits, 3),
        )
    ),
]

APPEND = st.tuples(st.just("append"), st.integers(0, 5))
HALF = st.tuples(st.just("half"), st.integers(0, 5))
CUT = st.tuples(st.just("truncate"), st.integers(0, CAPACITY))
STEPS = st.lists(st.one_of(APPEND, HALF, CUT), max_size=12)
FAST = settings(deadline=None, derandomize=True, max_examples=40)


def twin_of(case: CacheCase, **changes) -> Twin:
    return Twin(case, small_config(**changes), CAPACITY)


class CacheSuite:
    """What every cache promises; the subclass parametrises ``case``."""

    def test_it_has_the_methods_of_the_protocol(self, case):
        assert isinstance(twin_of(case).cache, KVCache)

    def test_a_new_cache_is_empty_in_every_layer(self, case):
        twin_of(case).check()

    @FAST
    @given(steps=STEPS)
    def test_any_appends_and_truncations_keep_the_content(self, case, steps):
        twin = twin_of(case)
        for step, number in steps:
            if step == "truncate":
                floor = twin.cache.truncation_floor
                twin.truncate(min(max(number, floor), twin.num_tokens))
            elif step == "append":
                twin.append_all(number)
            else:
                twin.append(0, number)
                twin.append(1, number)
                if case.forgets:  # a failed pass is rolled back at once
                    twin.truncate(twin.num_tokens)
            twin.check()

    def test_num_tokens_grows_when_the_last_layer_has_been_written(self, case):
        twin = twin_of(case)
        seen = []
        for layer in LAYERS:
            twin.append(layer, 5)
            seen.append(twin.cache.num_tokens)
        assert seen == [0, 0, 5]

    def test_the_first_token_is_stored_and_layers_are_not_mixed_up(self, case):
        twin = twin_of(case)
        twin.append_all(1)
        twin.check()
        first = [float(twin.rows(layer)[0][0, 0, 0]) for layer in LAYERS]
        assert len(set(first)) == 3

    def test_offsets_after_a_prompt_of_six_are_six_seven_eight(self, case):
        twin = twin_of(case)
        offsets = []
        for tokens in (6, 1, 1, 1):
            offsets.append(twin.cache.num_tokens)
            twin.append_all(tokens)
        assert offsets == [0, 6, 7, 8]

    def test_a_count_read_earlier_does_not_change_later(self, case):
        twin = twin_of(case)
        before = twin.cache.num_tokens
        twin.append_all(4)
        assert before == 0

    @pytest.mark.parametrize("held", [0, 3, 7])
    @pytest.mark.parametrize("tokens", [1, 4])
    def test_truncating_forgets_half_appended_layers(self, case, held, tokens):
        twin = twin_of(case)
        for _ in range(held):
            twin.append_all(1)
        for failed_at in LAYERS:
            for layer in range(failed_at):
                twin.append(layer, tokens)
            assert twin.cache.num_tokens == held
            twin.truncate(held)
            twin.check()
        twin.append_all(2)
        twin.check()

    @pytest.mark.parametrize("tokens", [1, 2, 5])
    def test_the_last_pass_can_always_be_undone(self, case, tokens):
        twin = twin_of(case)
        assert twin.cache.truncation_floor == 0
        for _ in range(CAPACITY // tokens):
            before = twin.num_tokens
            twin.append_all(tokens)
            floor = twin.cache.truncation_floor
            assert isinstance(floor, int)
            assert 0 <= floor <= before
            twin.truncate(before)
            twin.check()
            twin.append_all(tokens)
            twin.check()

    def test_only_a_cache_that_forgets_has_a_floor(self, case):
        twin = twin_of(case)
        for _ in range(CAPACITY):
            twin.append_all(1)
        floor = twin.cache.truncation_floor
        assert (floor > 0) == case.forgets
        twin.truncate(floor)
        twin.check()
        if case.forgets:
            with pytest.raises(ArgumentError) as info:
                twin.cache.truncate(floor - 1)
            assert info.value.name == "num_tokens"
            twin.check()
        twin.append_all(1)
        twin.check()

    def test_a_full_cache_refuses_and_stays_as_it_was(self, case):
        twin = twin_of(case)
        for tokens in (5, 5, 2):
            twin.append_all(tokens)
        if case.drops:  # it makes room instead
            for _ in range(CAPACITY):
                twin.append_all(1)
            twin.check()
            return
        k, v = twin.draw(1)
        with pytest.raises(CacheFullError, match=r"13.*12") as info:
            twin.cache.append(0, k, v)
        assert info.value.name == "cache"
        twin.check()
        twin.truncate(CAPACITY - 1)
        twin.append_all(1)
        twin.check()

    @pytest.mark.parametrize("layer", [-1, 3, 1.0, None])
    def test_a_layer_that_does_not_exist_is_refused(self, case, layer):
        twin = twin_of(case)
        k, v = twin.draw(1)
        for call in (
            lambda: twin.cache.append(layer, k, v),
            lambda: twin.cache.view(layer),
        ):
            with pytest.raises(ArgumentError) as info:
                call()
            assert info.value.name == "layer"
        twin.check()

    @pytest.mark.parametrize(
        ("k_shape", "v_shape", "name"),
        [
            ((2, 3, 6), (2, 3, 6), "k.shape"),
            ((2, 2, 5), (2, 2, 6), "k.shape"),
            ((2, 12), (2, 12), "k.shape"),
            ((2, 2, 6), (1, 2, 6), "v.shape"),
            ((2, 2, 6), (2, 2, 4), "v.shape"),
        ],
    )
    def test_other_shapes_are_refused(self, case, k_shape, v_shape, name):
        twin = twin_of(case)
        twin.append_all(2)
        with pytest.raises(ArgumentError) as info:
            twin.cache.append(0, case.ones(k_shape), case.ones(v_shape))
        assert info.value.name == name
        twin.check()

    def test_a_key_of_another_dtype_is_refused_not_rounded(self, case):
        twin = twin_of(case)
        twin.append_all(2)
        shape, other = (2, 2, 6), case.other_dtype
        plain, strange = case.ones(shape), case.ones(shape, dtype=other)
        for k, v, name in [
            (strange, strange, "k.dtype"),
            (strange, plain, "k.dtype"),
            (plain, strange, "v.dtype"),
        ]:
            with pytest.raises(ArgumentError, match=other) as info:
                twin.cache.append(0, k, v)
            assert info.value.name == name
            twin.check()

    def test_arrays_of_the_other_backend_are_refused(self, case):
        twin = twin_of(case)
        twin.append_all(2)
        shape, other = (2, 2, 6), case.other_impl
        plain, strange = case.ones(shape), case.ones(shape, impl=other)
        for k, v, name in [(strange, plain, "k"), (plain, strange, "v")]:
            with pytest.raises(ArgumentError, match=case.impl) as info:
                twin.cache.append(0, k, v)
            assert info.value.name == name
            twin.check()

    @pytest.mark.parametrize("number", [-1, 3, 2.0, None])
    def test_truncating_to_more_than_is_stored_is_refused(self, case, number):
        twin = twin_of(case)
        twin.append_all(2)
        twin.append(0, 4)
        with pytest.raises(ArgumentError) as info:
            twin.cache.truncate(number)
        assert info.value.name == "num_tokens"
        twin.check()

    @pytest.mark.parametrize("number", [0, -1, 2.0, None, "4"])
    def test_a_capacity_that_is_no_count_is_refused(self, case, number):
        with pytest.raises(ArgumentError) as info:
            case.new(small_config(), number)
        assert info.value.name == "capacity_tokens"

    @pytest.mark.parametrize("name", ["impl", "dtype"])
    def test_an_unknown_backend_or_dtype_is_refused(self, case, name):
        options = {"impl": case.impl, "dtype": case.dtype, name: "bfloat12"}
        with pytest.raises(ArgumentError) as info:
            case.make(small_config(), CAPACITY, **options)
        assert info.value.name == name

    def test_what_was_appended_is_a_copy(self, case):
        twin = twin_of(case)
        for layer in LAYERS:
            k, v = twin.draw(2)
            twin.cache.append(layer, k, v)
            before = [rows.copy() for rows in twin.rows(layer)]
            k[:], v[:] = -1, -1
            for got, want in zip(twin.rows(layer), before, strict=True):
                assert (got == want).all()

    def test_nbytes_does_not_grow_with_use(self, case):
        twin = twin_of(case)
        before = twin.cache.nbytes
        for tokens in (5, 1, 1, 5):
            twin.append_all(tokens)
            assert twin.cache.nbytes == before > 0
