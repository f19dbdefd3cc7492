"""The graders of ``kv_cache/constant_state``: right and wrong otherwise."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.attention import gated_delta_rule, linear_attention
from cutaway.book.exercises import section_exercises
from cutaway.book.grade import verdict
from cutaway.core import KVShape
from cutaway.roofline import (
    AttentionCache,
    KVLayout,
    StateCache,
    break_even_tokens,
)

STATE, CHUNK, DELTA, EVEN = section_exercises("kv_cache/constant_state")


def state_by_the_package(q, k, v):
    return linear_attention(q[:, None], k[:, None], v[:, None])[0][:, 0]


def state_by_a_mask(q, k, v):
    return np.einsum("ij,jv->iv", (q @ k.T) * np.tri(len(q), dtype=q.dtype), v)


def chunk_by_the_package(state, q, k, v):
    one = (x[:, None] for x in (q, k, v))
    return linear_attention(*one, state=state[None])[0][:, 0]


def chunk_in_a_loop(state, q, k, v):
    rows = []
    for query, key, value in zip(q, k, v, strict=True):
        state = state + key[:, None] * value
        rows.append(query @ state)
    return np.array(rows)


def delta_by_the_package(state, k, v, beta, log_decay):
    rates, decay = np.full((1, 1), beta), np.full((1, 1), log_decay)
    key, value = k[None, None], v[None, None]
    return gated_delta_rule(
        key, key, value, rates, log_decay=decay, state=state[None]
    )[1][0]


def delta_as_a_matrix(state, k, v, beta, log_decay):
    keep = np.eye(len(k)) - beta * np.outer(k, k)
    new = np.exp(log_decay) * keep @ state + beta * np.outer(k, v)
    return new.astype(state.dtype)


def even_by_the_package(heads, key_dim, value_dim, kv_heads, head_dim):
    state = StateCache(num_heads=heads, elements_per_head=key_dim * value_dim)
    rows = AttentionCache(shape=KVShape(kv_heads, head_dim, head_dim))
    return break_even_tokens(KVLayout(((state,),)), KVLayout(((rows,),)))


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        (STATE, state_by_the_package),
        (STATE, state_by_a_mask),
        (CHUNK, chunk_by_the_package),
        (CHUNK, chunk_in_a_loop),
        (DELTA, delta_by_the_package),
        (DELTA, delta_as_a_matrix),
        (EVEN, even_by_the_package),
    ],
)
def test_answers_written_differently_pass(exercise, answer):
    result = verdict(exercise, answer)
    assert result.status == "correct", result.message


def changes_its_argument(state, k, v, beta, log_decay):
    state *= np.exp(log_decay)
    state += beta * np.outer(k, v - k @ state)
    return state


@pytest.mark.parametrize(
    ("exercise", "answer", "says"),
    [
        (STATE, lambda q, k, v: v, "expected"),
        (STATE, lambda q, k, v: (q @ k.T) @ v, "a token sees only"),
        (CHUNK, lambda state, q, k, v: state, "expected"),
        (CHUNK, lambda state, q, k, v: q @ state, "what the chunk itself"),
        (DELTA, changes_its_argument, "it changed its argument state"),
        (DELTA, lambda state, k, v, b, g: np.outer(k, v), "expected"),
        (EVEN, lambda h, k, v, g, d: h * k * v / (g * d), "expected an int"),
        (EVEN, lambda h, k, v, g, d: -(-h * k * v // (2 * g * d)), "float32"),
    ],
)
def test_wrong_answers_are_rejected_with_a_reason(exercise, answer, says):
    result = verdict(exercise, answer)
    assert result.status == "wrong"
    message = " ".join(result.message.split())
    assert says in message
    assert "in kv_cache/constant_state" in message


def test_the_context_of_qwen3_next_is_that_of_the_ledger():
    assert EVEN.reference(32, 128, 128, 2, 256) == 1024
