"""Linear attention: three forms of one sum, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.attention import linear_attention
from cutaway.attention.recurrence import decays_between
from cutaway.core import ArgumentError
from oracles import recurrent_loops

SIZES = [  # tokens, key heads, value heads, key_dim, value_dim
    (1, 1, 1, 1, 1),
    (7, 2, 2, 3, 5),
    (13, 1, 3, 4, 2),
    (33, 2, 4, 8, 8),
]
CHUNKS = (1, 2, 3, 5, 7, 8, 12, 13, 16, 33, 100)


def case(sizes, seed=0):
    tokens, key_heads, heads, key_dim, value_dim = sizes
    rng = np.random.default_rng(seed)
    q, k = rng.standard_normal((2, tokens, key_heads, key_dim))
    v = rng.standard_normal((tokens, heads, value_dim))
    log_decay = -rng.exponential(0.3, (tokens, heads))
    state = rng.standard_normal((heads, key_dim, value_dim))
    return q, k, v, log_decay, state


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("fades", [False, True])
def test_the_recurrent_form_equals_the_quadratic_sum(sizes, fades):
    q, k, v, log_decay, _ = case(sizes)
    if not fades:
        log_decay = np.zeros_like(log_decay)
    given = log_decay if fades else None
    out, _ = linear_attention(q, k, v, log_decay=given)
    expected = recurrent_loops.quadratic(q, k, v, log_decay)
    np.testing.assert_allclose(out, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("size", CHUNKS)
def test_every_chunk_size_gives_what_the_recurrent_form_gives(sizes, size):
    q, k, v, log_decay, state = case(sizes)
    for decay in (None, log_decay):
        one, last = linear_attention(q, k, v, log_decay=decay, state=state)
        out, new = linear_attention(
            q, k, v, log_decay=decay, state=state, chunk_size=size
        )
        np.testing.assert_allclose(out, one, rtol=0, atol=1e-12)
        np.testing.assert_allclose(new, last, rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [None, 4])
def test_a_text_in_two_calls_is_a_text_in_one(size):
    q, k, v, decay, _ = case((13, 2, 4, 3, 5))
    whole, last = linear_attention(q, k, v, log_decay=decay, chunk_size=size)
    first, middle = linear_attention(
        q[:6], k[:6], v[:6], log_decay=decay[:6], chunk_size=size
    )
    before = middle.copy()
    second, end = linear_attention(
        q[6:], k[6:], v[6:], log_decay=decay[6:], state=middle, chunk_size=size
    )
    np.testing.assert_array_equal(middle, before)
    got = np.concatenate([first, second])
    np.testing.assert_allclose(got, whole, rtol=0, atol=1e-12)
    np.testing.assert_allclose(end, last, rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [None, 4])
def test_no_tokens_leave_the_state_as_it_is(size):
    q, k, v, decay, state = case((3, 1, 2, 3, 4))
    out, new = linear_attention(
        q[:0], k[:0], v[:0], log_decay=decay[:0], state=state, chunk_size=size
    )
    assert out.shape == (0, 2, 4)
    np.testing.assert_array_equal(new, state)
    assert not np.shares_memory(new, state)


def test_a_column_of_ones_normalises():
    q, k, v, _, _ = case((9, 2, 2, 3, 4))
    q, k = (np.where(x > 0, x + 1, np.exp(x)) for x in (q, k))
    ones = np.ones((*v.shape[:2], 1))
    out, _ = linear_attention(q, k, np.concatenate([v, ones], axis=-1))
    got = out[..., :-1] / out[..., -1:]
    weights = np.einsum("ihd,jhd->hij", q, k) * np.tri(9)
    weights /= weights.sum(axis=-1, keepdims=True)
    expected = np.einsum("hij,jhd->ihd", weights, v)
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("size", [None, 1, 4, 9])
def test_a_decay_to_nothing_forgets_all_before(size):
    q, k, v, decay, state = case((9, 2, 2, 3, 4))
    decay[5] = -np.inf
    out, new = linear_attention(
        q, k, v, log_decay=decay, state=state, chunk_size=size
    )
    rest, last = linear_attention(q[5:], k[5:], v[5:], log_decay=decay[5:])
    np.testing.assert_allclose(out[5:], rest, rtol=0, atol=1e-12)
    np.testing.assert_allclose(new, last, rtol=0, atol=1e-12)


def test_weak_decays_behind_a_strong_one_keep_their_digits():
    decay = np.array([[0.0, -1e15, -0.3, -0.1]])
    between = decays_between(decay)[0]
    assert between[3, 1] == pytest.approx(np.exp(-0.4), rel=1e-15)
    assert between[3, 0] == 0


@pytest.mark.parametrize(
    ("dtype", "kept"),
    [(np.float16, np.float32), (np.float32, np.float32), (float, float)],
)
@pytest.mark.parametrize("size", [None, 5])
def test_the_state_has_at_least_32_bits(dtype, kept, size):
    q, k, v, decay, state = case((13, 1, 2, 4, 4))
    exact, _ = linear_attention(q, k, v, log_decay=decay, state=state)
    q, k, v, decay, state = (x.astype(dtype) for x in (q, k, v, decay, state))
    out, new = linear_attention(
        q, k, v, log_decay=decay, state=state, chunk_size=size
    )
    assert (out.dtype, new.dtype) == (dtype, kept)
    bound = 20 * np.finfo(dtype).eps * np.abs(exact).max()
    assert np.abs(out - exact).max() < bound


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"q": np.zeros((4, 2))}, "q.shape"),
        ({"q": np.zeros((4, 2, 3), int)}, "q.dtype"),
        ({"q": [[1.0]]}, "q: got list"),
        ({"k": np.zeros((4, 2, 2))}, "k.shape"),
        ({"k": np.zeros((3, 2, 3))}, "k.shape"),
        ({"v": np.zeros((4, 3, 5))}, "a positive multiple of the 2"),
        ({"v": np.zeros((5, 4, 5))}, "v.shape"),
        ({"log_decay": np.zeros((4, 2))}, "log_decay.shape"),
        ({"log_decay": np.full((4, 4), 0.5)}, "log_decay"),
        ({"log_decay": np.full((4, 4), np.nan)}, "log_decay"),
        ({"state": np.zeros((4, 5, 3))}, "state.shape"),
        ({"chunk_size": 0}, "chunk_size"),
        ({"chunk_size": 2.5}, "chunk_size"),
    ],
)
def test_bad_input_is_named(change, says):
    given = {
        "q": np.ones((4, 2, 3)),
        "k": np.ones((4, 2, 3)),
        "v": np.ones((4, 4, 5)),
        "log_decay": np.zeros((4, 4)),
        "state": np.ones((4, 3, 5)),
        "chunk_size": None,
    }
    state = given["state"]
    with pytest.raises(ArgumentError) as caught:
        linear_attention(**{**given, **change})
    assert says in str(caught.value)
    np.testing.assert_array_equal(state, np.ones((4, 3, 5)))
