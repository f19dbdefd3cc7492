"""The graders of ``kv_cache/dropping_tokens``: other right and wrong."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.book.exercises import section_exercises
from cutaway.book.grade import verdict
from cutaway.kvcache import H2O, EvictingCache, SnapKV, kept_rows
from cutaway.roofline import CONFIGS, kv_bytes_per_token

HEAVY, VOTES, LENGTH = section_exercises("kv_cache/dropping_tokens")


def heavy_by_the_package(weights, budget_tokens, recent_tokens):
    policy = H2O(recent_tokens)
    scores = policy.scored(np.zeros((1, len(weights))), weights[None])
    ranked = policy.priorities(scores, np.arange(len(weights))[None])
    return kept_rows(ranked, budget_tokens)[0].tolist()


def heavy_in_a_loop(weights, budget_tokens, recent_tokens):
    places = list(range(len(weights)))
    while len(places) > budget_tokens:
        open_ = places[: len(places) - recent_tokens]
        places.remove(min(open_, key=lambda j: sum(weights[:, j])))
    return places


def votes_by_the_package(weights, budget_tokens, window_tokens, pool_tokens):
    policy = SnapKV(window_tokens, pool_tokens)
    tokens = len(weights)
    # a prompt read token by token up to the last query would not be voted on
    if window_tokens == 1:
        weights = np.concatenate([np.zeros((1, tokens)), weights[-1:]])
        scores = SnapKV(2, pool_tokens).scored(
            np.zeros((1, tokens + 1)),
            np.pad(weights, ((0, 0), (0, 1)))[None],
        )[:, :tokens]
    else:
        window = weights[None, -window_tokens:]
        scores = policy.scored(np.zeros((1, tokens)), window)
    return kept_rows(scores, budget_tokens)[0].tolist()


def length_by_search(budget_tokens, chunk_tokens, head_dim, bytes_per_element):
    size = 2 * head_dim * bytes_per_element
    held = (budget_tokens + chunk_tokens) * (size + 12)
    tokens = held // size
    while tokens * size <= held:
        tokens += 1
    return tokens


@pytest.mark.parametrize(
    ("exercise", "answer"),
    [
        (HEAVY, heavy_by_the_package),
        (HEAVY, heavy_in_a_loop),
        (VOTES, votes_by_the_package),
        (LENGTH, length_by_search),
    ],
)
def test_answers_written_differently_pass(exercise, answer):
    result = verdict(exercise, answer)
    assert result.status == "correct", result.message


@pytest.mark.parametrize(
    ("exercise", "answer", "says"),
    [
        (HEAVY, lambda w, b, r: list(range(b)), "expected"),
        (HEAVY, lambda w, b, r: np.arange(b), "list of positions"),
        (HEAVY, lambda w, b, r: sorted(
            np.argsort(w[-1])[-b:].tolist()), "expected"),
        (VOTES, lambda w, b, n, p: list(range(len(w) - b, len(w))),
         "expected"),
        (VOTES, lambda w, b, n, p: heavy_in_a_loop(w, b, n), "expected"),
        (LENGTH, lambda b, c, d, s: float(b + c), "expected an int"),
        (LENGTH, lambda b, c, d, s: b + c + 1, "12 bytes"),
    ],
)  # fmt: skip
def test_wrong_answers_are_rejected_with_a_reason(exercise, answer, says):
    result = verdict(exercise, answer)
    assert result.status == "wrong"
    message = " ".join(result.message.split())
    assert says in message
    assert "in kv_cache/dropping_tokens" in message


def test_the_length_is_that_of_the_package():
    config = CONFIGS["smollm2-135m"]
    cache = EvictingCache(config, 96, policy=H2O(48), chunk_tokens=32)
    size = kv_bytes_per_token(config, 4)
    tokens = LENGTH.reference(96, 32, config.head_dim, 4)
    assert (tokens - 1) * size <= cache.nbytes < tokens * size
