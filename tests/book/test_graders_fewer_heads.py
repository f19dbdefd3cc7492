"""The graders of ``kv_cache/fewer_heads``: other ways to be right or wrong."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.attention import attention, merge_heads
from cutaway.book.exercises import section_exercises
from cutaway.book.grade import verdict
from cutaway.roofline import CONFIGS, forward_counts

POOL, DECODE, COUNT = section_exercises("kv_cache/fewer_heads")


def pool_in_a_loop(weight, num_heads, num_groups):
    heads = np.split(weight, num_heads)
    size = num_heads // num_groups
    groups = [heads[i : i + size] for i in range(0, num_heads, size)]
    return np.concatenate([sum(group) / size for group in groups]).astype(
        weight.dtype
    )


def decode_in_a_loop(q, k, v):
    size, out = len(q) // k.shape[1], np.empty_like(q)
    for head, query in enumerate(q):
        scores = k[:, head // size] @ query / np.sqrt(len(query))
        weights = np.exp(scores - scores.max())
        out[head] = weights @ v[:, head // size] / weights.sum()
    return out


def decode_by_the_package(q, k, v):
    return attention(q[None], k, v, impl="numpy").out[0]


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        (POOL, pool_in_a_loop),
        (POOL, merge_heads),
        (DECODE, decode_in_a_loop),
        (DECODE, decode_by_the_package),
        (COUNT, lambda h, g, d, t, b: [2 * 2 * h * d * t, b * 2 * g * d * t]),
        (COUNT, lambda h, g, d, t, b: 2 * d * t * np.array([2 * h, g * b])),
    ],
)
def test_answers_written_differently_pass(exercise, answer):
    result = verdict(exercise, answer)
    assert result.status == "correct", result.message


@pytest.mark.parametrize(
    ("exercise", "answer", "says"),
    [
        (POOL, lambda w, h, g: w, "expected"),
        (POOL, lambda w, h, g: np.median(
            w.reshape(g, h // g, -1), axis=1).reshape(-1, w.shape[1]),
         "expected"),
        (DECODE, lambda q, k, v: q, "expected"),
        (COUNT, lambda h, g, d, t, b: 4 * h * d * t, "two numbers"),
        (COUNT, lambda h, g, d, t, b: (4 * g * d * t, 2 * g * d * t * b),
         "every query head still meets"),
    ],
)  # fmt: skip
def test_wrong_answers_are_rejected_with_a_reason(exercise, answer, says):
    result = verdict(exercise, answer)
    assert result.status == "wrong"
    message = " ".join(result.message.split())
    assert says in message
    assert "in kv_cache/fewer_heads" in message


def test_the_count_equals_that_of_the_package():
    config = CONFIGS["llama-3.1-70b"]
    ops = {
        op.name: op
        for op in forward_counts(config, 1, 999, kv_bytes_per_element=2)
    }
    pair = ops["scores"], ops["values"]
    flops, moved = COUNT.reference(64, 8, 128, 1000, 2)
    assert sum(op.flops for op in pair) == 80 * flops
    read = 80 * moved
    assert sum(op.kv_bytes for op in pair) == pytest.approx(read, rel=0.01)
