"""Entropy, and typical-p beside transformers' warper."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cutaway.core.errors import ArgumentError
from cutaway.sampling import apply_typical_p, entropy, softmax

INF = float("inf")


@pytest.mark.parametrize("vocab", [1, 2, 7, 59, 1000])
@pytest.mark.parametrize("p", [0.01, 0.2, 0.5, 0.9, 0.999])
def test_typical_equals_transformers(vocab: int, p: float) -> None:
    torch = pytest.importorskip("torch", reason="torch is not installed")
    from transformers.generation.logits_process import TypicalLogitsWarper

    rng = np.random.default_rng(vocab)
    logits = rng.normal(scale=3, size=(5, vocab))
    logits[1] = np.round(logits[1])  # ties
    logits[2] = 0.0
    logits[4, rng.random(vocab) < 0.3] = -INF
    logits[4, 0] = 1.0
    expected = TypicalLogitsWarper(p)(None, torch.from_numpy(logits)).numpy()
    np.testing.assert_array_equal(apply_typical_p(logits, p), expected)


def test_typical_may_drop_the_likeliest() -> None:
    kept = apply_typical_p(np.log([0.4, 0.3, 0.3]), 0.5) > -INF
    assert kept.tolist() == [False, True, True]


def test_typical_handles_each_row_alone_and_leaves_its_input() -> None:
    logits = np.random.default_rng(3).normal(size=(2, 3, 11)) * 3
    before = logits.copy()
    whole = apply_typical_p(logits, 0.5)
    np.testing.assert_array_equal(logits, before)
    for i in range(2):
        for j in range(3):
            alone = apply_typical_p(logits[i, j], 0.5)
            np.testing.assert_array_equal(whole[i, j], alone)
    np.testing.assert_array_equal(apply_typical_p(logits, 1), logits)
    assert apply_typical_p(logits.astype(np.float32), 0.5).dtype == np.float32


@pytest.mark.parametrize("bad", [0, -0.1, 1.1, np.nan, "0.5", None, True])
def test_bad_share_is_refused(bad) -> None:
    with pytest.raises(ArgumentError, match="typical_p"):
        apply_typical_p([0.0, 1.0], bad)


@pytest.mark.parametrize("logits", [[np.nan], [INF, 0.0], [-INF], [], "ab"])
def test_bad_logits_are_refused(logits) -> None:
    with pytest.raises(ArgumentError, match="logits"):
        apply_typical_p(logits, 0.5)
    with pytest.raises(ArgumentError, match="logits"):
        entropy(logits)


def test_entropy_is_the_mean_surprise() -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(size=(3, 40)) * 4
    logits[1, ::2] = -INF
    for row, got in zip(logits, entropy(logits), strict=True):
        probs = [q for q in softmax(row).tolist() if q > 0]
        exact = math.fsum(-q * math.log(q) for q in probs)
        assert got == pytest.approx(exact, rel=1e-12)


def test_entropy_runs_from_certain_to_uniform() -> None:
    assert entropy([5.0, -INF, -INF]) == 0
    assert entropy(np.zeros(49_152)) == pytest.approx(math.log(49_152))
    assert entropy(np.float32([800, 0])) == pytest.approx(0, abs=1e-300)


def test_entropy_grows_with_the_temperature() -> None:
    logits = np.random.default_rng(4).normal(size=30) * 3
    values = [entropy(logits / t) for t in (0.1, 0.5, 1, 2, 10, 1000)]
    assert values == sorted(values)
    assert values[-1] == pytest.approx(math.log(30), abs=1e-4)
