"""The logit lens, against loops in float64 and against the model itself."""

from __future__ import annotations

import numpy as np
import pytest

from cutaway.core.errors import ArgumentError
from cutaway.decoder import Decoder, logit_lens, logit_terms
from oracles.hf_families import decoder_of

IDS = [1, 4, 0, 2, 3, 3, 1]


def observed(decoder, ids, stages):
    """The arrays of some stages, read without the lens."""
    seen = []
    decoder.forward(
        ids,
        decoder.new_cache(len(ids)),
        observe=lambda stage, layer, array: (
            seen.append(array.copy()) if stage in stages else None
        ),
    )
    return seen


def unembedded(decoder, row):
    """Final norm and output matrix for one vector, number by number."""
    scale = np.asarray(decoder.params.final_norm, np.float64)
    table = np.asarray(decoder.params.unembed, np.float64)
    mean_square = sum(float(v) ** 2 for v in row) / len(row)
    rms = (mean_square + decoder.config.norm_eps) ** 0.5
    y = [float(v) / rms * g for v, g in zip(row, scale, strict=True)]
    return np.array([
        sum(a * b for a, b in zip(y, entry, strict=True)) for entry in table
    ])  # fmt: skip


def test_every_entry_equals_a_direct_computation(tiny_decoder):
    lens = logit_lens(tiny_decoder, IDS)
    stream = observed(tiny_decoder, IDS, ("embed", "resid"))
    assert lens.shape == (3, len(IDS), 5)
    for entry, vectors in zip(lens, stream, strict=True):
        expected = [unembedded(tiny_decoder, row) for row in vectors]
        np.testing.assert_allclose(entry, expected, rtol=1e-10, atol=1e-12)


def test_the_last_entry_is_the_logits_of_the_model(tiny_decoder):
    logits = tiny_decoder.forward(IDS, tiny_decoder.new_cache(len(IDS)))
    lens = logit_lens(tiny_decoder, IDS)
    np.testing.assert_allclose(lens[-1], logits, rtol=1e-12)
    assert np.abs(lens[0] - logits).max() > 0.1
    assert np.abs(lens[1] - logits).max() > 0.1


@pytest.mark.parametrize("length", [1, 2, 7])
def test_last_only_is_the_last_row(tiny_decoder, length):
    whole = logit_lens(tiny_decoder, IDS[:length])
    last = logit_lens(tiny_decoder, IDS[:length], last_only=True)
    assert last.shape == (3, 1, 5)
    np.testing.assert_allclose(last[:, 0], whole[:, -1], rtol=1e-12)


@pytest.mark.parametrize("read", [
    lambda decoder: logit_lens(decoder, IDS, last_only=True),
    lambda decoder: logit_terms(decoder, IDS, 0),
])  # fmt: skip
def test_the_last_row_alone_is_kept(tiny_decoder, read, monkeypatch):
    kept = []
    stack = np.stack

    def noted(arrays):
        kept.extend(len(array) for array in arrays)
        return stack(arrays)

    monkeypatch.setattr(np, "stack", noted)
    read(tiny_decoder)
    assert kept
    assert set(kept) == {1}


def test_a_row_does_not_see_later_tokens(tiny_decoder):
    whole = logit_lens(tiny_decoder, IDS)
    start = logit_lens(tiny_decoder, IDS[:4])
    np.testing.assert_allclose(whole[:, :4], start, rtol=1e-10)


def test_each_layer_is_divided_by_its_own_root_mean_square(tiny_decoder):
    """One scale for all, a fault another library had, gives other logits."""
    lens = logit_lens(tiny_decoder, IDS, last_only=True)[:, 0]
    stream = [
        rows[-1] for rows in observed(tiny_decoder, IDS, ("embed", "resid"))
    ]
    rms = [np.sqrt(np.mean(row * row)) for row in stream]
    with_last_scale = lens[0] * rms[0] / rms[-1]
    assert abs(rms[0] / rms[-1] - 1) > 0.1
    assert not np.allclose(lens[0], with_last_scale, rtol=1e-2)
    expected = unembedded(tiny_decoder, stream[0])
    np.testing.assert_allclose(lens[0], expected, rtol=1e-10)


@pytest.mark.parametrize("token_id", range(5))
def test_the_terms_add_up_to_the_logit(tiny_decoder, token_id):
    logits = tiny_decoder.forward(IDS, tiny_decoder.new_cache(len(IDS)))
    terms = logit_terms(tiny_decoder, IDS, token_id)
    assert terms.shape == (1 + 2 * 2,)
    assert terms.sum() == pytest.approx(logits[-1, token_id], rel=1e-10)


def test_the_terms_are_those_of_the_parts_in_order(tiny_decoder):
    """Without its feed-forward network a layer's second term is zero."""
    import dataclasses

    params = tiny_decoder.params
    mute = dataclasses.replace(
        params.layers[0], w_down=0 * params.layers[0].w_down
    )
    params = dataclasses.replace(params, layers=(mute, params.layers[1]))
    decoder = Decoder(tiny_decoder.config, params, impl=tiny_decoder.impl)
    terms = logit_terms(decoder, IDS, 2)
    assert terms[2] == 0
    assert np.abs(np.delete(terms, 2)).min() > 1e-3


@pytest.mark.parametrize("read", [
    logit_lens, lambda decoder, ids: logit_terms(decoder, ids, 0),
])  # fmt: skip
@pytest.mark.parametrize("ids", [[], [5], [-1], [1.0], [0] * 17, "12"])
def test_what_is_no_text_is_refused(tiny_decoder, read, ids):
    with pytest.raises(ArgumentError, match="token_ids"):
        read(tiny_decoder, ids)


@pytest.mark.parametrize("token_id", [5, -1, 1.0, True, None])
def test_the_logit_of_what_is_no_token_is_refused(tiny_decoder, token_id):
    with pytest.raises(ArgumentError, match="token_id"):
        logit_terms(tiny_decoder, IDS, token_id)


@pytest.mark.model
def test_the_real_model_names_paris_in_its_last_layer_only(real_decoder):
    ids = [504, 3575, 282, 4649, 314]  # The capital of France is
    paris = 7042
    lens = logit_lens(real_decoder, ids, last_only=True)[:, 0]
    logits = real_decoder.forward(ids, real_decoder.new_cache(5))[-1]
    np.testing.assert_allclose(lens[-1], logits, atol=1e-3)
    assert np.flatnonzero(lens.argmax(axis=-1) == paris).tolist() == [30]
    rank = 1 + (lens > lens[:, [paris]]).sum(axis=-1)
    assert rank[:24].min() > 1000
    assert rank[-3:].tolist() == [7, 3, 1]
    terms = logit_terms(real_decoder, ids, paris)
    assert terms.sum() == pytest.approx(float(logits[paris]), abs=1e-3)


@pytest.mark.parametrize("case", ["gemma2", "gemma3", "mixtral", "gpt2"])
@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_the_lens_ends_in_the_logits_of_every_family(peers, case, impl):
    decoder = decoder_of(peers(case), impl)
    want = decoder.forward(IDS, decoder.new_cache(len(IDS)))
    lens = logit_lens(decoder, IDS)
    np.testing.assert_allclose(lens[-1], want, rtol=0, atol=1e-12)
    assert np.abs(lens[-2] - want).max() > 0.1


@pytest.mark.parametrize("case", ["gemma3", "qwen3_moe", "gpt_oss"])
def test_the_terms_of_other_families_add_up_to_the_logit(peers, case):
    decoder = decoder_of(peers(case), "numpy")
    logits = decoder.forward(IDS, decoder.new_cache(len(IDS)))
    terms = logit_terms(decoder, IDS, 3)
    assert len(terms) == 1 + 2 * decoder.config.num_layers
    assert terms.sum() == pytest.approx(logits[-1, 3], abs=1e-12)


@pytest.mark.parametrize(
    ("case", "name"),
    [("gemma2", "config.logit_softcap"), ("gpt2", "config.norm.kind")],
)
def test_logits_that_are_no_sum_of_terms_are_refused(peers, case, name):
    with pytest.raises(ArgumentError) as info:
        logit_terms(decoder_of(peers(case), "numpy"), IDS, 3)
    assert info.value.name == name
