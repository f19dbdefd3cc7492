"""Cached equals uncached, however a text is cut up and cut back."""

from __future__ import annotations

from functools import cache as remembered

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.core import ModelConfig
from cutaway.decoder import Decoder, Params, generate_tokens
from cutaway.sampling import SamplingParams
from cutaway.tokenizer import Tokenizer
from cutaway.weights import GGUFFile

CONFIG = ModelConfig(
    num_layers=3,
    hidden_size=18,
    num_heads=6,
    num_kv_heads=2,
    head_dim=4,
    ffn_size=21,
    vocab_size=23,
    rope_theta=1e4,
    norm_eps=1e-5,
    max_seq_len=24,
)
READ = st.lists(st.integers(0, 22), min_size=1, max_size=8)
CUT = st.integers(0, 24)
STORY = (
    "Once upon a time there was a small robot who wanted to learn how to "
    "paint. Every morning it"
)


@remembered
def tiny(impl: str) -> Decoder:
    params = Params.random(CONFIG, 1, impl=impl, dtype="float64")
    return Decoder(CONFIG, params, impl=impl)


def uncached(decoder: Decoder, ids: list[int]) -> np.ndarray:
    """All logits of a text read in one pass, by a cache that is new."""
    return decoder.forward(ids, decoder.new_cache(len(ids)))


@settings(deadline=None, derandomize=True, max_examples=60)
@given(
    steps=st.lists(st.one_of(READ, CUT), min_size=1, max_size=10),
    impl=st.sampled_from(["numpy", "torch"]),
)
def test_any_reads_and_truncations_give_the_logits_of_one_pass(steps, impl):
    decoder = tiny(impl)
    cache, text = decoder.new_cache(24), []
    for step in steps:
        if isinstance(step, int):
            keep = min(step, len(text))
            cache.truncate(keep)
            del text[keep:]
            continue
        start, step = len(text), step[: 24 - len(text)]
        if not step:
            continue
        text += step
        got = decoder.forward(step, cache)
        assert cache.num_tokens == len(text)
        np.testing.assert_allclose(
            got, uncached(decoder, text)[start:], rtol=0, atol=1e-10
        )


@pytest.mark.model
@pytest.mark.parametrize("seed", range(3))
def test_the_real_model_survives_random_chunks_and_truncations(
    real_decoder, model_path, seed
):
    with GGUFFile(model_path) as file:
        ids = Tokenizer.from_gguf(file.metadata).encode(STORY)
    want = uncached(real_decoder, ids)
    got = np.full_like(want, np.nan)
    rng = np.random.default_rng(seed)
    cache = real_decoder.new_cache(len(ids) + 2)
    for turn in range(40):
        start = cache.num_tokens
        stop = min(start + int(rng.integers(1, 8)), len(ids))
        got[start:stop] = real_decoder.forward(ids[start:stop], cache)
        real_decoder.forward([5, 6], cache)  # other tokens, and away with them
        cache.truncate(stop if turn % 3 else int(rng.integers(0, stop)))
        if cache.num_tokens == len(ids):
            break
    assert cache.num_tokens == len(ids)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-3)
    first, second = np.sort(want, axis=1)[:, :-3:-1].T
    sure = first - second > 2e-3  # rounding may decide a tie
    assert sure.mean() > 0.9
    assert (got.argmax(1) == want.argmax(1))[sure].all()


@pytest.mark.model
def test_greedy_tokens_are_those_of_reading_all_again(real_decoder):
    prompt = [504, 3575, 282, 4521, 314, 11452, 28, 284, 260, 3575]
    greedy = SamplingParams(temperature=0, max_tokens=12, ignore_eos=True)
    steps = generate_tokens(real_decoder, prompt, greedy, stop_token_ids=())
    text = list(prompt)
    for step in steps:
        logits = uncached(real_decoder, text)[-1]
        first, second = np.sort(logits)[:-3:-1]
        assert first - second > 0.05  # no tie decides
        assert step.token_id == logits.argmax()
        np.testing.assert_allclose(step.logits, logits, rtol=0, atol=1e-3)
        text.append(step.token_id)
