"""The decoder on the real model: golden logits, chunks, speed of loading."""

from __future__ import annotations

import time

import numpy as np
import pytest

from cutaway.core import ModelConfig
from cutaway.decoder import Decoder, Params
from cutaway.weights import GGUFFile

pytestmark = pytest.mark.model

CAPITAL = [504, 3575, 282, 4649, 314]  # "The capital of France is"
# top-5 after it: " Paris", " the", " London", " Le", " New"
GOLDEN = {7042: 17.371, 260: 14.889, 4528: 13.245, 2250: 13.010, 1315: 12.952}
# "The capital of Germany is Berlin, and the capital of France is"
PROMPT = [504, 3575, 282, 4521, 314, 11452, 28, 284, 260, 3575, 282, 4649, 314]


def softmax(logits):
    weights = np.exp(logits - logits.max())
    return weights / weights.sum()


def test_the_golden_logits(real_decoder):
    cache = real_decoder.new_cache(8)
    logits = real_decoder.forward(CAPITAL, cache)[-1].astype(np.float64)
    assert logits.shape == (49152,)
    top = np.argsort(-logits)[:5].tolist()
    assert top == list(GOLDEN)
    for token, value in GOLDEN.items():
        assert logits[token] == pytest.approx(value, abs=0.02)
    probabilities = softmax(logits)[list(GOLDEN)]
    want = [0.7725, 0.0645, 0.0125, 0.0099, 0.0093]
    np.testing.assert_allclose(probabilities, want, rtol=0.02)


def test_every_split_in_two_chunks_gives_the_same_logits(real_decoder):
    want = real_decoder.forward(PROMPT, real_decoder.new_cache(13))
    ordered = np.sort(want[-1])
    assert want[-1].argmax() == 7042
    assert ordered[-1] - ordered[-2] > 0.05  # no tie decides
    for cut in range(1, len(PROMPT)):
        cache = real_decoder.new_cache(13)
        parts = [
            real_decoder.forward(part, cache)
            for part in (PROMPT[:cut], PROMPT[cut:])
        ]
        got = np.concatenate(parts)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-3)
        assert got[-1].argmax() == want[-1].argmax()


def test_token_by_token_gives_the_same_logits(real_decoder):
    want = real_decoder.forward(PROMPT, real_decoder.new_cache(13))
    cache = real_decoder.new_cache(13)
    got = [real_decoder.forward([token], cache)[0] for token in PROMPT]
    np.testing.assert_allclose(np.stack(got), want, rtol=0, atol=1e-3)


def test_the_other_rotary_layout_is_told_apart_by_numbers(real_decoder):
    # "Paris" still wins with the wrong layout: a smoke test misses the bug
    import dataclasses

    wrong = Decoder(
        dataclasses.replace(real_decoder.config, rope_layout="half_split"),
        real_decoder.params,
        impl=real_decoder.impl,
    )
    logits = wrong.forward(CAPITAL, wrong.new_cache(8))[-1]
    assert logits.argmax() == 7042
    assert abs(logits[7042] - GOLDEN[7042]) > 0.3


def test_a_token_costs_45_kib_of_cache(real_decoder):
    cache = real_decoder.new_cache(100)
    # K and V, 30 layers, 3 heads of 64, 4 bytes
    assert cache.bytes_per_token == 2 * 30 * 3 * 64 * 4 == 46080
    assert cache.nbytes == 4_608_000


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_weights_are_ready_within_two_seconds(model_path, impl):
    best = np.inf
    for _ in range(3):  # the machine may be busy with something else
        start = time.perf_counter()
        with GGUFFile(model_path) as file:
            config = ModelConfig.from_gguf(file.metadata, tie_embeddings=True)
            Decoder(
                config, Params.from_gguf(file, config, impl=impl), impl=impl
            )
        best = min(best, time.perf_counter() - start)
        if best <= 2:
            break
    assert best <= 2
