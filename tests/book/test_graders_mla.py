"""The graders of ``kv_cache/mla``: other right answers, other wrong ones."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from cutaway.attention import expanded_attention, latent_scale
from cutaway.book.exercises import section_exercises
from cutaway.book.grade import verdict
from cutaway.core import MLAConfig
from cutaway.roofline import CONFIGS, kv_bytes_per_token

ABSORB, DECODE, PAYS, SAVED = section_exercises("kv_cache/mla")


def absorb_by_loop(q, w_k):
    out = np.zeros((*q.shape[:2], w_k.shape[2]), q.dtype)
    for head in range(q.shape[1]):
        out[:, head] = q[:, head] @ w_k[head]
    return out


def absorb_by_torch(q, w_k):
    q, w_k = torch.from_numpy(q), torch.from_numpy(w_k)
    return torch.bmm(q.transpose(0, 1), w_k).transpose(0, 1).numpy()


def decode_expanded(q, rows, w_k, w_v):
    """The other form: keys and values of all heads are made."""
    by_head = np.concatenate([w_k, w_v], axis=1)
    wkv_b = np.ascontiguousarray(by_head.reshape(-1, w_k.shape[2]))
    state = expanded_attention(q[None], rows[:, None], wkv_b, impl="numpy")
    return state.out[0]


def decode_by_head(q, rows, w_k, w_v):
    rank = w_k.shape[2]
    out = []
    for head, query in enumerate(q):
        keys = np.hstack([rows[:, :rank] @ w_k[head].T, rows[:, rank:]])
        scores = keys @ query / np.sqrt(np.asarray(len(query), q.dtype))
        weights = np.exp(scores - np.logaddexp.reduce(scores))
        out.append(weights @ (rows[:, :rank] @ w_v[head].T))
    return np.stack(out)


def pays_pair_by_pair(q_len, context_len, rank, nope, value):
    expanded = 2 * (context_len + q_len) * rank * (nope + value)
    absorbed = 2 * q_len * rank * (nope + value)
    for position in range(context_len, context_len + q_len):
        expanded += 2 * (position + 1) * (nope + value)
        absorbed += 2 * (position + 1) * (rank + rank)
    return expanded - absorbed


def saved_in_bytes(layers, width, bits, others, heads, dim, other_bits):
    latent = bits / 8 * width * layers
    grouped = other_bits / 8 * (heads * dim + heads * dim) * others
    return (grouped - latent) / grouped * 100


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        (ABSORB, absorb_by_loop),
        (ABSORB, absorb_by_torch),
        (DECODE, decode_expanded),
        (DECODE, decode_by_head),
        (PAYS, pays_pair_by_pair),
        (SAVED, saved_in_bytes),
    ],
)
def test_answers_written_differently_pass(exercise, answer):
    result = verdict(exercise, answer)
    assert result.status == "correct", result.message


def decode_forgets_the_newest(q, rows, w_k, w_v):
    rows = rows[:-1] if len(rows) > 1 else rows
    return DECODE.reference(q, rows, w_k, w_v)


def decode_swaps_the_parts_of_a_row(q, rows, w_k, w_v):
    rope = rows.shape[1] - w_k.shape[2]
    moved = np.concatenate([rows[:, rope:], rows[:, :rope]], axis=1)
    return DECODE.reference(q, moved, w_k, w_v)


def decode_of_the_first_head_for_all(q, rows, w_k, w_v):
    first = DECODE.reference(q, rows, w_k, w_v)[:1]
    return np.repeat(first, len(q), axis=0)


def absorb_in_float32(q, w_k):
    return ABSORB.reference(q.astype("f4"), w_k.astype("f4")).astype(q.dtype)


def pays_without_the_values(q_len, context_len, rank, nope, value):
    return PAYS.reference(q_len, context_len, rank, nope, 0)


def saved_rounded(*case):
    return round(SAVED.reference(*case), 1)


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        (ABSORB, absorb_in_float32),
        (ABSORB, lambda q, w_k: q),
        (DECODE, decode_forgets_the_newest),
        (DECODE, decode_swaps_the_parts_of_a_row),
        (DECODE, decode_of_the_first_head_for_all),
        (PAYS, pays_without_the_values),
        (PAYS, lambda *case: float(PAYS.reference(*case))),
        (SAVED, saved_rounded),
        (SAVED, lambda *case: -SAVED.reference(*case)),
    ],
)
def test_other_wrong_answers_are_rejected(exercise, answer):
    assert verdict(exercise, answer).status == "wrong"


def test_the_scale_of_the_row_is_named():
    def answer(q, rows, w_k, w_v):
        wide = np.asarray((q.shape[1] / rows.shape[1]) ** 0.5, q.dtype)
        return DECODE.reference(q * wide, rows, w_k, w_v)

    result = verdict(DECODE, answer)
    assert result.status == "wrong"
    assert "width of a row" in " ".join(result.message.split())


def test_the_references_give_the_published_figures():
    v2, dense = CONFIGS["deepseek-v2"], CONFIGS["deepseek-67b"]
    saved = SAVED.reference(60, 576, 6, 95, 8, 128, 16)
    assert round(saved, 1) == 93.3
    ratio = kv_bytes_per_token(v2, 6 / 8) / kv_bytes_per_token(dense, 2)
    assert saved == pytest.approx(100 * (1 - ratio))
    assert isinstance(v2.mla, MLAConfig)
    assert PAYS.reference(170, 10**6, 512, 128, 128) > 0
    assert PAYS.reference(171, 10**6, 512, 128, 128) < 0
    assert latent_scale(v2) > 192**-0.5  # YaRN sharpens it
