"""Latent attention: both forms against the paper's equations in loops."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cutaway.attention import (
    AttentionVariant,
    absorbed_attention,
    attention,
    causal,
    expanded_attention,
    full,
    latent_rows,
    latent_scale,
    sliding_window,
    softcap,
    turn_tail,
    up_projections,
)
from cutaway.core import ArgumentError
from cutaway.layers import Rotation, linear, rms_norm, rope_frequencies
from cutaway.roofline import CONFIGS
from oracles import latent_loops
from oracles.budget import assert_within_budget

IMPLS = ("numpy", "torch")
FORMS = {"expanded": expanded_attention, "absorbed": absorbed_attention}
SIZES = [  # heads, nope, rope, value, rank
    (3, 6, 4, 5, 7),
    (1, 1, 2, 1, 1),
    (4, 4, 2, 8, 3),  # a rank below the head's width
    (2, 5, 6, 3, 16),  # and one far above
]
HIDDEN = 10


def case(sizes, tokens, q_rank=None, seed=0):
    heads, nope, rope, value, rank = sizes
    rng = np.random.default_rng(seed)

    def draw(*shape):
        return rng.standard_normal(shape) * shape[-1] ** -0.5

    weights = {
        "wkv_a": draw(rank + rope, HIDDEN),
        "kv_norm": 1 + draw(rank) / 5,
        "wkv_b": draw(heads * (nope + value), rank),
    }
    if q_rank is None:
        weights["wq"] = draw(heads * (nope + rope), HIDDEN)
    else:
        weights["wq_a"] = draw(q_rank, HIDDEN)
        weights["q_norm"] = 1 + draw(q_rank) / 5
        weights["wq_b"] = draw(heads * (nope + rope), q_rank)
    h = 3 * draw(tokens, HIDDEN)
    names = dict(
        zip(("heads", "nope", "rope", "value", "rank"), sizes, strict=True)
    )
    names |= {"eps": 1e-5, "frequencies": rope_frequencies(rope, 1e2)}
    return h, weights, names


def queries_and_rows(h, weights, names, impl, dtype="float64"):
    def make(array):
        array = np.asarray(array, dtype)
        return array if impl == "numpy" else torch.from_numpy(array)

    h = make(h)
    weights = {name: make(array) for name, array in weights.items()}
    rotation = Rotation(names["frequencies"], layout="interleaved", impl=impl)

    def turn(x):
        return rotation(x, 0)

    eps = names["eps"]
    rows = latent_rows(
        h, weights["wkv_a"], weights["kv_norm"], turn=turn, eps=eps, impl=impl
    )
    if "wq" in weights:
        q = linear(h, weights["wq"], impl=impl)
    else:
        c_q = linear(h, weights["wq_a"], impl=impl)
        c_q = rms_norm(c_q, weights["q_norm"], eps, impl=impl)
        q = linear(c_q, weights["wq_b"], impl=impl)
    q = q.reshape(len(h), names["heads"], -1)
    q = turn_tail(q, names["rope"], turn=turn, impl=impl)
    return q, rows, weights["wkv_b"]


def arrays(state):
    return np.asarray(state.out), np.asarray(state.lse)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("q_rank", [None, 4])
def test_both_forms_equal_the_equations_of_the_paper(form, impl, sizes, q_rank):
    for tokens in (1, 2, 7):
        drawn = case(sizes, tokens, q_rank, seed=tokens)
        want = latent_loops.attention(*drawn, scale=0.4)
        inputs = queries_and_rows(*drawn, impl)
        got = arrays(FORMS[form](*inputs, scale=0.4, impl=impl))
        for have, wanted in zip(got, want, strict=True):
            assert have.shape == wanted.shape
            np.testing.assert_allclose(have, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("sizes", SIZES)
def test_float32_stays_within_the_error_budget(form, sizes):
    drawn = case(sizes, 9, seed=4)
    low = (
        drawn[0].astype(np.float32),
        {name: w.astype(np.float32) for name, w in drawn[1].items()},
        drawn[2],
    )
    want = latent_loops.attention(*low, scale=0.4)
    plain, got = (
        arrays(
            FORMS[form](
                *queries_and_rows(*low, impl, "float32"), scale=0.4, impl=impl
            )
        )
        for impl in IMPLS
    )
    for triple in zip(got, plain, want, strict=True):
        assert triple[0].dtype == np.float32
        assert_within_budget(*triple)


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize(
    "variant",
    [None, full(), sliding_window(3), softcap(0.5) & sliding_window(2)],
)
def test_the_forms_agree_with_any_variant_and_fewer_queries(impl, variant):
    q, rows, wkv_b = queries_and_rows(*case(SIZES[0], 11), impl)
    for q_len in (0, 1, 4, 11):
        both = [
            arrays(
                form(
                    q[11 - q_len :],
                    rows,
                    wkv_b,
                    scale=0.7,
                    variant=variant,
                    impl=impl,
                )
            )
            for form in FORMS.values()
        ]
        for have, wanted in zip(*both, strict=True):
            np.testing.assert_allclose(have, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("impl", IMPLS)
def test_the_last_query_alone_gets_the_last_row_of_all(form, impl):
    q, rows, wkv_b = queries_and_rows(*case(SIZES[0], 8), impl)
    every = FORMS[form](q, rows, wkv_b, scale=0.4, impl=impl).out
    last = FORMS[form](q[-1:], rows, wkv_b, scale=0.4, impl=impl).out
    np.testing.assert_allclose(last[0], every[-1], rtol=0, atol=1e-12)


def test_a_row_is_the_normed_latent_and_the_turned_key():
    h, weights, names = case(SIZES[0], 6)
    _, rows, _ = queries_and_rows(h, weights, names, "numpy")
    assert rows.shape == (6, 1, 7 + 4)
    # RMSNorm before caching: without its scale the mean square is 1
    square = (rows[:, 0, :7] / weights["kv_norm"]) ** 2
    np.testing.assert_allclose(square.mean(axis=-1), 1, atol=1e-4)
    plain = h @ weights["wkv_a"][7:].T
    np.testing.assert_allclose(rows[0, 0, 7:], plain[0], atol=1e-12)
    assert np.abs(rows[1:, 0, 7:] - plain[1:]).max() > 0.1
    lengths = np.linalg.norm(rows[:, 0, 7:], axis=-1)
    np.testing.assert_allclose(lengths, np.linalg.norm(plain, axis=-1))


def test_absorbed_is_attention_with_one_key_value_head():
    q, rows, wkv_b = queries_and_rows(*case(SIZES[0], 6), "numpy")
    w_k, w_v = up_projections(wkv_b, 3, 6)
    asked = np.einsum("thn,hnr->thr", q[..., :6], w_k)
    asked = np.concatenate([asked, q[..., 6:]], axis=-1)
    mqa = attention(asked, rows, rows[..., :7], scale=0.4, impl="numpy")
    want = np.einsum("thr,hvr->thv", mqa.out, w_v)
    got = absorbed_attention(q, rows, wkv_b, scale=0.4, impl="numpy")
    np.testing.assert_allclose(got.out, want, rtol=0, atol=1e-12)
    np.testing.assert_allclose(got.lse, mqa.lse, rtol=0, atol=1e-12)


def test_the_scale_of_the_rows_width_would_be_another_model():
    # 1/sqrt(rank + rope), what MQA of that width would use by itself
    q, rows, wkv_b = queries_and_rows(*case(SIZES[3], 6), "numpy")
    right, wrong = (
        absorbed_attention(q, rows, wkv_b, scale=width**-0.5, impl="numpy")
        for width in (5 + 6, 16 + 6)
    )
    assert np.abs(right.out - wrong.out).max() > 0.01


@pytest.mark.parametrize("form", FORMS.values())
def test_the_scale_is_that_of_a_query_head_unless_another_is_given(form):
    inputs = queries_and_rows(*case(SIZES[3], 6), "numpy")
    want = form(*inputs, scale=11**-0.5, impl="numpy").out
    assert np.array_equal(form(*inputs, impl="numpy").out, want)
    assert np.array_equal(
        form(*inputs, variant=causal(), impl="numpy").out, want
    )
    half = AttentionVariant(scale=0.5) & causal()
    got = form(*inputs, variant=half, impl="numpy").out
    want = form(*inputs, scale=0.5, impl="numpy").out
    assert np.array_equal(got, want)
    with pytest.raises(ArgumentError, match="scale"):
        form(*inputs, scale=0.5, variant=half, impl="numpy")


def test_up_projections_are_views_of_the_rows_head_by_head():
    wkv_b = np.arange(3 * 5 * 2.0).reshape(15, 2)
    w_k, w_v = up_projections(wkv_b, 3, 3)
    assert w_k[1].tolist() == wkv_b[5:8].tolist()
    assert w_v[1].tolist() == wkv_b[8:10].tolist()
    assert np.shares_memory(w_k, wkv_b)
    assert np.shares_memory(w_v, wkv_b)


def test_latent_scale_is_that_of_a_whole_head_sharpened_by_yarn():
    v3, v2 = CONFIGS["deepseek-v3"], CONFIGS["deepseek-v2"]
    mscale = 0.1 * np.log(40) + 1
    assert latent_scale(v3) == pytest.approx(192**-0.5 * mscale**2)
    mscale = 0.1 * 0.707 * np.log(40) + 1
    assert latent_scale(v2) == pytest.approx(192**-0.5 * mscale**2)
    with pytest.raises(ArgumentError, match=r"config\.mla"):
        latent_scale(CONFIGS["llama-3.1-8b"])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("q.shape", {"q": (2, 10)}),
        ("q.shape[2]", {"q": (2, 3, 4)}),  # nothing but the rotary part
        ("rows.shape", {"rows": (5, 2, 11)}),  # two heads
        ("rows.shape[2]", {"rows": (5, 1, 7)}),  # no rotary key
        ("wkv_b.shape[0]", {"wkv_b": (32, 7)}),  # no multiple of the heads
        ("wkv_b.shape[0]", {"wkv_b": (18, 7)}),  # no room for values
        ("k.shape[0]", {"rows": (1, 1, 11)}),  # causal, too few keys
    ],
)
def test_what_does_not_fit_is_named(form, name, change):
    shapes = {"q": (2, 3, 10), "rows": (5, 1, 11), "wkv_b": (33, 7)}
    inputs = {key: np.zeros(s) for key, s in (shapes | change).items()}
    with pytest.raises(ArgumentError) as info:
        FORMS[form](**inputs, scale=1.0, impl="numpy")
    assert info.value.name == name


def test_a_matrix_without_rows_for_the_key_is_refused():
    h, w, norm = np.ones((2, 8)), np.ones((4, 8)), np.ones(4)
    with pytest.raises(ArgumentError, match=r"wkv_a\.shape"):
        latent_rows(h, w, norm, turn=lambda x: x, eps=0.0, impl="numpy")
    with pytest.raises(ArgumentError, match="rope_dim"):
        turn_tail(np.ones((1, 1, 3)), 4, turn=lambda x: x, impl="numpy")
