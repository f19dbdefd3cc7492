"""The graders of ``kv_cache/windows_and_sinks``: other right answers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cutaway.attention import attention, causal, sink_logits
from cutaway.book.exercises import section_exercises
from cutaway.book.grade import verdict
from cutaway.kvcache import Ring
from cutaway.roofline import CONFIGS, kv_bytes_per_token, kv_cache_bytes
from oracles.streaming_loops import kept_tokens

RING, MIXED, PLACES, SINK = section_exercises("kv_cache/windows_and_sinks")


def order_by_filling(num_tokens, slots):
    held = {}
    for token in range(num_tokens):
        held[token % slots] = token
    return np.array(sorted(held, key=lambda slot: held[slot]), int)


def bytes_by_counting(pattern, num_layers, window, num_tokens, size):
    kinds = (pattern * num_layers)[:num_layers]
    local = kinds.count("L")
    rows = local * min(window, num_tokens) + (num_layers - local) * num_tokens
    return rows * size


def places_by_lists(token, sink_tokens, window):
    seen = kept_tokens(token, sink_tokens + window, sink_tokens)
    return np.array([seen, list(range(len(seen)))])


def weights_through_the_package(scores, sink_logit):
    # with one number a key and the scale 1, a query of ones has the scores
    # of its keys; values that are one-hot give back the weights
    rows = []
    for row in scores:
        if not np.isfinite(row).any():
            rows.append(np.zeros(len(row)))
            continue
        keys = np.where(np.isneginf(row), -1e9, row)
        variant = replace(causal() & sink_logits([sink_logit]), scale=1.0)
        state = attention(
            np.ones((1, 1, 1)),
            keys[:, None, None],
            np.eye(len(row))[:, None],
            variant=variant,
            impl="numpy",
        )
        rows.append(state.out[0, 0])
    return np.array(rows)


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        (RING, order_by_filling),
        (MIXED, bytes_by_counting),
        (PLACES, places_by_lists),
        (SINK, weights_through_the_package),
    ],
)
def test_answers_written_differently_pass(exercise, answer):
    result = verdict(exercise, answer)
    assert result.status == "correct", result.message


@pytest.mark.parametrize("slots", range(1, 6))
def test_the_order_is_the_one_in_which_the_package_reads(slots):
    shape = CONFIGS["smollm2-135m"].kv_shape
    ring = Ring(slots, shape, impl="numpy", dtype="float32")
    for token in range(13):
        row = np.full((1, *shape[:2]), token, np.float32)
        ring.write(row, row)
        order = RING.reference(token + 1, slots)
        read = ring.read(ring.first)[0][:, 0, 0]
        assert np.array_equal(ring.keys[order, 0, 0], read)


@pytest.mark.parametrize(
    ("name", "pattern"),
    [
        ("gemma-2-9b", "LG"),
        ("gemma-3-27b", "LLLLLG"),
        ("gpt-oss-20b", "LG"),
        ("mistral-7b-v0.1", "L"),
    ],
)
@pytest.mark.parametrize("tokens", [10, 5000, 131_072])
def test_the_bytes_are_those_of_the_package(name, pattern, tokens):
    config = CONFIGS[name]
    per_layer = kv_bytes_per_token(config) // config.num_layers
    got = MIXED.reference(
        pattern, config.num_layers, config.window, tokens, int(per_layer)
    )
    assert got == kv_cache_bytes(config, tokens)


@pytest.mark.parametrize(
    ("exercise", "answer", "says"),
    [
        (RING, lambda n, s: np.arange(s), "expected"),
        (MIXED, lambda p, n, w, t, b: n * t * b, "charged in full"),
        (PLACES, lambda t, s, w: np.zeros((2, 1), int), "expected"),
        (SINK, lambda scores, sink: scores, "expected"),
    ],
)
def test_wrong_answers_are_rejected_with_a_reason(exercise, answer, says):
    result = verdict(exercise, answer)
    assert result.status == "wrong"
    message = " ".join(result.message.split())
    assert says in message
    assert "in kv_cache/windows_and_sinks" in message
