"""The draw: its distribution, its seed, its independence of the batch."""

from __future__ import annotations

import math
import tracemalloc

import numpy as np
import pytest

from cutaway.core.errors import ArgumentError
from cutaway.sampling import (
    SamplingParams,
    new_generator,
    probabilities,
    sample,
)
from oracles.sampler import chi_square, chi_square_limit, exact_probabilities

LOGITS = [1.5, -0.5, 0.25, 1.5, -3.0, 0.75, -float("inf"), 0.0]
SETTINGS = [
    {},
    {"temperature": 0.4},
    {"temperature": 2.5, "top_k": 4},
    {"top_p": 0.8},
    {"min_p": 0.25},
    {"temperature": 1.3, "top_k": 6, "top_p": 0.9, "min_p": 0.1},
]


def draw(setting: dict, count: int) -> np.ndarray:
    params = SamplingParams(seed=20250101, **setting)
    generator = new_generator(params)
    drawn = [sample(LOGITS, params, generator) for _ in range(count)]
    return np.bincount(drawn, minlength=len(LOGITS))


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
def test_draws_follow_the_exact_distribution(setting: dict) -> None:
    exact = exact_probabilities(LOGITS, **setting)
    counts = draw(setting, 4000)
    outcomes = sum(q > 0 for q in exact)
    assert chi_square(counts, exact) < chi_square_limit(outcomes)


def test_chi_square_would_see_a_wrong_temperature_or_a_leaked_token() -> None:
    limit = chi_square_limit(7)
    counts = draw({}, 4000)
    assert chi_square(counts, exact_probabilities(LOGITS, 1.25)) > limit
    assert chi_square(counts, exact_probabilities(LOGITS, top_k=6)) == np.inf


@pytest.mark.parametrize("freedom", [4, 6, 30])
def test_chi_square_limit_is_passed_by_chance_once_in_10_000(
    freedom: int,
) -> None:
    # For an even number of degrees the tail is a Poisson sum.
    half = chi_square_limit(freedom + 1) / 2
    terms = (half**i / math.factorial(i) for i in range(freedom // 2))
    assert math.exp(-half) * sum(terms) == pytest.approx(1e-4, rel=0.3)


def test_same_seed_same_tokens_and_another_seed_others() -> None:
    def tokens(seed: int) -> list[int]:
        params = SamplingParams(seed=seed)
        generator = new_generator(params)
        return [sample(LOGITS, params, generator) for _ in range(40)]

    assert tokens(7) == tokens(7)
    assert tokens(7) != tokens(8)


def test_without_a_seed_two_requests_differ() -> None:
    params = SamplingParams()
    first, second = new_generator(params), new_generator(params)
    assert list(first.integers(0, 2**60, 4)) != list(
        second.integers(0, 2**60, 4)
    )


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0)])
def test_tokens_of_a_request_do_not_depend_on_the_batch_order(order) -> None:
    settings = [
        SamplingParams(seed=s, temperature=t)
        for s, t in [(1, 1), (2, 2), (3, 0)]
    ]
    alone = []
    for params in settings:
        generator = new_generator(params)
        alone.append([sample(LOGITS, params, generator) for _ in range(12)])
    generators = [new_generator(params) for params in settings]
    batched: list[list[int]] = [[], [], []]
    for _ in range(12):
        for row in order:
            batched[row].append(sample(LOGITS, settings[row], generators[row]))
    assert batched == alone


def test_sampled_draw_takes_one_number_and_greedy_takes_none() -> None:
    for params, used in [
        (SamplingParams(), 1),
        (SamplingParams(temperature=0), 0),
    ]:
        ours, other = np.random.default_rng(4), np.random.default_rng(4)
        sample(LOGITS, params, ours)
        other.random(used)
        assert ours.bit_generator.state == other.bit_generator.state


def test_greedy_takes_the_lowest_id_among_equals() -> None:
    greedy = SamplingParams(temperature=0, top_k=3, top_p=0.5, min_p=0.1)
    generator = new_generator(greedy)
    assert sample([0.0, 2.0, 1.0, 2.0], greedy, generator) == 1
    np.testing.assert_array_equal(
        probabilities([0.0, 2.0, 1.0, 2.0], greedy), [0, 1, 0, 0]
    )


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_plain_greedy_is_the_argmax_and_copies_no_logits(dtype) -> None:
    generator = np.random.default_rng(0)
    logits = generator.normal(size=100_000).astype(dtype)
    greedy = SamplingParams(temperature=0)
    tracemalloc.start()
    try:
        token_id = sample(logits, greedy, generator)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert token_id == logits.argmax()
    assert peak < 6 * logits.size  # a copy in float64 takes 8 a logit


def test_plain_greedy_refuses_an_order_that_is_none() -> None:
    greedy = SamplingParams(temperature=0)
    generator = new_generator(greedy)
    for order in ("vlm", ["top_k"], ["temperature", "temperature"]):
        with pytest.raises(ArgumentError):
            sample([0.0, 1.0], greedy, generator, order=order)


class Fixed:
    """A generator that returns the numbers it was given."""

    def __init__(self, *numbers: float) -> None:
        self.numbers = list(numbers)

    def random(self) -> float:
        return self.numbers.pop(0)


def test_ends_of_the_unit_interval_pick_possible_tokens() -> None:
    logits = [-np.inf, 0.0, -np.inf, 0.0, -np.inf]
    fixed = Fixed(0.0, 0.5, np.nextafter(1.0, 0.0))
    drawn = [sample(logits, SamplingParams(), fixed) for _ in range(3)]
    assert drawn == [1, 3, 3]


def test_bad_logits_raise_and_leave_the_generator_where_it_was() -> None:
    generator = np.random.default_rng(0)
    before = generator.bit_generator.state
    for bad in ([np.nan, 1.0], [[0.0, 1.0]], [-np.inf], [np.inf, 0.0], []):
        for params in (SamplingParams(), SamplingParams(temperature=0)):
            with pytest.raises(ArgumentError, match="logits"):
                sample(bad, params, generator)
    assert generator.bit_generator.state == before


def test_result_is_a_plain_int() -> None:
    for temperature in (0, 1):
        params = SamplingParams(temperature=temperature, seed=0)
        assert type(sample(LOGITS, params, new_generator(params))) is int
