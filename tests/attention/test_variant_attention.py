"""Attention with variants: against loops, torch SDPA and FlexAttention."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch
from torch.nn.attention.flex_attention import (
    AuxRequest,
    create_block_mask,
    flex_attention,
)

from cutaway.attention import (
    AttentionVariant,
    alibi,
    alibi_slopes,
    attention,
    causal,
    full,
    prefix_lm,
    sink_logits,
    sliding_window,
    softcap,
    streaming,
)
from cutaway.core import ArgumentError, merge
from oracles import variant_loops
from oracles.budget import assert_within_budget

IMPLS = ("numpy", "torch")
SINKS = [0.5, -2.0, 3.0, 0.0, 1.5, -0.5]
VARIANTS = {
    "causal": (causal(), {}),
    "full": (full(), {"causal": False}),
    "window 1": (sliding_window(1), {"window": 1}),
    "window 3": (sliding_window(3), {"window": 3}),
    "streaming": (streaming(2, 1), {"window": 2, "sink_tokens": 1}),
    "prefix": (prefix_lm(3), {"prefix": 3}),
    "softcap": (causal() & softcap(0.7), {"cap": 0.7}),
    "alibi": (causal() & alibi(6), {"slopes": alibi_slopes(6)}),
    "sinks": (causal() & sink_logits(SINKS), {"sink": SINKS}),
    "all at once": (
        sliding_window(4)
        & softcap(2.0)
        & alibi(6)
        & sink_logits(SINKS)
        & AttentionVariant(scale=0.9),
        {
            "window": 4,
            "cap": 2.0,
            "slopes": alibi_slopes(6),
            "sink": SINKS,
            "scale": 0.9,
        },
    ),
}
LENGTHS = [(0, 3), (1, 1), (1, 7), (2, 5), (5, 5), (4, 11), (5, 2), (3, 0)]


def draw(q_len, kv_len, heads=6, kv_heads=2, head_dim=5, seed=0):
    rng = np.random.default_rng(seed)
    return (
        rng.standard_normal((q_len, heads, head_dim)),
        rng.standard_normal((kv_len, kv_heads, head_dim)),
        rng.standard_normal((kv_len, kv_heads, head_dim)),
    )


def run(impl, arrays, **options):
    if impl == "torch":
        arrays = [torch.from_numpy(a) for a in arrays]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        state = attention(*arrays, impl=impl, **options)
    return np.asarray(state.out), np.asarray(state.lse)


@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize(("q_len", "kv_len"), LENGTHS)
def test_both_equal_the_loops(name, q_len, kv_len):
    variant, rule = VARIANTS[name]
    exact = draw(q_len, kv_len)
    want = variant_loops.attention(*exact, **rule)
    for impl in IMPLS:
        got = run(impl, exact, variant=variant)
        for have, wanted in zip(got, want, strict=True):
            assert have.shape == wanted.shape
            np.testing.assert_allclose(have, wanted, rtol=0, atol=1e-12)
    low = [a.astype(np.float32) for a in exact]
    want = variant_loops.attention(*low, **rule)
    plain, got = (run(impl, low, variant=variant) for impl in IMPLS)
    for triple in zip(got, plain, want, strict=True):
        assert_within_budget(*triple)


@pytest.mark.parametrize(
    "name",  # torch's SDPA has neither caps nor sinks
    [n for n, (_, rule) in VARIANTS.items() if not {"cap", "sink"} & set(rule)],
)
def test_both_equal_torch_sdpa_with_an_explicit_mask(name):
    variant, rule = VARIANTS[name]
    arrays = draw(4, 9, seed=1)
    i = torch.arange(5, 9)[:, None]
    j = torch.arange(9)
    mask = torch.zeros(6, 4, 9, dtype=torch.float64)
    if "slopes" in rule:
        slopes = torch.tensor(rule["slopes"], dtype=torch.float64)
        mask -= slopes[:, None, None] * (i - j)
    spelled = {"causal": True, "window": None, "sink_tokens": 0, "prefix": 0}
    spelled |= {key: rule[key] for key in spelled if key in rule}
    for row in range(4):
        for column in range(9):
            if not variant_loops.visible(row + 5, column, **spelled):
                mask[:, row, column] = -torch.inf
    q, k, v = (torch.from_numpy(a).transpose(0, 1) for a in arrays)
    want = torch.nn.functional.scaled_dot_product_attention(
        q, k, v, attn_mask=mask, enable_gqa=True
    ).transpose(0, 1)
    for impl in IMPLS:
        out, _ = run(impl, arrays, variant=variant)
        np.testing.assert_allclose(out, want, rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore:flex_attention called without")
@pytest.mark.parametrize("name", VARIANTS)
@pytest.mark.parametrize(("q_len", "kv_len"), [(1, 9), (4, 4), (3, 10)])
def test_flexattention_runs_the_same_functions(name, q_len, kv_len):
    variant, rule = VARIANTS[name]
    arrays = draw(q_len, kv_len, head_dim=8, seed=2)
    first = kv_len - q_len  # FlexAttention counts from the first query
    q, k, v = (torch.from_numpy(a).transpose(0, 1)[None] for a in arrays)
    score_mod = block_mask = None
    if variant.score_mod is not None:

        def score_mod(score, batch, head, q_idx, kv_idx):
            return variant.score_mod(score, q_idx + first, kv_idx, head)

    if variant.mask_mod is not None:

        def mask_mod(batch, head, q_idx, kv_idx):
            return variant.mask_mod(q_idx + first, kv_idx, head)

        sizes = (1, 6, q_len, kv_len)
        block_mask = create_block_mask(mask_mod, *sizes, device="cpu")
    out, aux = flex_attention(
        q,
        k,
        v,
        score_mod=score_mod,
        block_mask=block_mask,
        scale=variant.scale,
        enable_gqa=True,
        return_aux=AuxRequest(lse=True),
    )
    out = out[0].transpose(0, 1).numpy()
    lse = aux.lse[0].T.numpy()
    if "sink" in rule:  # FlexAttention has none: rescale by hand
        with_sink = np.logaddexp(lse, rule["sink"])
        out = out * np.exp(lse - with_sink)[..., None]
        lse = with_sink
    for impl in IMPLS:
        got_out, got_lse = run(impl, arrays, variant=variant)
        np.testing.assert_allclose(got_out, out, rtol=0, atol=1e-12)
        np.testing.assert_allclose(got_lse, lse, rtol=0, atol=1e-6)


@pytest.mark.parametrize("q_len", [127, 128, 129, 300])
@pytest.mark.parametrize("extra", [0, 37, -60])
def test_positions_stay_right_across_tiles_of_queries(q_len, extra):
    arrays = draw(q_len, q_len + extra, heads=3, kv_heads=1, head_dim=4)
    variant = streaming(50, 3) & softcap(1.5) & alibi(3)
    want = run("numpy", arrays, variant=variant)
    got = run("torch", arrays, variant=variant)
    for have, wanted in zip(got, want, strict=True):
        np.testing.assert_allclose(have, wanted, rtol=0, atol=1e-12)


@pytest.mark.parametrize("impl", IMPLS)
def test_the_causal_variant_is_the_default(impl):
    arrays = draw(4, 9)
    for have, wanted in zip(
        run(impl, arrays, variant=causal()), run(impl, arrays), strict=True
    ):
        np.testing.assert_allclose(have, wanted, rtol=0, atol=1e-14)
    for have, wanted in zip(
        run(impl, arrays, variant=full()),
        run(impl, arrays, causal=False),
        strict=True,
    ):
        np.testing.assert_allclose(have, wanted, rtol=0, atol=1e-14)


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_a_row_that_sees_nothing_is_zero_with_lse_minus_infinity(impl, dtype):
    arrays = [a.astype(dtype) for a in draw(3, 4)]
    blind = AttentionVariant(
        mask_mod=lambda q_pos, kv_pos, head: (
            (kv_pos < q_pos - 1) & (head < 5) & (kv_pos >= 1)
        )
    )
    out, lse = run(impl, arrays, variant=blind)
    assert out.dtype == lse.dtype == dtype
    assert not out[0].any()  # query 1 sees no key at all
    assert np.isneginf(lse[0]).all()
    assert not out[:, 5].any()  # nor does head 5, anywhere
    assert np.isneginf(lse[:, 5]).all()
    assert np.isfinite(out).all()
    assert np.isfinite(lse[2, :5]).all()
    # query 3 sees key 1 alone, and takes its value whole
    np.testing.assert_allclose(out[2, 0], arrays[2][1, 0], rtol=1e-6)


@pytest.mark.parametrize("impl", IMPLS)
def test_queries_before_the_first_key_see_nothing(impl):
    # 5 queries, 2 keys, aligned at the end: rows 00 00 00 10 11
    q, k, _ = draw(5, 2, head_dim=8)
    v = np.zeros((2, 2, 8))
    v[0, :, 0] = v[1, :, 1] = 1
    out, lse = run(impl, (q, k, v), variant=causal())
    seen = (out[:, 0, :2] > 0).astype(int).tolist()
    assert seen == [[0, 0], [0, 0], [0, 0], [1, 0], [1, 1]]
    assert np.isneginf(lse[:3]).all()


@pytest.mark.parametrize("impl", IMPLS)
def test_a_sink_takes_weight_and_gives_no_value(impl):
    arrays = draw(3, 5, heads=2, kv_heads=1)
    arrays[2][:] = 1  # equal values: the output is the sum of the weights
    out, lse = run(impl, arrays, variant=causal() & sink_logits([0.0, 5.0]))
    plain_out, plain_lse = run(impl, arrays)
    np.testing.assert_allclose(plain_out, 1, rtol=1e-12)
    kept = np.exp(plain_lse) / (np.exp(plain_lse) + np.exp([0.0, 5.0]))
    np.testing.assert_allclose(out[..., 0], kept, rtol=1e-12)
    np.testing.assert_allclose(lse, np.logaddexp(plain_lse, [0.0, 5.0]))


@pytest.mark.parametrize("impl", IMPLS)
def test_a_row_with_nothing_but_a_sink_has_its_logit_as_lse(impl):
    for kv_len in (0, 2):
        arrays = draw(5, kv_len, heads=2, kv_heads=1)
        variant = causal() & sink_logits([0.5, -800.0])
        out, lse = run(impl, arrays, variant=variant)
        assert not out[0].any()
        np.testing.assert_allclose(lse[0], [0.5, -800.0])


@pytest.mark.parametrize("impl", IMPLS)
def test_the_keys_may_be_split_and_the_states_merged(impl):
    q, k, v = draw(3, 11)
    variant = sliding_window(6) & softcap(1.0)
    want = run(impl, (q, k, v), variant=variant)
    parts = []
    for start, stop in ((0, 2), (2, 7), (7, 11)):
        here = AttentionVariant(
            mask_mod=lambda i, j, h, start=start, stop=stop: (
                variant.mask_mod(i, j, h) & (j >= start) & (j < stop)
            ),
            score_mod=variant.score_mod,
        )
        arrays = (q, k, v)
        if impl == "torch":
            arrays = [torch.from_numpy(a) for a in arrays]
        parts.append(attention(*arrays, variant=here, impl=impl))
    assert np.isneginf(np.asarray(parts[0].lse)).all()  # outside the window
    whole = merge(merge(parts[0], parts[1]), parts[2])
    np.testing.assert_allclose(whole.out, want[0], rtol=0, atol=1e-12)
    np.testing.assert_allclose(whole.lse, want[1], rtol=0, atol=1e-12)


@pytest.mark.parametrize("impl", IMPLS)
def test_inputs_are_not_changed_even_by_a_careless_function(impl):
    def careless(score, q_pos, kv_pos, head):
        score *= 2
        return score

    arrays = draw(3, 5)
    before = [a.copy() for a in arrays]
    variant = causal() & AttentionVariant(score_mod=careless)
    got = run(impl, arrays, variant=variant)
    want = variant_loops.attention(*arrays, scale=2 / np.sqrt(5))
    np.testing.assert_allclose(got[0], want[0], atol=1e-12)
    for have, wanted in zip(arrays, before, strict=True):
        assert np.array_equal(have, wanted)


@pytest.mark.parametrize("impl", IMPLS)
@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"variant": "causal"}, "variant"),
        ({"variant": causal}, "variant"),
        ({"variant": causal(), "causal": True}, "causal"),
        ({"variant": full(), "causal": False}, "causal"),
        ({"variant": AttentionVariant(scale=0.5), "scale": 0.5}, "scale"),
        ({"variant": alibi(4)}, "variant.num_heads"),
        ({"variant": sink_logits([0.0] * 3)}, "variant.num_heads"),
        (
            {"variant": AttentionVariant(mask_mod=lambda i, j, h: True)},
            "mask_mod(...)",
        ),
        (
            {"variant": AttentionVariant(mask_mod=lambda i, j, h: i - j)},
            "mask_mod(...).dtype",
        ),
        (
            {"variant": AttentionVariant(mask_mod=lambda i, j, h: j[1:] > 0)},
            "mask_mod(...).shape",
        ),
        (
            {"variant": AttentionVariant(score_mod=lambda s, i, j, h: i - j)},
            "score_mod(...).shape",
        ),
        (
            {"variant": AttentionVariant(score_mod=lambda s, i, j, h: 0.0)},
            "score_mod(...)",
        ),
    ],
)
def test_what_does_not_fit_is_named(impl, options, name):
    if impl == "numpy" and name == "score_mod(...).shape":
        options = {
            "variant": AttentionVariant(score_mod=lambda s, i, j, h: s[:1])
        }
    with pytest.raises(ArgumentError) as info:
        run(impl, draw(3, 5), **options)
    assert info.value.name == name
