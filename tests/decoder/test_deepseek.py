"""Latent attention in the decoder: beside DeepSeek-V2 and V3 of transformers."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from cutaway.attention import AttentionVariant, sliding_window, softcap
from cutaway.core import (
    ArgumentError,
    AttentionConfig,
    MLAConfig,
    ModelConfig,
    NormConfig,
)
from cutaway.decoder import Decoder, Params
from cutaway.kvcache import ContiguousCache
from cutaway.roofline import CONFIGS, absorbed_pays, kv_bytes_per_token
from cutaway.weights import HFFolder
from oracles import peer_deepseek

IDS = [5, 0, 30, 7, 7, 12, 29, 1, 18, 96, 44, 61, 2, 3, 80, 33, 9, 71, 50, 4]
FORMS = [None, True, False]
CONFIG = ModelConfig(
    num_layers=2,
    hidden_size=24,
    num_heads=3,
    num_kv_heads=3,
    head_dim=10,
    ffn_size=20,
    vocab_size=31,
    rope_theta=1e4,
    norm_eps=1e-6,
    max_seq_len=64,
    mla=MLAConfig(
        kv_lora_rank=12,
        q_lora_rank=None,
        qk_nope_head_dim=6,
        qk_rope_head_dim=4,
        v_head_dim=8,
    ),
)


@pytest.fixture(scope="module", params=peer_deepseek.MODELS)
def peer(request, tmp_path_factory):
    """A model's folder, and the logits of transformers for ``IDS``."""
    folder = tmp_path_factory.mktemp("deepseek")
    model = peer_deepseek.save(request.param, folder, seed=3)
    return folder, peer_deepseek.logits(model, IDS)


def decoder_of(folder, *, impl="torch", dtype="float64", absorbed=None):
    with HFFolder(folder) as opened:
        config = ModelConfig.from_hf(opened.config)
        params = Params.from_hf(opened, config, impl=impl, dtype=dtype)
    return Decoder(config, params, impl=impl, absorbed=absorbed)


def tiny(impl="numpy", *, config=CONFIG, **options):
    params = Params.random(config, 0, impl=impl, dtype="float64")
    return Decoder(config, params, impl=impl, **options)


def read(decoder, ids, cuts):
    """Logits of a text, read in chunks that end at the cuts."""
    cache = decoder.new_cache(len(ids))
    ends = [0, *cuts, len(ids)]
    parts = [
        decoder.forward(ids[a:b], cache) for a, b in itertools.pairwise(ends)
    ]
    return np.concatenate(parts)


def assert_close(got, want):
    # theirs are float32 throughout; ours may be float64
    limit = 1e-5 * np.abs(want).max()
    np.testing.assert_allclose(got, want, rtol=0, atol=limit)


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("absorbed", FORMS)
def test_logits_of_a_prompt_equal_those_of_transformers(
    peer, impl, dtype, absorbed
):
    folder, want = peer
    decoder = decoder_of(folder, impl=impl, dtype=dtype, absorbed=absorbed)
    assert_close(read(decoder, IDS, []), want)


@pytest.mark.parametrize("absorbed", FORMS)
@pytest.mark.parametrize("cuts", [range(1, 20), [7, 8, 9, 15], [1, 19]])
def test_logits_of_chunks_through_the_cache_equal_theirs(peer, absorbed, cuts):
    folder, want = peer
    decoder = decoder_of(folder, absorbed=absorbed)
    assert_close(read(decoder, IDS, cuts), want)


def test_the_tolerance_would_notice_a_wrong_scale(peer):
    # 1/sqrt(rank + rope) instead of 1/sqrt(nope + rope) and YaRN's factor
    folder, want = peer
    decoder = decoder_of(folder)
    width = decoder.config.mla.cache_width
    wrong = Decoder(
        decoder.config,
        decoder.params,
        variant=AttentionVariant(scale=width**-0.5),
    )
    got = read(wrong, IDS, [])
    assert np.abs(got - want).max() > 1e-3 * np.abs(want).max()


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize(
    "variant",
    [None, sliding_window(5), softcap(0.5), AttentionVariant(scale=0.2)],
)
def test_all_forms_and_chunkings_agree_in_float64(impl, variant):
    want = read(tiny(impl, variant=variant, absorbed=False), IDS_31, [])
    for absorbed in FORMS:
        decoder = tiny(impl, variant=variant, absorbed=absorbed)
        for cuts in ([], range(1, 20), [3, 4, 11], [19]):
            got = read(decoder, IDS_31, cuts)
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)


IDS_31 = [token % 31 for token in IDS]


def test_the_cheaper_form_is_taken_pass_by_pass(monkeypatch):
    import cutaway.decoder.latent as latent

    taken = []
    for name in ("absorbed_attention", "expanded_attention"):
        form = getattr(latent, name)

        def spy(*args, form=form, name=name, **options):
            taken.append(name.split("_")[0])
            return form(*args, **options)

        monkeypatch.setattr(latent, name, spy)
    decoder = tiny()
    cache = decoder.new_cache(60)
    sizes = ((9, 0), (1, 9), (2, 10), (40, 12), (1, 52))
    for q_len, context in sizes:
        decoder.forward([1] * q_len, cache)
        wanted = (
            "absorbed"
            if absorbed_pays(CONFIG.mla, q_len, context)
            else "expanded"
        )
        assert taken[-2:] == [wanted] * 2
    assert taken[::2] == [
        "expanded",
        "absorbed",
        "absorbed",
        "expanded",
        "absorbed",
    ]


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_the_cache_holds_one_row_a_token_and_nothing_else(impl):
    decoder = tiny(impl)
    cache = ContiguousCache(CONFIG, 20, impl=impl, dtype="float64")
    decoder.forward(IDS_31, cache)
    assert cache.nbytes == 20 * 2 * 16 * 8  # layers, row, bytes
    assert cache.nbytes == 20 * kv_bytes_per_token(CONFIG, 8)
    keys, values = cache.view(1)
    assert tuple(keys.shape) == (20, 1, 16)
    assert tuple(values.shape) == (20, 1, 0)


def test_a_deepseek_v3_cache_has_576_numbers_a_token_and_layer():
    cache = ContiguousCache(CONFIGS["deepseek-v3"], 3, impl="numpy")
    assert cache.bytes_per_token == 61 * 576 * 4


def test_stages_are_seen_in_order_with_the_row_that_is_cached():
    decoder, seen = tiny(), {}
    cache = decoder.new_cache(4)
    decoder.forward(
        [1, 2, 3],
        cache,
        observe=lambda name, layer, array: seen.setdefault(
            (name, layer), array
        ),
    )
    stages = [name for name, layer in seen if layer == 1]
    assert stages[:5] == [
        "attn_norm",
        "q_rot",
        "latent_rows",
        "attn_out",
        "attn_proj",
    ]
    assert np.array_equal(seen["latent_rows", 1], cache.view(1)[0])


def test_truncation_and_failure_leave_the_rows_before():
    decoder = tiny()
    cache = decoder.new_cache(20)
    want = decoder.forward(IDS_31[:12], cache)[5:]
    cache.truncate(5)
    got = decoder.forward(IDS_31[5:12], cache)
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)
    with pytest.raises(ArgumentError, match="token_ids"):
        decoder.forward([99], cache)
    assert cache.num_tokens == 12


class Attending(ContiguousCache):
    """A cache that would turn and attend itself."""

    def attend(self, layer, q, k, v, *, rope, variant):
        raise AssertionError("not reached")


def test_a_cache_that_attends_itself_is_refused_and_unchanged():
    decoder = tiny()
    cache = Attending(CONFIG, 9, impl="numpy", dtype="float64")
    with pytest.raises(ArgumentError, match="cache: got Attending"):
        decoder.forward([1, 2], cache)
    assert cache.num_tokens == 0


def test_a_form_is_refused_where_there_is_no_latent():
    plain = dataclasses.replace(CONFIG, mla=None)
    params = Params.random(plain, 0, impl="numpy")
    with pytest.raises(ArgumentError, match="absorbed"):
        Decoder(plain, params, impl="numpy", absorbed=True)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("config.biases", {"biases": frozenset({"attn_out"})}),
        ("config.norm.qk", {"norm": NormConfig(qk=True)}),
        (
            "config.attention.sink_logits",
            {"attention": AttentionConfig(sink_logits=True)},
        ),
    ],
)
def test_what_latent_attention_has_no_place_for_is_refused(name, change):
    params = Params.random(CONFIG, 0, impl="numpy")
    with pytest.raises(ArgumentError) as info:
        Decoder(dataclasses.replace(CONFIG, **change), params, impl="numpy")
    assert info.value.name == name
