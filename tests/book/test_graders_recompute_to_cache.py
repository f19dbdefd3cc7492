"""The graders of ``kv_cache/recompute_to_cache``: other right and wrong."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from cutaway.attention import attention
from cutaway.book.exercises import section_exercises
from cutaway.book.grade import verdict

STEP, PAIRS, CHUNKS, REUSE = section_exercises("kv_cache/recompute_to_cache")


def step_by_the_package(q, k, v, keys, values):
    keys, values = np.vstack([keys, k[None]]), np.vstack([values, v[None]])
    return attention(q[None], keys, values, impl="numpy").out[0]


def step_by_torch(q, k, v, keys, values):
    keys, values = np.vstack([keys, k[None]]), np.vstack([values, v[None]])
    q, keys, values = (
        torch.from_numpy(np.ascontiguousarray(a)).transpose(0, 1)
        for a in (q[None], keys, values)
    )
    out = torch.nn.functional.scaled_dot_product_attention(
        q, keys, values, enable_gqa=True
    )
    return out.transpose(0, 1)[0].numpy()


def pairs_one_by_one(prompt_tokens, answer_tokens, cached):
    total, read = 0, 0
    for length in range(prompt_tokens, prompt_tokens + answer_tokens):
        total += sum(i + 1 for i in range(read if cached else 0, length))
        read = length
    return total


def chunks_by_while(forward, prompt_ids, chunk_size):
    position, logits = 0, None
    while position < len(prompt_ids):
        chunk = prompt_ids[position : position + chunk_size]
        logits = forward(chunk, position)
        position += len(chunk)
    return logits


def reuse_by_takewhile(cached_ids, prompt_ids):
    pairs = zip(cached_ids, prompt_ids[:-1], strict=False)
    return len(list(itertools.takewhile(lambda p: p[0] == p[1], pairs)))


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        (STEP, step_by_the_package),
        (STEP, step_by_torch),
        (PAIRS, pairs_one_by_one),
        (CHUNKS, chunks_by_while),
        (REUSE, reuse_by_takewhile),
    ],
)
def test_answers_written_differently_pass(exercise, answer):
    result = verdict(exercise, answer)
    assert result.status == "correct", result.message


def step_top_left(q, k, v, keys, values):
    """A causal mask at the wrong corner: only the first key is seen."""
    values = np.concatenate([values, v[None]])
    return np.repeat(values[0], len(q) // len(k), axis=0)


def small_first(forward, prompt_ids, chunk_size):
    """The short chunk comes first."""
    head = len(prompt_ids) % chunk_size
    starts = [0, *range(head, len(prompt_ids), chunk_size)]
    edges = [*dict.fromkeys(starts), len(prompt_ids)]
    for low, high in itertools.pairwise(edges):
        logits = forward(prompt_ids[low:high], low)
    return logits


@pytest.mark.parametrize(
    ("exercise", "answer", "says"),
    [
        (STEP, step_top_left, "expected"),
        (STEP, lambda q, k, v, keys, values: step_by_torch(
            q, k, v, keys, values).T, "shape"),
        (STEP, lambda q, k, v, keys, values: step_by_torch(
            q, k, v, keys, values).astype(np.float16), "index"),
        (PAIRS, lambda p, n, cached: p * n, "expected"),
        (PAIRS, lambda p, n, cached: float(pairs_one_by_one(p, n, cached)),
         "expected an int"),
        (CHUNKS, small_first, "all chunks but the last are full"),
        (CHUNKS, lambda f, ids, size: ids[0] * np.ones(13, np.float32),
         "0 calls"),
        (REUSE, lambda cached, prompt: len(prompt) - 1, "expected"),
        (REUSE, lambda cached, prompt: 0, "expected"),
    ],
)  # fmt: skip
def test_wrong_answers_are_rejected_with_a_reason(exercise, answer, says):
    result = verdict(exercise, answer)
    assert result.status == "wrong"
    assert says in " ".join(result.message.split())


def test_a_cache_cut_back_to_what_is_reusable_gives_the_right_logits():
    from cutaway.core import ModelConfig
    from cutaway.decoder import Decoder, Params

    config = ModelConfig(
        num_layers=2, hidden_size=8, num_heads=4, num_kv_heads=2, head_dim=6,
        ffn_size=8, vocab_size=5, rope_theta=1e4, norm_eps=1e-5,
        max_seq_len=16,
    )  # fmt: skip
    params = Params.random(config, 0, impl="numpy", dtype="float64")
    decoder = Decoder(config, params, impl="numpy")
    rng = np.random.default_rng(0)
    for _ in range(20):
        old, new = (
            [int(i) for i in rng.integers(0, 2, int(rng.integers(1, 9)))]
            for _ in range(2)
        )
        cache = decoder.new_cache(16)
        decoder.forward(old, cache)
        cache.truncate(REUSE.reference(old, new))
        got = decoder.forward(new[cache.num_tokens :], cache)[-1]
        want = decoder.forward(new, decoder.new_cache(16))[-1]
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-10)
