"""The order of operations: whose it is, and that it matters."""

from __future__ import annotations

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cutaway.core.errors import ArgumentError
from cutaway.sampling import (
    ORDERS,
    SamplingParams,
    candidate_set,
    probabilities,
    process_logits,
)
from cutaway.sampling.orders import steps_of
from oracles.sampler import ordered_probabilities

INF = float("inf")
TRUNCATED = np.log([0.6, 0.25, 0.15])
HOT = SamplingParams(temperature=3, top_p=0.6)


def hf_chain(**config) -> list:
    """Let transformers build its own chain, in its own order."""
    pytest.importorskip("torch", reason="torch is not installed")
    from transformers import GenerationConfig
    from transformers.generation.utils import GenerationMixin

    class Bare(GenerationMixin):
        def __init__(self) -> None:
            self.generation_config = GenerationConfig()
            self.config = SimpleNamespace(is_encoder_decoder=False)

    wanted = GenerationConfig(do_sample=True, **config)
    return list(
        Bare()._get_logits_processor(
            wanted, input_ids_seq_length=3, encoder_input_ids=None
        )
    )


def test_huggingface_order_is_the_one_transformers_builds() -> None:
    chain = hf_chain(
        sequence_bias=[[[1], 2.0]],
        repetition_penalty=1.2,
        temperature=0.7,
        top_k=5,
        top_p=0.9,
        min_p=0.05,
        typical_p=0.8,
    )
    assert [type(each).__name__ for each in chain] == [
        "SequenceBiasLogitsProcessor",
        "RepetitionPenaltyLogitsProcessor",
        "TemperatureLogitsWarper",
        "TopKLogitsWarper",
        "TopPLogitsWarper",
        "MinPLogitsWarper",
        "TypicalLogitsWarper",
    ]
    assert ORDERS["huggingface"] == (
        "logit_bias",
        "repetition_penalty",
        "temperature",
        "top_k",
        "top_p",
        "min_p",
        "typical_p",
    )


def test_huggingface_order_gives_what_transformers_gives() -> None:
    import torch

    from cutaway.sampling import History, softmax

    setting = {
        "repetition_penalty": 1.4,
        "temperature": 1.7,
        "top_k": 60,
        "top_p": 0.95,
        "min_p": 0.02,
        "typical_p": 0.9,
    }
    rng = np.random.default_rng(2)
    logits = rng.normal(scale=4, size=(5, 200))
    logits[1] = np.round(logits[1])  # ties
    ids = rng.integers(0, 200, (5, 12))
    scores = torch.from_numpy(logits)
    for processor in hf_chain(**setting):
        scores = processor(torch.from_numpy(ids), scores)
    params = SamplingParams(**setting)
    for row, seen, expected in zip(logits, ids, scores.numpy(), strict=True):
        history = History(seen[:5].tolist(), seen[5:].tolist())
        got = probabilities(row, params, history, order="huggingface")
        np.testing.assert_allclose(got, softmax(expected), atol=1e-14)
        assert 1 < (got > 0).sum() < 60


def test_temperature_is_first_of_the_cuts_but_last_in_llama_cpp() -> None:
    cuts = ("top_k", "top_p", "min_p")
    for name in ("huggingface", "vllm", "cutaway"):
        place = ORDERS[name].index("temperature")
        assert all(ORDERS[name].index(cut) > place for cut in cuts)
    assert ORDERS["llama.cpp"][-1] == "temperature"
    vllm = ORDERS["vllm"]
    assert vllm.index("min_p") < vllm.index("top_k") < vllm.index("top_p")


def test_candidate_sets_differ_when_the_temperature_is_not_1() -> None:
    first = candidate_set(TRUNCATED, HOT, order="huggingface")
    last = candidate_set(TRUNCATED, HOT, order="llama.cpp")
    assert (first.tolist(), last.tolist()) == ([0, 1], [0])


def test_min_p_before_top_p_can_keep_fewer_than_after() -> None:
    logits = np.log([0.4, 0.22, 0.13, 0.13, 0.12])
    params = SamplingParams(top_p=0.7, min_p=0.5)
    kept = {
        order: len(candidate_set(logits, params, order=order))
        for order in ("vllm", "huggingface")
    }
    assert kept == {"vllm": 2, "huggingface": 2}
    narrow = SamplingParams(top_p=0.63, min_p=0.5)
    assert len(candidate_set(logits, narrow, order="vllm")) == 1
    assert len(candidate_set(logits, narrow, order="huggingface")) == 2


# Grid logits and cuts that no sum of theirs can meet: ties are exact.
ROWS = st.lists(
    st.one_of(st.integers(-240, 240).map(lambda i: i / 8), st.just(-INF)),
    min_size=1,
    max_size=9,
).filter(lambda row: max(row) > -INF)


@settings(max_examples=150, deadline=None)
@given(
    logits=ROWS,
    name=st.sampled_from(sorted(ORDERS)),
    temperature=st.sampled_from([0, 0.05, 0.5, 1, 2, 50]),
    top_k=st.sampled_from([None, 1, 2, 5, 99]),
    top_p=st.sampled_from([0.01, 0.37, 0.9, 1]),
    min_p=st.sampled_from([0.0, 0.013, 0.37]),
)
def test_every_order_equals_enumeration(
    logits, name, temperature, top_k, top_p, min_p
) -> None:
    setting = {
        "temperature": temperature,
        "top_k": top_k,
        "top_p": top_p,
        "min_p": min_p,
    }
    got = probabilities(logits, SamplingParams(**setting), order=name)
    exact = ordered_probabilities(logits, ORDERS[name], setting)
    np.testing.assert_allclose(got, exact, rtol=1e-12, atol=1e-15)
    np.testing.assert_array_equal(got > 0, np.array(exact) > 0)


@settings(max_examples=60, deadline=None)
@given(
    logits=ROWS,
    cut=st.sampled_from([{"top_k": 3}, {"top_p": 0.37}, {"min_p": 0.013}]),
)
def test_at_temperature_1_orders_with_one_cut_agree(logits, cut) -> None:
    params = SamplingParams(**cut)
    one, *others = (
        probabilities(logits, params, order=name) for name in ORDERS
    )
    for other in others:
        np.testing.assert_allclose(one, other, rtol=1e-12)


@settings(max_examples=60, deadline=None)
@given(logits=ROWS, temperature=st.sampled_from([0, 0.05, 0.5, 2, 50]))
def test_top_k_commutes_with_temperature(logits, temperature) -> None:
    params = SamplingParams(temperature=temperature, top_k=3)
    before = process_logits(logits, params, order=["temperature", "top_k"])
    after = process_logits(logits, params, order=["top_k", "temperature"])
    np.testing.assert_array_equal(before, after)


def test_an_order_of_your_own_is_followed() -> None:
    params = SamplingParams(top_k=1, logit_bias={1: 5})
    logits = [3.0, 1.0, 2.0]
    assert candidate_set(logits, params).tolist() == [1]
    own = ["top_k", "logit_bias"]
    assert candidate_set(logits, params, order=own).tolist() == [0]


def test_greedy_is_the_same_token_in_every_order() -> None:
    rng = np.random.default_rng(0)
    params = SamplingParams(temperature=0, top_k=4, top_p=0.3, min_p=0.2)
    for logits in rng.normal(size=(20, 31)):
        for order in ORDERS:
            chosen = candidate_set(logits, params, order=order)
            assert chosen.tolist() == [logits.argmax()]


def test_typical_before_temperature_0_is_no_longer_the_likeliest() -> None:
    logits = np.log([0.4, 0.3, 0.3])  # surprises 0.92, 1.20; entropy 1.09
    params = SamplingParams(temperature=0, typical_p=0.5)
    assert candidate_set(logits, params, order="huggingface").tolist() == [0]
    assert candidate_set(logits, params, order="llama.cpp").tolist() == [1]


def test_candidates_come_likeliest_first_and_lower_ids_first() -> None:
    logits = [1.0, 3.0, 2.0, 3.0, -INF]
    got = candidate_set(logits, SamplingParams())
    assert got.tolist() == [1, 3, 2, 0]


@pytest.mark.parametrize(
    "order",
    [
        "vLLM",
        "",
        "temperature",
        ["temprature"],
        ["top_k", "top_k"],
        ["seed"],
        None,
        3,
        {"top_k"},
        [["top_k"]],
    ],
)
def test_unknown_order_is_refused(order) -> None:
    with pytest.raises(ArgumentError) as caught:
        probabilities([0.0, 1.0], SamplingParams(), order=order)
    assert caught.value.name == "order"


@pytest.mark.parametrize(
    ("order", "name", "value"),
    [
        ("vllm", "typical_p", 0.5),
        ("huggingface", "frequency_penalty", 0.5),
        ("huggingface", "presence_penalty", 0.5),
        (["top_k"], "temperature", 0.5),
    ],
)
def test_a_step_the_engine_lacks_is_refused_not_skipped(
    order, name, value
) -> None:
    params = SamplingParams(**{name: value})
    with pytest.raises(ArgumentError) as caught:
        probabilities([0.0, 1.0], params, order=order)
    assert caught.value.name == name
    assert "no such step" in caught.value.expected


def test_defaults_ask_for_no_step_in_any_order() -> None:
    for order in ORDERS:
        assert steps_of(SamplingParams(), order) == ()


def test_orders_are_made_of_the_same_steps_and_cannot_be_changed() -> None:
    known = set(ORDERS["cutaway"])
    for steps in ORDERS.values():
        assert set(steps) <= known
        assert len(set(steps)) == len(steps)
    with pytest.raises(TypeError):
        ORDERS["mine"] = ()


def test_rows_of_a_batch_are_processed_alone_in_every_order() -> None:
    logits = np.random.default_rng(1).normal(size=(3, 2, 17)) * 3
    params = SamplingParams(temperature=0.6, top_k=9, top_p=0.8, min_p=0.05)
    for order in ORDERS:
        whole = probabilities(logits, params, order=order)
        for i, j in itertools.product(range(3), range(2)):
            alone = probabilities(logits[i, j], params, order=order)
            np.testing.assert_array_equal(whole[i, j], alone)


def test_more_than_one_row_has_no_candidate_set() -> None:
    with pytest.raises(ArgumentError, match="logits"):
        candidate_set([[0.0, 1.0]], SamplingParams())
