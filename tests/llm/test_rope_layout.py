"""The real model with the wrong rotary pairs: what a smoke test misses."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cutaway.book.texts import TEXTS
from cutaway.decoder import Decoder, perplexity
from cutaway.weights import permute_rows, unpermute_rows

pytestmark = pytest.mark.model


def turned_in_halves(llm, params):
    return Decoder(replace(llm.config, rope_layout="half_split"), params)


def reordered(llm, change):
    """The weights with the rows of wq and wk in another order."""
    params, config = llm.decoder.params, llm.config
    layers = tuple(
        replace(
            layer,
            wq=change(layer.wq, config.num_heads),
            wk=change(layer.wk, config.num_kv_heads),
        )
        for layer in params.layers
    )
    return replace(params, layers=layers)


def test_wrong_pairs_say_paris_and_triple_the_perplexity(llm):
    wrong = turned_in_halves(llm, llm.decoder.params)
    ids = llm.tokenizer.encode("The capital of France is")
    [paris] = llm.tokenizer.encode(" Paris")
    logits = wrong.forward(ids, wrong.new_cache(len(ids)))[-1]
    assert np.argmax(logits) == paris
    for name in ("explanation", "code"):
        text = llm.tokenizer.encode(TEXTS[name])
        assert perplexity(wrong, text) > 3 * perplexity(llm.decoder, text)


def test_unpermuted_weights_turned_in_halves_give_the_same_logits(llm):
    ids = llm.tokenizer.encode("The capital of France is")
    halves = turned_in_halves(llm, reordered(llm, unpermute_rows))
    got = halves.forward(ids, halves.new_cache(len(ids)))
    np.testing.assert_allclose(got, llm.logits(ids), rtol=0, atol=2e-3)
    # and the inverse permutation is not the permutation
    twice = turned_in_halves(llm, reordered(llm, permute_rows))
    other = twice.forward(ids, twice.new_cache(len(ids)))
    assert np.abs(other - llm.logits(ids)).max() > 1
