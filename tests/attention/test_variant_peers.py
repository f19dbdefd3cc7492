"""Variants beside the eager attention of models that use them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest
import torch

from cutaway.attention import (
    alibi,
    attention,
    causal,
    sink_logits,
    sliding_window,
    softcap,
)

HEADS, KV_HEADS, HEAD_DIM = 6, 2, 8
MODULE = SimpleNamespace(
    num_key_value_groups=HEADS // KV_HEADS, head_dim=HEAD_DIM, training=False
)


def draw(q_len, kv_len, seed=0):
    rng = np.random.default_rng(seed)
    shapes = [(q_len, HEADS), (kv_len, KV_HEADS), (kv_len, KV_HEADS)]
    return [rng.standard_normal((*shape, HEAD_DIM)) for shape in shapes]


def heads_first(arrays):
    return [torch.from_numpy(a).transpose(0, 1)[None] for a in arrays]


def additive(q_len, kv_len, window=None):
    """0 where a key is seen and the least number elsewhere, as they do."""
    i = torch.arange(kv_len - q_len, kv_len)[:, None]
    j = torch.arange(kv_len)
    seen = j <= i if window is None else (j <= i) & (j > i - window)
    mask = torch.zeros(q_len, kv_len, dtype=torch.float64)
    return mask.masked_fill(~seen, torch.finfo(mask.dtype).min)[None, None]


def both(arrays, variant, **options):
    for impl in ("numpy", "torch"):
        given = arrays
        if impl == "torch":
            given = [torch.from_numpy(a) for a in arrays]
        state = attention(*given, variant=variant, impl=impl, **options)
        yield np.asarray(state.out)


@pytest.mark.parametrize(("q_len", "kv_len"), [(1, 9), (5, 5), (3, 8)])
@pytest.mark.parametrize("window", [None, 3])
def test_sinks_equal_gpt_oss_in_transformers(q_len, kv_len, window):
    from transformers.models.gpt_oss import modeling_gpt_oss

    arrays = draw(q_len, kv_len)
    sinks = [0.5, -1.0, 2.0, 0.0, 3.0, -4.0]
    module = SimpleNamespace(
        **vars(MODULE), sinks=torch.tensor(sinks, dtype=torch.float64)
    )
    want, weights = modeling_gpt_oss.eager_attention_forward(
        module,
        *heads_first(arrays),
        additive(q_len, kv_len, window),
        scaling=HEAD_DIM**-0.5,
    )
    mask = causal() if window is None else sliding_window(window)
    for out in both(arrays, mask & sink_logits(sinks)):
        np.testing.assert_allclose(out, want[0].numpy(), rtol=0, atol=1e-12)
    assert (weights.sum(-1) < 1).all()


@pytest.mark.parametrize(("q_len", "kv_len"), [(1, 9), (5, 5), (3, 8)])
@pytest.mark.parametrize("window", [None, 3])
def test_softcap_equals_gemma_2_in_transformers(q_len, kv_len, window):
    from transformers.models.gemma2 import modeling_gemma2

    arrays = draw(q_len, kv_len, seed=1)
    want, _ = modeling_gemma2.eager_attention_forward(
        MODULE,
        *heads_first(arrays),
        additive(q_len, kv_len, window),
        scaling=0.3,
        softcap=0.5,
    )
    mask = causal() if window is None else sliding_window(window)
    for out in both(arrays, mask & softcap(0.5), scale=0.3):
        # their softmax runs in float32 whatever the input is
        np.testing.assert_allclose(out, want[0].numpy(), rtol=0, atol=1e-6)


def test_alibi_equals_the_scores_that_bloom_computes():
    from transformers.models.bloom.modeling_bloom import build_alibi_tensor

    q_len, kv_len = 3, 8
    q, k, v = draw(q_len, kv_len, seed=2)
    bias = build_alibi_tensor(torch.ones(1, kv_len), HEADS, torch.float64)
    keys = torch.from_numpy(k).repeat_interleave(HEADS // KV_HEADS, 1)
    values = torch.from_numpy(v).repeat_interleave(HEADS // KV_HEADS, 1)
    scores = torch.baddbmm(
        bias,
        torch.from_numpy(q).transpose(0, 1),
        keys.permute(1, 2, 0),
        beta=1.0,
        alpha=HEAD_DIM**-0.5,
    )
    weights = torch.softmax(scores + additive(q_len, kv_len)[0], dim=-1)
    want = torch.bmm(weights, values.transpose(0, 1)).transpose(0, 1)
    for out in both([q, k, v], causal() & alibi(HEADS)):
        # their slopes are rounded to float32
        np.testing.assert_allclose(out, want.numpy(), rtol=0, atol=1e-6)
