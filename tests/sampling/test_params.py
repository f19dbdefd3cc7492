"""SamplingParams refuses every unusable value, by name, when it is made."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle

import numpy as np
import pytest

from cutaway.core.errors import ArgumentError
from cutaway.sampling import SamplingParams

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *[
            ("temperature", bad)
            for bad in (-1, -1e-9, NAN, INF, "1", None, True)
        ],
        *[("top_p", bad) for bad in (0, -0.1, 1.0001, NAN, INF, "0.5", None)],
        *[("min_p", bad) for bad in (-0.1, 1, 1.5, NAN, "0", None)],
        *[("top_k", bad) for bad in (0, -1, 1.5, "3", True)],
        *[("typical_p", bad) for bad in (0, -0.1, 1.1, NAN, "1", None)],
        *[
            ("repetition_penalty", bad)
            for bad in (0, -1, NAN, INF, "1", None, True)
        ],
        *[
            (f"{kind}_penalty", bad)
            for kind in ("frequency", "presence")
            for bad in (-2.1, 2.1, NAN, INF, "1", None, True)
        ],
        *[("max_tokens", bad) for bad in (0, -5, 2.0, None, "16", False)],
        *[("seed", bad) for bad in (-1, 1.0, "0", True)],
        *[("stop_token_ids", bad) for bad in ("2", 2, None, b"2")],
        *[("ignore_eos", bad) for bad in (1, None, "yes")],
        *[("skip_special_tokens", bad) for bad in (0, None, "no")],
    ],
)
def test_bad_value_raises_naming_the_field(name: str, value: object) -> None:
    with pytest.raises(ArgumentError) as caught:
        SamplingParams(**{name: value})
    assert caught.value.name == name
    assert str(value) in caught.value.got


@pytest.mark.parametrize("bad", [[1, -1], [1, 2.5], ["1", 2], (True, 1)])
def test_bad_stop_token_id_is_named_with_its_place(bad: list) -> None:
    place = next(i for i, x in enumerate(bad) if type(x) is not int or x < 0)
    with pytest.raises(ArgumentError) as caught:
        SamplingParams(stop_token_ids=bad)
    assert caught.value.name == f"stop_token_ids[{place}]"


def test_off_is_none_and_not_zero_and_the_error_says_so() -> None:
    with pytest.raises(ArgumentError, match="None or an integer >= 1"):
        SamplingParams(top_k=0)


@pytest.mark.parametrize(
    ("typo", "meant"),
    [
        ("temprature", "temperature"),
        ("topk", "top_k"),
        ("top_P", "top_p"),
        ("max_token", "max_tokens"),
        ("stop_tokens_ids", "stop_token_ids"),
    ],
)
def test_unknown_keyword_raises_and_names_the_nearest(
    typo: str, meant: str
) -> None:
    with pytest.raises(ArgumentError) as caught:
        SamplingParams(**{typo: 1})
    assert caught.value.name == typo
    assert caught.value.expected == meant


def test_unknown_keyword_like_no_other_lists_all_names() -> None:
    with pytest.raises(ArgumentError) as caught:
        SamplingParams(best_of=2)
    for field in dataclasses.fields(SamplingParams):
        assert field.name in caught.value.expected


def test_positional_values_are_refused() -> None:
    with pytest.raises(TypeError):
        SamplingParams(0.5)


def test_signature_lists_each_field_with_its_default_keyword_only() -> None:
    shown = inspect.signature(SamplingParams).parameters
    named = {n: p for n, p in shown.items() if p.kind is p.KEYWORD_ONLY}
    assert {n: p.default for n, p in named.items()} == {
        f.name: f.default for f in dataclasses.fields(SamplingParams)
    }


def test_params_cannot_be_changed() -> None:
    params = SamplingParams(temperature=0.5)
    with pytest.raises(dataclasses.FrozenInstanceError):
        params.temperature = 2.0
    assert params.temperature == 0.5


def test_equal_hashable_copyable_and_replaceable() -> None:
    params = SamplingParams(temperature=0.5, stop_token_ids=[3, 4], seed=7)
    assert params == SamplingParams(
        temperature=0.5, stop_token_ids=(3, 4), seed=7
    )
    assert len({params, copy.deepcopy(params)}) == 1
    assert pickle.loads(pickle.dumps(params)) == params
    changed = dataclasses.replace(params, temperature=0)
    assert (changed.is_greedy, changed.seed, params.is_greedy) == (
        True,
        7,
        False,
    )
    with pytest.raises(ArgumentError):
        dataclasses.replace(params, top_p=2)


def test_repr_shows_what_differs_from_the_defaults_and_evaluates_back() -> None:
    assert repr(SamplingParams()) == "SamplingParams()"
    params = SamplingParams(temperature=0, top_k=5, stop_token_ids=[9])
    assert (
        repr(params)
        == "SamplingParams(temperature=0.0, top_k=5, stop_token_ids=(9,))"
    )
    assert eval(repr(params)) == params


def test_numpy_numbers_are_taken_as_plain_ones() -> None:
    params = SamplingParams(
        temperature=np.float32(0.5),
        top_k=np.int64(3),
        stop_token_ids=np.array([1]),
    )
    assert type(params.temperature) is float
    assert type(params.top_k) is int
    assert [type(t) for t in params.stop_token_ids] == [int]


def test_bias_is_kept_as_sorted_pairs_however_it_came() -> None:
    expected = ((2, -100.0), (7, 1.0))
    for given in ({7: 1, 2: -100}, [(7, 1), (2, -100)], expected):
        assert SamplingParams(logit_bias=given).logit_bias == expected
        pairs = (pair for pair in dict(given).items())
        assert SamplingParams(logit_bias=pairs).logit_bias == expected
    params = SamplingParams(logit_bias={np.int64(7): np.float32(1)})
    assert eval(repr(params)) == params
    assert SamplingParams(logit_bias={}) == SamplingParams(logit_bias=None)
    assert len({params, copy.deepcopy(params)}) == 1


def test_a_bias_changed_by_the_caller_later_changes_nothing() -> None:
    bias = {1: 2.0}
    params = SamplingParams(logit_bias=bias)
    bias[1] = 50.0
    assert params.logit_bias == ((1, 2.0),)
