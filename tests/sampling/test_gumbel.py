"""Gumbel-max and the exponential race draw from softmax, no more no less."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.core.errors import ArgumentError
from cutaway.sampling import (
    SamplingParams,
    exponential_race,
    gumbel_max,
    probabilities,
    process_logits,
)
from oracles.sampler import chi_square, chi_square_limit, exact_probabilities

INF = float("inf")
LOGITS = np.array([1.5, -0.5, 0.25, 1.5, -3.0, 0.75, -INF, 0.0])
SETTINGS = [
    {},
    {"temperature": 0.4},
    {"temperature": 2.5, "top_k": 4},
    {"temperature": 1.3, "top_k": 6, "top_p": 0.9, "min_p": 0.1},
]
DRAWS = 6000


def by_gumbel(params: SamplingParams, generator) -> np.ndarray:
    z = process_logits(LOGITS, params)
    return gumbel_max(np.broadcast_to(z, (DRAWS, len(z))), generator)


def by_race(params: SamplingParams, generator) -> np.ndarray:
    probs = probabilities(LOGITS, params)
    return exponential_race(np.broadcast_to(probs, (DRAWS, 8)), generator)


@pytest.mark.parametrize("setting", SETTINGS, ids=str)
@pytest.mark.parametrize("draw", [by_gumbel, by_race])
def test_draws_follow_the_exact_distribution(draw, setting: dict) -> None:
    exact = exact_probabilities(LOGITS.tolist(), **setting)
    generator = np.random.default_rng(20250102)
    counts = np.bincount(
        draw(SamplingParams(**setting), generator), minlength=8
    )
    limit = chi_square_limit(sum(q > 0 for q in exact))
    assert chi_square(counts, exact) < limit


def test_chi_square_would_see_noise_of_the_wrong_scale() -> None:
    generator = np.random.default_rng(20250102)
    halved = np.broadcast_to(2 * LOGITS, (DRAWS, 8))  # noise too small
    counts = np.bincount(gumbel_max(halved, generator), minlength=8)
    exact = exact_probabilities(LOGITS.tolist())
    assert chi_square(counts, exact) > 10 * chi_square_limit(7)


def test_both_make_the_same_choice_from_the_same_noise() -> None:
    probs = probabilities(LOGITS, SamplingParams())
    many = np.broadcast_to(probs, (500, 8))
    one = gumbel_max(
        np.broadcast_to(LOGITS, (500, 8)), np.random.default_rng(3)
    )
    other = exponential_race(many, np.random.default_rng(3))
    np.testing.assert_array_equal(one, other)


class Fixed:
    """A generator whose exponentials are given."""

    def __init__(self, drawn: np.ndarray) -> None:
        self.drawn = drawn

    def standard_exponential(self, shape):
        assert shape == self.drawn.shape
        return self.drawn


def test_a_vocabulary_in_parts_is_drawn_part_by_part() -> None:
    drawn = np.random.default_rng(5).standard_exponential((400, 10))
    z = np.tile(np.random.default_rng(6).normal(size=10), (400, 1))
    whole = gumbel_max(z, Fixed(drawn))
    left = gumbel_max(z[:, :4], Fixed(drawn[:, :4]))
    right = 4 + gumbel_max(z[:, 4:], Fixed(drawn[:, 4:]))
    winners = np.stack([left, right], axis=1)
    pair, noise = (
        np.take_along_axis(array, winners, axis=1) for array in (z, drawn)
    )
    final = gumbel_max(pair, Fixed(noise))
    np.testing.assert_array_equal(winners[np.arange(400), final], whole)
    assert {0, 1} == set(final.tolist())


def test_every_row_of_any_batch_shape_gets_a_token() -> None:
    generator = np.random.default_rng(0)
    for shape in ((8,), (3, 8), (2, 3, 8), (0, 8)):
        z = np.broadcast_to(LOGITS, shape)
        assert gumbel_max(z, generator).shape == shape[:-1]
        assert exponential_race(np.exp(z), generator).shape == shape[:-1]


def test_rows_follow_their_own_distributions() -> None:
    certain = np.full((3, 4), -INF)
    certain[[0, 1, 2], [2, 0, 3]] = [-50, 3, 700]
    for _ in range(20):
        drawn = gumbel_max(certain, np.random.default_rng())
        assert drawn.tolist() == [2, 0, 3]
        possible = np.isfinite(certain).astype(float)
        raced = exponential_race(possible, np.random.default_rng())
        assert raced.tolist() == [2, 0, 3]


class Zeros:
    """A generator whose exponentials are all zero."""

    def standard_exponential(self, shape):
        return np.zeros(shape)


def test_a_zero_from_the_generator_makes_no_nan() -> None:
    probs = np.array([0.0, 0.25, 0.75, 0.0])
    assert exponential_race(probs, Zeros()) == 2
    with np.errstate(divide="ignore"):
        assert gumbel_max(np.log(probs), Zeros()) == 2


@pytest.mark.parametrize("bad", [[np.nan, 0], [INF, 0], [-INF], [], 3.0, "a"])
def test_bad_logits_are_refused_and_the_generator_stays(bad) -> None:
    generator = np.random.default_rng(0)
    before = generator.bit_generator.state
    with pytest.raises(ArgumentError, match="logits"):
        gumbel_max(bad, generator)
    assert generator.bit_generator.state == before


@pytest.mark.parametrize(
    "bad",
    [[np.nan, 1], [-0.1, 1], [0, 0], [[1, 0], [0, 0]], [INF], [], 1.0, "a"],
)
def test_bad_probabilities_are_refused_and_the_generator_stays(bad) -> None:
    generator = np.random.default_rng(0)
    before = generator.bit_generator.state
    with pytest.raises(ArgumentError, match="probs"):
        exponential_race(bad, generator)
    assert generator.bit_generator.state == before
