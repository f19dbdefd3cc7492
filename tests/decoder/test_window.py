"""A decoder with a window or a variant: against Mistral, loops, in chunks."""

from __future__ import annotations

import copy
import dataclasses
import itertools

import numpy as np
import pytest
import torch
from torch import nn

from cutaway.attention import (
    AttentionVariant,
    alibi,
    alibi_slopes,
    full,
    sink_logits,
    streaming,
)
from cutaway.core import ArgumentError, ModelConfig
from cutaway.decoder import Decoder, LayerParams, Params
from cutaway.kvcache import ContiguousCache
from oracles import variant_loops

WINDOW = 4
CONFIG = ModelConfig(
    num_layers=3,
    hidden_size=24,
    num_heads=6,
    num_kv_heads=2,
    head_dim=8,
    ffn_size=28,
    vocab_size=31,
    rope_theta=1e4,
    norm_eps=1e-5,
    max_seq_len=64,
    rope_layout="half_split",
    window=WINDOW,
)
PROMPT = [5, 0, 30, 7, 7, 12, 29, 1, 18, 3, 3]


@pytest.fixture(autouse=True)
def one_thread():
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def decoder_of(impl, variant=None, **changes):
    config = dataclasses.replace(CONFIG, **changes)
    params = Params.random(config, 1, impl=impl, dtype="float64")
    return Decoder(config, params, impl=impl, variant=variant)


def read(decoder, ids, *cuts):
    """Logits of all tokens, read in pieces that end at the cuts."""
    cache = decoder.new_cache(len(ids))
    ends = [*cuts, len(ids)]
    return np.concatenate(
        [
            decoder.forward(ids[start:stop], cache)
            for start, stop in zip([0, *cuts], ends, strict=True)
        ]
    )


class Float64Rotary(nn.Module):
    """The rotary tables of transformers, which stop at float32."""

    def forward(self, x, position_ids):
        half = torch.arange(0, CONFIG.head_dim, 2).double()
        frequencies = 1e4 ** -(half / CONFIG.head_dim)
        angles = position_ids[..., None].double() * frequencies
        angles = torch.cat((angles, angles), dim=-1)
        return angles.cos(), angles.sin()


@pytest.fixture(scope="module")
def mistral():
    """A random MistralForCausalLM in float64, norms and tables included."""
    from transformers import MistralConfig, MistralForCausalLM

    torch.manual_seed(0)
    model = MistralForCausalLM(
        MistralConfig(
            num_hidden_layers=3,
            hidden_size=24,
            num_attention_heads=6,
            num_key_value_heads=2,
            head_dim=8,
            intermediate_size=28,
            vocab_size=31,
            rms_norm_eps=1e-5,
            max_position_embeddings=64,
            rope_parameters={"rope_type": "default", "rope_theta": 1e4},
            sliding_window=WINDOW,
            attn_implementation="sdpa",
        )
    )
    for weight in model.parameters():  # theirs are small: scores all alike
        nn.init.normal_(weight, std=0.3)
    model = model.double().eval()
    model.model.rotary_emb = Float64Rotary()
    for module in list(model.modules()):
        for name, child in module.named_children():
            if type(child).__name__ == "MistralRMSNorm":
                norm = nn.RMSNorm(24, 1e-5)
                norm.weight = child.weight
                setattr(module, name, norm)
    return model


def params_of(model, impl):
    """The weights of a MistralForCausalLM as ours; the layout is theirs."""

    def array(weight):
        weight = weight.detach()
        return weight.numpy() if impl == "numpy" else weight

    layers = [
        LayerParams(
            attn_norm=array(layer.input_layernorm.weight),
            wq=array(layer.self_attn.q_proj.weight),
            wk=array(layer.self_attn.k_proj.weight),
            wv=array(layer.self_attn.v_proj.weight),
            wo=array(layer.self_attn.o_proj.weight),
            ffn_norm=array(layer.post_attention_layernorm.weight),
            w_gate=array(layer.mlp.gate_proj.weight),
            w_up=array(layer.mlp.up_proj.weight),
            w_down=array(layer.mlp.down_proj.weight),
        )
        for layer in model.model.layers
    ]
    return Params(
        embed=array(model.model.embed_tokens.weight),
        layers=tuple(layers),
        final_norm=array(model.model.norm.weight),
        unembed=array(model.lm_head.weight),
    )


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_logits_equal_mistral_of_transformers(mistral, impl):
    config = ModelConfig.from_hf(mistral.config.to_dict())
    assert config.window == WINDOW
    decoder = Decoder(config, params_of(mistral, impl), impl=impl)
    with torch.inference_mode():
        want = mistral(torch.tensor([PROMPT])).logits[0].numpy()
    assert want.dtype == np.float64
    for cuts in [(), (4,), (5,), (1, 2, 9), range(1, len(PROMPT))]:
        got = read(decoder, PROMPT, *cuts)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-10)
    unlimited = dataclasses.replace(config, window=None)
    other = read(Decoder(unlimited, decoder.params, impl=impl), PROMPT)
    np.testing.assert_allclose(other[:4], want[:4], rtol=0, atol=1e-10)
    assert np.abs(other[4:] - want[4:]).max(axis=1).min() > 1e-3


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_two_chunks_equal_one_for_every_cut(impl):
    decoder = decoder_of(impl)
    want = read(decoder, PROMPT)
    for cuts in itertools.combinations(range(1, len(PROMPT)), 2):
        got = read(decoder, PROMPT, *cuts)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-10)


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("cut", [0, 3, 10])
def test_each_layer_looks_through_its_own_window(impl, cut):
    decoder = decoder_of(impl, window_pattern=("local", "global"))
    seen = {}

    def note(stage, layer, array):
        seen.setdefault((stage, layer), []).append(array.copy())

    cache = decoder.new_cache(len(PROMPT))
    if cut:
        decoder.forward(PROMPT[:cut], cache, observe=note)
    decoder.forward(PROMPT[cut:], cache, observe=note)
    for layer, window in enumerate((WINDOW, None, WINDOW)):
        assert decoder.config.layer_window(layer) == window
        q = seen["q_rot", layer][-1]
        k = np.concatenate(seen["k_rot", layer])
        v = np.concatenate(seen["v", layer])
        want, _ = variant_loops.attention(q, k, v, window=window)
        got = seen["attn_out", layer][-1].reshape(want.shape)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)


class Poisoned(ContiguousCache):
    """A cache that shows NaN for every key before the window's edge."""

    def append(self, layer, k, v):
        super().append(layer, k, v)
        self.new_tokens = len(k)

    def view(self, layer):
        keys, values = map(copy.deepcopy, super().view(layer))
        outside = max(0, len(keys) - self.new_tokens - WINDOW + 1)
        keys[:outside] = values[:outside] = float("nan")
        return keys, values


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize("size", [1, 3, 5])
def test_keys_that_no_query_of_the_pass_sees_are_not_read(impl, size):
    # a masked NaN would still reach the sum of the values: 0 * NaN
    decoder = decoder_of(impl)
    cache = Poisoned(
        CONFIG, capacity_tokens=len(PROMPT), impl=impl, dtype="float64"
    )
    parts = [
        decoder.forward(PROMPT[start : start + size], cache)
        for start in range(0, len(PROMPT), size)
    ]
    want = read(decoder, PROMPT)
    np.testing.assert_allclose(np.concatenate(parts), want, rtol=0, atol=1e-10)


SINKS = [0.5, -2.0, 3.0, 0.0, 1.5, -0.5]


@pytest.mark.parametrize("impl", ["numpy", "torch"])
@pytest.mark.parametrize(
    ("variant", "rule"),
    [
        (full(), {}),
        (streaming(3, 2), {"window": 3, "sink_tokens": 2}),
        (alibi(6), {"slopes": alibi_slopes(6)}),
        (
            AttentionVariant(scale=0.2) & sink_logits(SINKS),
            {"scale": 0.2, "sink": SINKS},
        ),
    ],
)
def test_an_injected_variant_acts_in_every_layer_and_stays_causal(
    impl, variant, rule
):
    decoder = decoder_of(impl, variant, window=None)
    seen = {}

    def note(stage, layer, array):
        seen.setdefault((stage, layer), []).append(array.copy())

    cache = decoder.new_cache(len(PROMPT))
    for part in (PROMPT[:6], PROMPT[6:]):
        decoder.forward(part, cache, observe=note)
    for layer in range(3):
        q = np.concatenate(seen["q_rot", layer])
        k = np.concatenate(seen["k_rot", layer])
        v = np.concatenate(seen["v", layer])
        want, _ = variant_loops.attention(q, k, v, **rule)
        got = np.concatenate(seen["attn_out", layer]).reshape(want.shape)
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-12)


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_a_window_and_a_variant_hold_together(impl):
    both = decoder_of(impl, streaming(6, 2))
    window = decoder_of(impl)
    np.testing.assert_allclose(
        read(both, PROMPT), read(window, PROMPT), rtol=0, atol=1e-12
    )


def test_an_unfit_variant_is_named():
    for variant, name in [
        ("full", "variant"),
        (full, "variant"),
        (alibi(9), "variant.num_heads"),
    ]:
        with pytest.raises(ArgumentError) as info:
            decoder_of("torch", variant)
        assert info.value.name == name


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_a_window_longer_than_the_text_changes_nothing(impl):
    want = read(decoder_of(impl, window=None), PROMPT)
    for window in (len(PROMPT), 1000):
        got = read(decoder_of(impl, window=window), PROMPT)
        assert np.array_equal(got, want)
    cut = read(decoder_of(impl, window=len(PROMPT) - 1), PROMPT)
    np.testing.assert_allclose(cut[:-1], want[:-1], rtol=0, atol=1e-12)
    assert np.abs(cut[-1] - want[-1]).max() > 1e-6


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_a_window_of_one_sees_no_other_token(impl):
    decoder = decoder_of(impl, window=1)
    whole = read(decoder, PROMPT)
    for place, token in enumerate(PROMPT):
        alone = read(decoder, [token])
        # position does not matter either: RoPE is about distances
        np.testing.assert_allclose(whole[place], alone[0], rtol=0, atol=1e-10)
