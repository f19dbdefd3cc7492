"""The decoder with fewer or more key/value heads."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cutaway.core import ArgumentError
from cutaway.decoder import Decoder, with_kv_heads
from cutaway.kvcache import ContiguousCache

IDS = [3, 1, 4, 1, 0, 2]


def logits(config, params, impl) -> np.ndarray:
    decoder = Decoder(config, params, impl=impl)
    return decoder.forward(IDS, decoder.new_cache(len(IDS)))


def test_copied_heads_give_the_same_logits_from_a_larger_cache(tiny_decoder):
    config, params = tiny_decoder.config, tiny_decoder.params
    wide, copied = with_kv_heads(config, params, 4)
    sizes = [
        ContiguousCache(c, 10, impl="numpy", dtype="float64").nbytes
        for c in (config, wide)
    ]
    assert sizes[1] == 2 * sizes[0]
    np.testing.assert_allclose(
        logits(wide, copied, tiny_decoder.impl),
        logits(config, params, tiny_decoder.impl),
        atol=1e-12,
    )


def test_a_shared_head_equals_the_same_head_given_to_all(tiny_decoder):
    config, params = tiny_decoder.config, tiny_decoder.params
    shared = with_kv_heads(config, params, 1)
    copies = with_kv_heads(*shared, 4)
    assert shared[0].num_kv_heads == 1
    assert copies[0].num_kv_heads == 4
    np.testing.assert_allclose(
        logits(*copies, tiny_decoder.impl),
        logits(*shared, tiny_decoder.impl),
        atol=1e-12,
    )


def test_merging_changes_the_model(tiny_decoder):
    config, params = tiny_decoder.config, tiny_decoder.params
    other = logits(*with_kv_heads(config, params, 1), tiny_decoder.impl)
    before = logits(config, params, tiny_decoder.impl)
    assert np.abs(other - before).max() > 0.01


@pytest.mark.parametrize("heads", [3, 0, 8, True])
def test_numbers_that_do_not_divide_are_refused(tiny_decoder, heads):
    with pytest.raises(ArgumentError):
        with_kv_heads(tiny_decoder.config, tiny_decoder.params, heads)


def test_biases_of_keys_are_refused(tiny_decoder):
    biased = replace(tiny_decoder.config, biases=frozenset({"qkv"}))
    with pytest.raises(ArgumentError, match="biases"):
        with_kv_heads(biased, tiny_decoder.params, 1)
