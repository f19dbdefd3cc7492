"""Prefill, then decode: what is read, when it stops, what it costs."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

from cutaway.core import ArgumentError, ModelConfig
from cutaway.decoder import Decoder, Params
from cutaway.decoder.generate import generate_tokens
from cutaway.kvcache import CacheFullError, RollingCache
from cutaway.sampling import SamplingParams
from oracles.sampler import chi_square, chi_square_limit, sequence_probabilities

GREEDY = SamplingParams(temperature=0, max_tokens=6)
PROMPT = [3, 1, 4, 1, 5]


def make_decoder(impl: str = "numpy") -> Decoder:
    config = ModelConfig(
        num_layers=2,
        hidden_size=12,
        num_heads=4,
        num_kv_heads=2,
        head_dim=6,
        ffn_size=20,
        vocab_size=11,
        rope_theta=1e4,
        norm_eps=1e-5,
        max_seq_len=32,
    )
    params = Params.random(config, 5, impl=impl, dtype="float64")
    return Decoder(config, params, impl=impl)


@pytest.fixture(scope="module")
def decoder() -> Decoder:
    return make_decoder()


class Recorder:
    """A decoder that notes what it is asked to read."""

    def __init__(self, inner) -> None:
        self.inner = inner
        self.config = inner.config
        self.new_cache = inner.new_cache
        self.passes: list[tuple[list[int], bool]] = []

    def forward(self, token_ids, cache, *, last_only=False, observe=None):
        self.passes.append((list(token_ids), last_only))
        return self.inner.forward(token_ids, cache, last_only=last_only)


class Scripted:
    """A decoder whose logits are a function of the answer so far."""

    def __init__(self, logits_after, vocab_size: int) -> None:
        self.config = SimpleNamespace(vocab_size=vocab_size, max_seq_len=1000)
        self.logits_after = logits_after

    def new_cache(self, capacity_tokens):
        return SimpleNamespace(num_tokens=0, answer=())

    def forward(self, token_ids, cache, *, last_only=False, observe=None):
        if cache.num_tokens:
            cache.answer = (*cache.answer, *token_ids)
        cache.num_tokens += len(token_ids)
        return np.array([self.logits_after(cache.answer)])


def run(decoder, prompt=PROMPT, params=GREEDY, stop=(), **more):
    return list(
        generate_tokens(decoder, prompt, params, stop_token_ids=stop, **more)
    )


def ids(steps) -> list[int]:
    return [step.token_id for step in steps]


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_cached_generation_equals_reading_everything_again(impl: str) -> None:
    decoder = make_decoder(impl)
    steps = run(decoder)
    text = list(PROMPT)
    for step in steps:
        fresh = decoder.forward(text, decoder.new_cache(len(text)))[-1]
        np.testing.assert_allclose(step.logits, fresh, atol=1e-10)
        assert step.token_id == fresh.argmax()
        text.append(step.token_id)
    assert len(set(ids(steps))) > 1


def test_prompt_is_read_once_and_the_last_token_never(decoder: Decoder) -> None:
    recorder = Recorder(decoder)
    tokens = ids(run(recorder))
    expected = [PROMPT, *([token] for token in tokens[:-1])]
    assert recorder.passes == [(chunk, True) for chunk in expected]


def test_a_prompt_is_read_in_passes_that_the_cache_takes(
    decoder: Decoder,
) -> None:
    cache = RollingCache(
        decoder.config, 16, chunk_tokens=2, impl="numpy", dtype="float64"
    )
    recorder = Recorder(decoder)
    tokens = ids(run(recorder, cache=cache))
    chunks = [PROMPT[:2], PROMPT[2:4], PROMPT[4:]]
    expected = [*chunks, *([token] for token in tokens[:-1])]
    assert recorder.passes == [(chunk, True) for chunk in expected]
    assert tokens == ids(run(decoder))


def test_nothing_is_computed_before_a_token_is_asked_for(
    decoder: Decoder,
) -> None:
    recorder = Recorder(decoder)
    steps = generate_tokens(recorder, PROMPT, GREEDY, stop_token_ids=())
    assert recorder.passes == []
    next(steps)
    assert len(recorder.passes) == 1


def test_length_ends_the_answer_at_max_tokens(decoder: Decoder) -> None:
    for max_tokens in (1, 2, 6):
        params = SamplingParams(temperature=0, max_tokens=max_tokens)
        reasons = [step.finish_reason for step in run(decoder, params=params)]
        assert reasons == [None] * (max_tokens - 1) + ["length"]


def test_stop_token_ends_the_answer_and_is_its_last_token(
    decoder: Decoder,
) -> None:
    free = ids(run(decoder))
    stop = free[3]
    first = free.index(stop)
    for params, own in [
        (GREEDY, (stop,)),
        (
            SamplingParams(temperature=0, max_tokens=6, stop_token_ids=[stop]),
            (),
        ),
    ]:
        steps = run(decoder, params=params, stop=own)
        assert ids(steps) == free[: first + 1]
        assert steps[-1].finish_reason == "stop"


def test_stop_on_the_last_token_allowed_is_a_stop(decoder: Decoder) -> None:
    first = ids(run(decoder))[0]
    params = SamplingParams(temperature=0, max_tokens=1)
    assert run(decoder, params=params, stop=(first,))[0].finish_reason == "stop"


def test_ignore_eos_leaves_the_models_stops_but_not_the_requests(
    decoder: Decoder,
) -> None:
    free = ids(run(decoder))
    ignoring = SamplingParams(temperature=0, max_tokens=6, ignore_eos=True)
    assert ids(run(decoder, params=ignoring, stop=free)) == free
    both = SamplingParams(
        temperature=0, max_tokens=6, ignore_eos=True, stop_token_ids=free[:1]
    )
    assert ids(run(decoder, params=both)) == free[:1]


def test_callers_cache_continues_and_ends_one_token_short(
    decoder: Decoder,
) -> None:
    cache = decoder.new_cache(20)
    decoder.forward(PROMPT[:2], cache)
    steps = run(decoder, prompt=PROMPT[2:], cache=cache)
    assert ids(steps) == ids(run(decoder))
    assert cache.num_tokens == len(PROMPT) + len(steps) - 1


def test_too_small_a_cache_raises_at_the_step_that_does_not_fit(
    decoder: Decoder,
) -> None:
    steps = generate_tokens(
        decoder, PROMPT, GREEDY, stop_token_ids=(), cache=decoder.new_cache(6)
    )
    got = list(itertools.islice(steps, 2))
    assert ids(got) == ids(run(decoder))[:2]
    with pytest.raises(CacheFullError):
        next(steps)


def test_same_seed_same_answer_and_calls_do_not_share_a_generator(
    decoder: Decoder,
) -> None:
    params = SamplingParams(seed=11, max_tokens=12)
    first, second = (
        generate_tokens(decoder, PROMPT, params, stop_token_ids=())
        for _ in "ab"
    )
    interleaved = [
        (next(first).token_id, next(second).token_id) for _ in range(12)
    ]
    assert all(a == b for a, b in interleaved)
    other = SamplingParams(seed=12, max_tokens=12)
    assert ids(run(decoder, params=other)) != [a for a, _ in interleaved]


def test_answers_follow_the_exact_distribution_over_sequences() -> None:
    def logits_after(answer: tuple[int, ...]) -> list[float]:
        return [0.3 * len(answer), sum(answer) * 0.5 - 0.4, -0.2]

    exact = sequence_probabilities(logits_after, frozenset({2}), 3, 0.8)
    assert sum(exact.values()) == pytest.approx(1)
    scripted = Scripted(logits_after, vocab_size=3)
    counts = dict.fromkeys(exact, 0)
    for seed in range(3000):
        params = SamplingParams(seed=seed, max_tokens=3, temperature=0.8)
        counts[tuple(ids(run(scripted, [0], params, stop=(2,))))] += 1
    statistic = chi_square(list(counts.values()), list(exact.values()))
    assert statistic < chi_square_limit(len(exact))


def test_elapsed_counts_our_time_and_not_the_callers() -> None:
    now = [0.0]
    scripted = Scripted(lambda answer: [0.0, 1.0], vocab_size=2)
    inner = scripted.forward

    def slow_forward(token_ids, cache, *, last_only=False, observe=None):
        now[0] += 0.5 * len(token_ids)
        return inner(token_ids, cache, last_only=last_only)

    scripted.forward = slow_forward
    times = []
    for step in generate_tokens(
        scripted, [0, 0, 0], GREEDY, stop_token_ids=(), clock=lambda: now[0]
    ):
        times.append(step.elapsed_s)
        now[0] += 100  # the caller is slow
    assert times == [1.5, 0.5, 0.5, 0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    ("prompt", "name"),
    [
        ([], "prompt_token_ids"),
        ([1, 11], "prompt_token_ids[1]"),
        ([-1], "prompt_token_ids[0]"),
        ([1.5], "prompt_token_ids[0]"),
        (["1"], "prompt_token_ids[0]"),
        (None, "prompt_token_ids"),
        (7, "prompt_token_ids"),
        ([1] * 27, "prompt + max_tokens"),
    ],
)
def test_bad_prompt_raises_before_anything_runs(decoder, prompt, name) -> None:
    recorder = Recorder(decoder)
    with pytest.raises(ArgumentError) as caught:
        generate_tokens(recorder, prompt, GREEDY, stop_token_ids=())
    assert caught.value.name == name
    assert recorder.passes == []


def test_prompt_and_answer_may_fill_the_context_to_the_last_token(
    decoder: Decoder,
) -> None:
    assert len(run(decoder, prompt=[1] * 26)) == 6


def test_tokens_already_in_the_cache_count_towards_the_context(
    decoder: Decoder,
) -> None:
    cache = decoder.new_cache(32)
    decoder.forward([1] * 22, cache)
    with pytest.raises(ArgumentError, match=r"27 \+ 6 = 33 tokens"):
        generate_tokens(decoder, PROMPT, GREEDY, stop_token_ids=(), cache=cache)
    assert cache.num_tokens == 22


def test_nan_logits_raise_instead_of_choosing_a_token() -> None:
    scripted = Scripted(lambda answer: [0.0, np.nan], vocab_size=2)
    with pytest.raises(ArgumentError, match="NaN in 1 of 2"):
        run(scripted, [0])


def test_every_pass_is_observed(decoder):
    seen = []
    steps = list(
        generate_tokens(
            decoder,
            PROMPT,
            GREEDY,
            stop_token_ids=(),
            observe=lambda name, layer, array: seen.append((name, len(array))),
        )
    )
    embedded = [rows for name, rows in seen if name == "embed"]
    assert embedded == [len(PROMPT)] + [1] * (len(steps) - 1)
