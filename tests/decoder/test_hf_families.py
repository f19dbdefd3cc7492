"""The decoder beside transformers, family by family, on equal weights.

Each case is a tiny random model that transformers makes, saves and runs in
float64; our decoder reads the folder.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from cutaway.core import AttentionConfig, FFNConfig, NormConfig
from cutaway.decoder import Decoder
from oracles.hf_families import (
    FAMILIES,
    IDS,
    decoder_of,
    random_cuts,
    read,
)

IMPLS = ("numpy", "torch")


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("case", FAMILIES)
def test_prefill_equals_transformers_in_float64(peers, case, impl):
    peer = peers(case)
    got = read(decoder_of(peer, impl), IDS)
    want = peer.logits()
    assert np.ptp(want) > 0.5
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-9)


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("case", FAMILIES)
def test_cached_chunks_equal_transformers_in_float64(peers, case, impl):
    peer = peers(case)
    decoder, want = decoder_of(peer, impl), peer.logits()
    rng = np.random.default_rng(7)
    for _ in range(3):
        got = read(decoder, IDS, random_cuts(rng, len(IDS)))
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-9)
    one_by_one = read(decoder, IDS, range(1, len(IDS)))
    np.testing.assert_allclose(one_by_one, want, rtol=0, atol=1e-9)


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("case", FAMILIES)
def test_a_rolling_cache_equals_transformers_in_float64(peers, case, impl):
    peer = peers(case)
    decoder, want = decoder_of(peer, impl), peer.logits()
    for cuts in ((), (1, 6, 7), range(1, len(IDS))):
        got = read(decoder, IDS, cuts, kind="rolling")
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-9)


def scored(config, **changes):
    return {"attention": replace(config.attention, **changes)}


# A setting of the family, undone: what a loader would do that skips it.
SKIPS = {
    ("mistral", "window"): lambda c: {"window": None},
    ("mixtral-window", "window"): lambda c: {"window": None},
    ("qwen2-window", "window_pattern"): lambda c: {"window_pattern": None},
    ("qwen3_moe", "renormalize"): lambda c: {
        "moe": replace(c.moe, renormalize=True)
    },
    ("gemma2", "window_pattern"): lambda c: {"window_pattern": None},
    ("gemma2", "embed_scale"): lambda c: {"embed_scale": None},
    ("gemma2", "logit_softcap"): lambda c: {"logit_softcap": None},
    ("gemma2", "softcap"): lambda c: scored(c, softcap=None),
    ("gemma2", "scale"): lambda c: scored(c, scale=None),
    ("gemma2", "plus one"): lambda c: {"norm": NormConfig(after=True)},
    ("gemma2", "activation"): lambda c: {"ffn": FFNConfig()},
    ("gemma3", "local_rope_theta"): lambda c: {"local_rope_theta": None},
    ("gemma3", "rope_scaling"): lambda c: {"rope_scaling": None},
    ("gpt_oss", "clamp"): lambda c: {"ffn": replace(c.ffn, clamp=None)},
    ("gpt_oss", "gain"): lambda c: {"ffn": replace(c.ffn, sigmoid_gain=1.0)},
    ("gpt_oss", "rope_scaling"): lambda c: {"rope_scaling": None},
    ("gpt_oss", "window_pattern"): lambda c: {"window_pattern": None},
    ("gpt2", "activation"): lambda c: {
        "ffn": FFNConfig(gated=False, activation="relu")
    },
}


@pytest.mark.parametrize("skip", SKIPS, ids="-".join)
def test_the_oracle_notices_what_is_skipped(peers, skip):
    # or the agreement above would mean nothing
    case, _ = skip
    right = decoder_of(peers(case), "numpy")
    config = replace(right.config, **SKIPS[skip](right.config))
    got = read(Decoder(config, right.params, impl="numpy"), IDS)
    assert np.abs(got - peers(case).logits()).max() > 1e-3


def test_sinks_of_minus_infinity_are_no_sinks(peers):
    # -1e30 stands in for it; without sinks the rows sum to 1
    right = decoder_of(peers("gpt_oss"), "numpy")
    gone = tuple(
        replace(layer, sinks=np.full_like(layer.sinks, -1e30))
        for layer in right.params.layers
    )
    params = replace(right.params, layers=gone)
    got = read(Decoder(right.config, params, impl="numpy"), IDS)
    bare = replace(right.config, attention=AttentionConfig())
    params = replace(
        right.params,
        layers=tuple(replace(layer, sinks=None) for layer in gone),
    )
    want = read(Decoder(bare, params, impl="numpy"), IDS)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)
    assert np.abs(got - peers("gpt_oss").logits()).max() > 1e-3
