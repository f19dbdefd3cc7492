"""The gated delta rule: recurrent, chunked, the paper's, transformers'."""

from __future__ import annotations

import inspect

import numpy as np
import pytest
import torch
from transformers.models.qwen3_next import modeling_qwen3_next as peer

from cutaway.attention import gated_delta_rule, linear_attention
from cutaway.core import ArgumentError
from oracles import recurrent_loops

SIZES = [  # tokens, key heads, value heads, key_dim, value_dim
    (1, 1, 1, 1, 1),
    (7, 2, 2, 3, 5),
    (13, 1, 3, 4, 2),
    (40, 2, 4, 8, 8),
]
CHUNKS = (1, 2, 3, 5, 7, 8, 12, 13, 16, 39, 40, 64)


def case(sizes, seed=0):
    tokens, key_heads, heads, key_dim, value_dim = sizes
    rng = np.random.default_rng(seed)
    q, k = rng.standard_normal((2, tokens, key_heads, key_dim))
    k /= np.linalg.norm(k, axis=-1, keepdims=True)
    v = rng.standard_normal((tokens, heads, value_dim))
    beta = rng.uniform(0, 1, (tokens, heads))
    log_decay = -rng.exponential(0.2, (tokens, heads))
    state = rng.standard_normal((heads, key_dim, value_dim))
    return q, k, v, beta, log_decay, state


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("size", [None, 1, 4, 100])
def test_it_is_the_recurrence_of_the_paper(sizes, size):
    q, k, v, beta, decay, state = case(sizes)
    out, new = gated_delta_rule(
        q, k, v, beta, log_decay=decay, state=state, chunk_size=size
    )
    expected, last = recurrent_loops.delta(q, k, v, beta, decay, state)
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(new, last, rtol=0, atol=1e-12)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("size", CHUNKS)
def test_every_chunk_size_gives_what_the_recurrent_form_gives(sizes, size):
    q, k, v, beta, log_decay, state = case(sizes, seed=1)
    for decay in (None, log_decay):
        one, last = gated_delta_rule(
            q, k, v, beta, log_decay=decay, state=state
        )
        out, new = gated_delta_rule(
            q, k, v, beta, log_decay=decay, state=state, chunk_size=size
        )
        np.testing.assert_allclose(out, one, rtol=0, atol=1e-12)
        np.testing.assert_allclose(new, last, rtol=0, atol=1e-12)


PEERS = {
    name: inspect.unwrap(getattr(peer, f"torch_{name}_gated_delta_rule"))
    for name in ("recurrent", "chunk")
}


@pytest.mark.parametrize("name", PEERS)
@pytest.mark.parametrize("size", [None, 16, 64])
def test_it_equals_both_forms_of_transformers(name, size):
    q, k, v, beta, decay, state = case((150, 2, 4, 16, 8))
    given = (torch.from_numpy(x)[None].float() for x in (q, k, v, decay, beta))
    expected, last = PEERS[name](
        *given,
        initial_state=torch.from_numpy(state)[None].float(),
        output_final_state=True,
    )
    out, new = gated_delta_rule(
        q / 4, k, v, beta, log_decay=decay, state=state, chunk_size=size
    )
    np.testing.assert_allclose(out, expected[0].numpy(), rtol=0, atol=2e-6)
    np.testing.assert_allclose(new, last[0].numpy(), rtol=0, atol=2e-6)


def test_a_key_of_length_one_is_overwritten_in_full():
    _, k, v, _, _, state = case((5, 2, 2, 4, 3))
    ones = np.ones((5, 2))
    out, _ = gated_delta_rule(k, k, v, ones, state=state)
    np.testing.assert_allclose(out, v, rtol=0, atol=1e-12)


def test_orthogonal_keys_from_nothing_are_linear_attention():
    rng = np.random.default_rng(0)
    k = np.linalg.qr(rng.standard_normal((6, 6)))[0][:, None]
    v = rng.standard_normal((6, 1, 3))
    both = [
        gated_delta_rule(k, k, v, np.ones((6, 1)), chunk_size=4),
        linear_attention(k, k, v),
    ]
    for got, expected in zip(*both, strict=True):
        np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [None, 3])
def test_a_token_with_beta_0_and_no_decay_leaves_no_trace(size):
    q, k, v, beta, decay, state = case((9, 1, 2, 3, 4))
    beta[4:6], decay[4:6] = 0, 0
    keep = [0, 1, 2, 3, 6, 7, 8]
    given = (q, k, v, beta)
    _, new = gated_delta_rule(
        *given, log_decay=decay, state=state, chunk_size=size
    )
    _, without = gated_delta_rule(
        *(x[keep] for x in given), log_decay=decay[keep], state=state
    )
    np.testing.assert_allclose(new, without, rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [None, 4])
def test_a_text_in_two_calls_is_a_text_in_one(size):
    q, k, v, beta, decay, _ = case((13, 2, 4, 3, 5))
    given = (q, k, v, beta)
    whole, last = gated_delta_rule(*given, log_decay=decay, chunk_size=size)
    first, middle = gated_delta_rule(
        *(x[:6] for x in given), log_decay=decay[:6], chunk_size=size
    )
    before = middle.copy()
    second, end = gated_delta_rule(
        *(x[6:] for x in given),
        log_decay=decay[6:],
        state=middle,
        chunk_size=size,
    )
    np.testing.assert_array_equal(middle, before)
    got = np.concatenate([first, second])
    np.testing.assert_allclose(got, whole, rtol=0, atol=1e-12)
    np.testing.assert_allclose(end, last, rtol=0, atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
@pytest.mark.parametrize("size", [None, 16])
def test_the_state_has_at_least_32_bits(dtype, size):
    given = case((40, 1, 2, 8, 8))
    exact, _ = gated_delta_rule(*given[:4], log_decay=given[4], state=given[5])
    *parts, decay, state = (x.astype(dtype) for x in given)
    out, new = gated_delta_rule(
        *parts, log_decay=decay, state=state, chunk_size=size
    )
    assert (out.dtype, new.dtype) == (dtype, np.float32)
    bound = 20 * np.finfo(dtype).eps * np.abs(exact).max()
    assert np.abs(out - exact).max() < bound


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"beta": np.ones((4, 2))}, "beta.shape"),
        ({"beta": np.full((4, 4), -0.1)}, "beta"),
        ({"beta": np.full((4, 4), 2.1)}, "beta"),
        ({"beta": np.full((4, 4), np.nan)}, "beta"),
        ({"k": np.zeros((4, 2, 2))}, "k.shape"),
        ({"v": np.zeros((4, 3, 5))}, "a positive multiple of the 2"),
        ({"log_decay": np.full((4, 4), 0.5)}, "log_decay"),
        ({"chunk_size": 0}, "chunk_size"),
    ],
)
def test_bad_input_is_named(change, says):
    given = {
        "q": np.ones((4, 2, 3)),
        "k": np.ones((4, 2, 3)),
        "v": np.ones((4, 4, 5)),
        "beta": np.ones((4, 4)),
        "chunk_size": None,
    }
    with pytest.raises(ArgumentError) as caught:
        gated_delta_rule(**{**given, **change})
    assert says in str(caught.value)
