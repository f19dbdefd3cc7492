"""The graders of ``kv_cache/sizing``: other ways to be right or wrong."""

from __future__ import annotations

import math

import pytest

from cutaway.book.exercises import section_exercises
from cutaway.book.grade import verdict
from cutaway.core import KVShape
from cutaway.roofline import (
    AttentionCache,
    CacheFormat,
    KVLayout,
    StateCache,
    kv_layout_from_hf,
    max_tokens,
)

TOKEN, LEAST, ONE_GPU, LONGEST = section_exercises("kv_cache/sizing")


def token_by_the_package(config):
    kind = "deepseek_v3" if "kv_lora_rank" in config else "llama"
    layout = kv_layout_from_hf({"model_type": kind, **config})
    return layout.bytes_per_token()


def token_by_cases(config):
    latent = config.get("kv_lora_rank", 0)
    if latent:
        width = latent + config["qk_rope_head_dim"]
    else:
        heads = config["num_attention_heads"]
        width = 2 * config.get("num_key_value_heads", heads)
        width *= config.get("head_dim") or config["hidden_size"] // heads
    return sum(2 * width for _ in range(config["num_hidden_layers"]))


def token_with_a_rank_learnt_by_heart(config):
    if "kv_lora_rank" in config:
        config = {**config, "kv_lora_rank": 512}
    return token_by_cases(config)


def least_by_the_package(windows, num_tokens, row_bytes):
    row = AttentionCache(shape=KVShape(1, 1, 0)).shape
    layers = tuple((AttentionCache(shape=row, window=w),) for w in windows)
    size = CacheFormat.of(row_bytes)
    return KVLayout(layers).floor_bytes(num_tokens, size)


def least_by_loops(windows, num_tokens, row_bytes):
    total = 0
    for window in windows:
        first = 0 if window is None else max(0, num_tokens - window)
        total += sum(row_bytes for _ in range(first, num_tokens))
    return total


def one_gpu_by_the_package(num_kv_heads, head_bytes, tp):
    part = AttentionCache(shape=KVShape(num_kv_heads, head_bytes, 0))
    return KVLayout(((part,),)).bytes_per_token(CacheFormat.of(1), tp=tp)


def one_gpu_rounded_up(num_kv_heads, head_bytes, tp):
    return math.ceil(num_kv_heads / tp) * head_bytes


def longest_by_the_package(memory, weights, batch, row, state):
    parts = [AttentionCache(shape=KVShape(1, row, 0))]
    if state:
        parts.append(StateCache(num_heads=1, elements_per_head=state))
    one = CacheFormat(key_bytes=1, value_bytes=1, recurrent_bytes=1)
    room = max(0, memory - weights)
    return max_tokens(KVLayout((tuple(parts),)), room, one, batch_size=batch)


def longest_by_trying(memory, weights, batch, row, state):
    def fits(tokens):
        return weights + batch * (state + tokens * row) <= memory

    tokens = 0
    for step in reversed([2**n for n in range(40)]):
        if fits(tokens + step):
            tokens += step
    return tokens


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        (TOKEN, token_by_the_package),
        (TOKEN, token_by_cases),
        (LEAST, least_by_the_package),
        (LEAST, least_by_loops),
        (ONE_GPU, one_gpu_by_the_package),
        (ONE_GPU, one_gpu_rounded_up),
        (LONGEST, longest_by_the_package),
        (LONGEST, longest_by_trying),
    ],
)
def test_answers_written_differently_pass(exercise, answer):
    result = verdict(exercise, answer)
    assert result.status == "correct", result.message


@pytest.mark.parametrize(
    ("exercise", "answer", "says"),
    [
        (TOKEN, lambda c: 4 * c["num_hidden_layers"] * c["hidden_size"], "got"),
        (TOKEN, lambda c: token_by_cases(c) / 1, "expected an int"),
        (TOKEN, lambda c: c.update(head_dim=1) or 5, "changed its argument"),
        (TOKEN, token_with_a_rank_learnt_by_heart, "expected"),
        (LEAST, lambda windows, n, size: size * n, "expected"),
        (LEAST, lambda windows, n, size: size * min(windows), "it raised"),
        (ONE_GPU, lambda heads, size, tp: heads * size / tp, "expected an int"),
        (ONE_GPU, lambda heads, size, tp: size * tp, "expected"),
        (LONGEST, lambda m, w, b, row, s: (m - w) // (b * row), "a state"),
        (LONGEST, lambda m, w, b, row, s: None, "is a return missing"),
    ],
)
def test_other_wrong_answers_are_told_why(exercise, answer, says):
    result = verdict(exercise, answer)
    assert result.status == "wrong"
    assert says in result.message
