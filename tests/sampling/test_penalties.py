"""Penalties and biases, beside transformers and beside plain loops."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.core.errors import ArgumentError
from cutaway.sampling import (
    History,
    SamplingParams,
    apply_frequency_penalty,
    apply_logit_bias,
    apply_presence_penalty,
    apply_repetition_penalty,
    probabilities,
    process_logits,
    softmax,
)
from oracles.sampler import penalised_logits

INF = float("inf")
PENALTIES = [
    (apply_repetition_penalty, 1.3),
    (apply_frequency_penalty, 0.7),
    (apply_presence_penalty, -0.4),
]


def hf_repetition(logits: np.ndarray, ids: np.ndarray, penalty: float):
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from transformers.generation.logits_process import (
        RepetitionPenaltyLogitsProcessor,
    )

    processor = RepetitionPenaltyLogitsProcessor(penalty)
    return processor(torch.from_numpy(ids), torch.from_numpy(logits)).numpy()


@pytest.mark.parametrize("vocab", [1, 2, 7, 59, 1000])
@pytest.mark.parametrize("penalty", [0.5, 1.0, 1.2, 5.0])
def test_repetition_penalty_equals_transformers(vocab, penalty) -> None:
    rng = np.random.default_rng(vocab)
    logits = rng.normal(scale=4, size=(4, vocab))
    logits[1] = np.round(logits[1])  # ties, and exact zeros
    logits[3, rng.random(vocab) < 0.3] = -INF
    logits[3, 0] = 1.0
    ids = rng.integers(0, vocab, (4, 9))
    expected = hf_repetition(logits, ids, penalty)
    for row, seen, wanted in zip(logits, ids, expected, strict=True):
        got = apply_repetition_penalty(row, seen, penalty)
        np.testing.assert_allclose(got, wanted, rtol=1e-15)


def test_repetition_penalty_lowers_a_negative_logit() -> None:
    row = [2.0, -2.0, 0.0, 1.0]
    got = apply_repetition_penalty(row, [0, 1, 2], 2.0)
    np.testing.assert_array_equal(got, [1.0, -4.0, 0.0, 1.0])
    divided = np.array(row) / [2, 2, 2, 1]  # the formula as published
    assert softmax(divided)[1] > softmax(row)[1]
    assert softmax(got)[1] < softmax(row)[1]


def test_repetition_penalty_counts_a_token_once() -> None:
    once = apply_repetition_penalty([1.0, 2.0], [1], 1.5)
    often = apply_repetition_penalty([1.0, 2.0], [1, 1, 1], 1.5)
    np.testing.assert_array_equal(once, often)


def test_repetition_penalty_depends_on_where_zero_is() -> None:
    row = np.array([3.0, 2.0, 1.0])
    np.testing.assert_allclose(softmax(row), softmax(row - 10))
    high = softmax(apply_repetition_penalty(row, [0], 1.5))
    low = softmax(apply_repetition_penalty(row - 10, [0], 1.5))
    assert abs(high[0] - low[0]) > 0.1


@settings(max_examples=150, deadline=None)
@given(
    logits=st.lists(
        st.one_of(st.integers(-80, 80).map(lambda i: i / 8), st.just(-INF)),
        min_size=1,
        max_size=7,
    ).filter(lambda row: max(row) > -INF),
    prompt=st.lists(st.integers(0, 6), max_size=6),
    output=st.lists(st.integers(0, 6), max_size=6),
    repetition=st.sampled_from([1, 0.5, 1.3, 4]),
    frequency=st.sampled_from([0, -2, 0.4, 2]),
    presence=st.sampled_from([0, -1, 0.7]),
    bias=st.dictionaries(st.integers(0, 6), st.sampled_from([-3, 1.5, 100])),
)
def test_penalties_equal_the_plain_loop(
    logits, prompt, output, repetition, frequency, presence, bias
) -> None:
    vocab = len(logits)
    prompt = [i for i in prompt if i < vocab]
    output = [i for i in output if i < vocab]
    bias = {i: b for i, b in bias.items() if i < vocab}
    params = SamplingParams(
        repetition_penalty=repetition,
        frequency_penalty=frequency,
        presence_penalty=presence,
        logit_bias=bias,
    )
    got = process_logits(logits, params, History(prompt, output))
    exact = penalised_logits(
        logits, prompt, output, repetition, frequency, presence, bias
    )
    np.testing.assert_allclose(got, exact, rtol=1e-12)


def test_repetition_sees_the_prompt_and_the_other_two_do_not() -> None:
    history = History(prompt_ids=[0], output_ids=[1, 1])
    logits = [4.0, 4.0, 4.0]

    def moved(**setting: float) -> list[float]:
        params = SamplingParams(**setting)
        return process_logits(logits, params, history).tolist()

    assert moved(repetition_penalty=2) == [2, 2, 4]
    assert moved(frequency_penalty=1) == [4, 2, 4]
    assert moved(presence_penalty=1) == [4, 3, 4]


def test_a_bias_can_forbid_and_force() -> None:
    logits = np.random.default_rng(0).normal(size=50) * 5
    forbidden = SamplingParams(logit_bias={7: -100, 8: -100})
    assert probabilities(logits, forbidden)[[7, 8]].sum() < 1e-30
    forced = SamplingParams(logit_bias={9: 100})
    assert probabilities(logits, forced)[9] > 1 - 1e-12


def test_a_token_that_was_cut_stays_cut() -> None:
    row = np.array([-INF, 1.0])
    for penalty, value in PENALTIES:
        assert penalty(row, [0, 0], value)[0] == -INF
    assert apply_logit_bias(row, {0: 100})[0] == -INF


@pytest.mark.parametrize(("penalty", "value"), PENALTIES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_penalty_keeps_dtype_and_leaves_its_input_alone(
    penalty, value, dtype
) -> None:
    logits = np.arange(-4, 4, dtype=dtype)
    ids = [0, 7, 7]
    before = logits.copy()
    out = penalty(logits, ids, value)
    assert out.dtype == dtype
    assert not np.shares_memory(out, logits)
    np.testing.assert_array_equal(logits, before)
    assert ids == [0, 7, 7]
    assert apply_logit_bias(logits, {0: 1}).dtype == dtype


@pytest.mark.parametrize(("penalty", "value"), PENALTIES)
def test_without_a_history_nothing_moves(penalty, value) -> None:
    logits = [1.0, -1.0, 0.5]
    for empty in ([], (), np.zeros(0, int)):
        np.testing.assert_array_equal(penalty(logits, empty, value), logits)


@pytest.mark.parametrize(("penalty", "value"), PENALTIES)
@pytest.mark.parametrize(
    ("ids", "name"),
    [
        ([0, 3], "token_ids[1]"),
        ([-1], "token_ids[0]"),
        ([0.5], "token_ids"),
        ([True], "token_ids"),
        (["0"], "token_ids"),
        ([[0, 1]], "token_ids"),
        ([[0], [1, 2]], "token_ids"),
        (1, "token_ids"),
        (None, "token_ids"),
    ],
)
def test_bad_ids_are_named_with_their_place(penalty, value, ids, name) -> None:
    with pytest.raises(ArgumentError) as caught:
        penalty([0.0, 1.0, 2.0], ids, value)
    assert caught.value.name == name


@pytest.mark.parametrize(
    ("penalty", "value"),
    [
        *[
            (apply_repetition_penalty, bad)
            for bad in (0, -1, INF, np.nan, "1", None, True)
        ],
        *[
            (each, bad)
            for each in (apply_frequency_penalty, apply_presence_penalty)
            for bad in (2.1, -2.1, INF, np.nan, "1", None, True)
        ],
    ],
)
def test_bad_penalty_is_refused(penalty, value) -> None:
    with pytest.raises(ArgumentError) as caught:
        penalty([0.0, 1.0], [0], value)
    assert caught.value.name == "penalty"


@pytest.mark.parametrize(("penalty", "value"), PENALTIES)
@pytest.mark.parametrize(
    "logits", [[np.nan], [INF, 0.0], [-INF], [], [[0.0, 1.0]], "ab", None]
)
def test_bad_logits_are_refused(penalty, value, logits) -> None:
    with pytest.raises(ArgumentError, match="logits"):
        penalty(logits, [0], value)


def test_a_quotient_that_overflows_is_refused_and_not_infinite() -> None:
    with pytest.raises(ArgumentError, match="penalty"):
        apply_repetition_penalty(np.float32([3e38, 0]), [0], 0.1)


@pytest.mark.parametrize(
    "bias",
    [
        {-1: 1},
        {1.5: 1},
        {True: 1},
        {"1": 1},
        {1: 101},
        {1: np.nan},
        {1: "2"},
        {1: None},
        [(1, 2), (1, 3)],
        [1, 2],
        7,
        "ab",
    ],
)
def test_bad_bias_is_refused_here_and_in_the_parameters(bias) -> None:
    with pytest.raises(ArgumentError, match="bias"):
        apply_logit_bias([0.0, 1.0], bias)
    with pytest.raises(ArgumentError, match="logit_bias"):
        SamplingParams(logit_bias=bias)


def test_a_token_twice_in_an_iterator_is_refused() -> None:
    pairs = [(1, 2.0), (1, 3.0)]
    with pytest.raises(ArgumentError, match="each token id once"):
        apply_logit_bias([0.0, 1.0], iter(pairs))
    moved = apply_logit_bias([0.0, 1.0], iter(pairs[:1]))
    assert moved.tolist() == [0.0, 3.0]


def test_bias_beyond_the_vocabulary_is_refused() -> None:
    with pytest.raises(ArgumentError, match=r"bias\[1\]: got 2"):
        apply_logit_bias([0.0, 1.0], {0: 1, 2: 1})


def test_penalty_without_a_history_is_refused_not_ignored() -> None:
    for name in ("repetition", "frequency", "presence"):
        params = SamplingParams(**{f"{name}_penalty": 0.5})
        with pytest.raises(ArgumentError, match=f"history.*{name} penalty"):
            probabilities([0.0, 1.0], params)


def test_a_history_belongs_to_one_row() -> None:
    params = SamplingParams(presence_penalty=1)
    with pytest.raises(ArgumentError, match="one sequence"):
        probabilities([[0.0, 1.0], [2.0, 3.0]], params, History([], [0]))
