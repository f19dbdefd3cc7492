"""The router and the mixture, against a token-by-token description."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from cutaway.core import ExpertGroups, FFNConfig, MoEConfig
from cutaway.decoder.experts import choose_experts, mix_experts
from cutaway.decoder.feed_forward import FeedForward
from cutaway.decoder.layer_params import LayerParams
from cutaway.layers import from_numpy, to_numpy
from cutaway.roofline import CONFIGS

MOE = MoEConfig(num_experts=12, experts_per_token=3, expert_ffn_size=4)
GROUPS = ExpertGroups(num_groups=4, groups_per_token=2)
KINDS = {
    "mixtral": MOE,
    "qwen3_moe": replace(MOE, renormalize=False),
    "one expert": replace(MOE, experts_per_token=1),
    "all experts": replace(MOE, experts_per_token=12),
    "deepseek_v2": replace(
        MOE, renormalize=False, weight_scale=16.0, groups=GROUPS
    ),
    "deepseek_v3": replace(
        MOE,
        scoring="sigmoid",
        weight_scale=2.5,
        correction_bias=True,
        groups=replace(GROUPS, score="top2_sum"),
    ),
}


def routed(row, bias, moe):
    """One token's experts and weights, by sorting lists."""
    if moe.scoring == "sigmoid":
        scores = [1 / (1 + math.exp(-x)) for x in row]
    else:
        total = sum(math.exp(x) for x in row)
        scores = [math.exp(x) / total for x in row]
    rank = [s + b for s, b in zip(scores, bias, strict=True)]
    allowed = set(range(len(row)))
    if moe.groups is not None:
        size = len(row) // moe.groups.num_groups
        worth = []
        for group in range(moe.groups.num_groups):
            best = sorted(rank[group * size : (group + 1) * size])[::-1]
            worth.append(sum(best[: 1 if moe.groups.score == "max" else 2]))
        groups = sorted(range(len(worth)), key=lambda g: -worth[g])
        kept = groups[: moe.groups.groups_per_token]
        allowed = {e for e in allowed if e // size in kept}
    chosen = sorted(allowed, key=lambda e: -rank[e])[: moe.experts_per_token]
    shares = [scores[e] for e in chosen]
    if moe.renormalize:
        shares = [share / sum(shares) for share in shares]
    return chosen, [share * moe.weight_scale for share in shares]


@pytest.mark.parametrize("kind", KINDS)
def test_the_choice_equals_that_of_one_token_at_a_time(kind):
    moe = KINDS[kind]
    rng = np.random.default_rng(3)
    logits = rng.standard_normal((40, 12))
    bias = rng.standard_normal(12) / 3 if moe.correction_bias else None
    ids, shares = choose_experts(logits, bias, moe)
    assert shares.dtype == np.float64
    for row, got_ids, got in zip(logits, ids, shares, strict=True):
        none = np.zeros(12)
        want_ids, want = routed(row, none if bias is None else bias, moe)
        assert got_ids.tolist() == want_ids
        np.testing.assert_allclose(got, want, rtol=1e-12)


def test_the_bias_and_the_groups_decide_something():
    moe = KINDS["deepseek_v3"]
    rng = np.random.default_rng(3)
    logits, bias = rng.standard_normal((40, 12)), rng.standard_normal(12)
    chosen = choose_experts(logits, bias, moe)[0]
    for other in (
        choose_experts(logits, None, moe)[0],
        choose_experts(logits, bias, replace(moe, groups=None))[0],
        choose_experts(logits, bias, replace(moe, groups=GROUPS))[0],
    ):
        assert not np.array_equal(chosen, other)


def test_experts_of_other_groups_are_never_chosen():
    # all scores of the best two groups are below 0 with the bias
    moe = replace(KINDS["deepseek_v3"], experts_per_token=6)
    ids, _ = choose_experts(np.zeros((1, 12)), -np.arange(1.0, 13.0), moe)
    assert set(ids[0].tolist()) == {0, 1, 2, 3, 4, 5}


@pytest.mark.parametrize("scoring", ["softmax", "sigmoid"])
def test_logits_of_any_size_do_not_overflow(scoring):
    moe = replace(MOE, scoring=scoring)
    for top in (1e4, 0, -1e4):
        logits = np.linspace(top - 1e4, top, 12)[None]
        ids, shares = choose_experts(logits, None, moe)
        assert ids[0, 0] == 11 or top != 0
        assert np.isfinite(shares).all()
        assert 0 <= shares.sum() < 1 + 1e-12


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_each_token_gets_its_own_experts(impl):
    rng = np.random.default_rng(0)
    h = rng.standard_normal((7, 5))
    ids = np.array([rng.permutation(4)[:2] for _ in range(7)])
    shares = rng.random((7, 2))
    matrices = rng.standard_normal((4, 5, 5))
    calls = []

    def expert(number, rows):
        calls.append((number, len(rows)))
        return rows @ from_numpy(matrices[number], impl=impl)

    got = mix_experts(
        from_numpy(h, impl=impl), ids, from_numpy(shares, impl=impl), expert
    )
    want = [
        sum(s * (row @ matrices[e]) for e, s in zip(chosen, share, strict=True))
        for row, chosen, share in zip(h, ids, shares, strict=True)
    ]
    np.testing.assert_allclose(to_numpy(got, impl=impl), want, rtol=1e-12)
    counts = {e: int((ids == e).sum()) for e in np.unique(ids).tolist()}
    assert dict(calls) == counts  # each expert once, with its tokens alone
    assert len(calls) == len(counts)


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_a_mixture_of_equal_experts_is_one_network(impl):
    rng = np.random.default_rng(1)
    moe = replace(MOE, num_experts=3, experts_per_token=2)
    config = replace(CONFIGS["mixtral-8x7b"], moe=moe, ffn=FFNConfig())
    one = {
        name: from_numpy(rng.standard_normal(shape), impl=impl)
        for name, shape in (
            ("w_gate", (4, 6)),
            ("w_up", (4, 6)),
            ("w_down", (6, 4)),
            ("router", (3, 6)),
        )
    }
    h = from_numpy(rng.standard_normal((9, 6)), impl=impl)
    rest = dict.fromkeys(("attn_norm", "wo", "ffn_norm"))
    router = one.pop("router")
    network = FeedForward(config, impl=impl)
    want = network(LayerParams(**rest, **one), h)
    stacked = {
        name: from_numpy(np.stack([np.asarray(array)] * 3), impl=impl)
        for name, array in one.items()
    }
    got = network(LayerParams(**rest, **stacked, router=router), h)
    np.testing.assert_allclose(np.asarray(got), np.asarray(want), rtol=1e-12)
