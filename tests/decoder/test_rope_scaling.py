"""The decoder with scaled rotary frequencies, beside transformers."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from cutaway.core import (
    DynamicScaling,
    LinearScaling,
    ModelConfig,
    NTKScaling,
    YarnScaling,
)
from cutaway.decoder import Decoder, LayerParams, Params

IDS = [5, 0, 30, 7, 7, 12, 29, 1, 18, 4, 22]
CONFIG = ModelConfig(
    num_layers=2,
    hidden_size=24,
    num_heads=6,
    num_kv_heads=2,
    head_dim=8,
    ffn_size=28,
    vocab_size=31,
    rope_theta=20.0,  # all pairs turn: the text is short
    norm_eps=1e-5,
    max_seq_len=64,
    rope_layout="half_split",
    tie_embeddings=True,
)
SCALINGS = {
    "linear": {"rope_type": "linear", "factor": 3.0},
    "dynamic": {"rope_type": "dynamic", "factor": 3.0},
    "llama3": {
        "rope_type": "llama3",
        "factor": 8.0,
        "low_freq_factor": 1.0,
        "high_freq_factor": 4.0,
        "original_max_position_embeddings": 16,
    },
    "yarn": {
        "rope_type": "yarn",
        "factor": 16.0,
        "original_max_position_embeddings": 30,
        "beta_fast": 4.0,
    },
}


def model_and_logits(rope, ids):
    """A tiny LlamaForCausalLM, the config it is saved with, its logits."""
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(0)
    hf = LlamaConfig(
        num_hidden_layers=CONFIG.num_layers,
        hidden_size=CONFIG.hidden_size,
        num_attention_heads=CONFIG.num_heads,
        num_key_value_heads=CONFIG.num_kv_heads,
        head_dim=CONFIG.head_dim,
        intermediate_size=CONFIG.ffn_size,
        vocab_size=CONFIG.vocab_size,
        rope_parameters={**rope, "rope_theta": CONFIG.rope_theta},
        rms_norm_eps=CONFIG.norm_eps,
        max_position_embeddings=CONFIG.max_seq_len,
        tie_word_embeddings=True,
        initializer_range=0.5,
    )
    model = LlamaForCausalLM(hf).eval()
    with torch.inference_mode():
        logits = model(torch.tensor([ids])).logits[0].numpy()
    return model, hf, logits


def params_of(model):
    """The weights of a LlamaForCausalLM, in our names."""
    layers = tuple(
        LayerParams(
            attn_norm=layer.input_layernorm.weight.detach(),
            wq=layer.self_attn.q_proj.weight.detach(),
            wk=layer.self_attn.k_proj.weight.detach(),
            wv=layer.self_attn.v_proj.weight.detach(),
            wo=layer.self_attn.o_proj.weight.detach(),
            ffn_norm=layer.post_attention_layernorm.weight.detach(),
            w_gate=layer.mlp.gate_proj.weight.detach(),
            w_up=layer.mlp.up_proj.weight.detach(),
            w_down=layer.mlp.down_proj.weight.detach(),
        )
        for layer in model.model.layers
    )
    embed = model.model.embed_tokens.weight.detach()
    return Params(embed, layers, model.model.norm.weight.detach(), embed)


@pytest.mark.parametrize("kind", SCALINGS)
def test_a_tiny_model_equals_transformers_with_every_scaling(kind):
    model, hf, want = model_and_logits(SCALINGS[kind], IDS)
    config = ModelConfig.from_hf(hf.to_dict())
    assert config.rope_scaling is not None
    assert config.rope_scaling.kind == kind
    decoder = Decoder(config, params_of(model))
    got = decoder.forward(IDS, decoder.new_cache(len(IDS)))
    np.testing.assert_allclose(got, want, rtol=0, atol=2e-4)
    plain = dataclasses.replace(config, rope_scaling=None)
    decoder = Decoder(plain, params_of(model))
    other = decoder.forward(IDS, decoder.new_cache(len(IDS)))
    differs = np.abs(other - want).max() > 0.01
    assert differs == (kind != "dynamic")  # short of the trained length


def test_beyond_its_trained_length_dynamic_is_that_of_the_longest_text():
    rope = SCALINGS["dynamic"]
    ids = (IDS * 9)[:96]
    model, hf, want = model_and_logits(rope, ids)
    config = dataclasses.replace(
        ModelConfig.from_hf(hf.to_dict()), max_seq_len=96
    )
    assert config.rope_scaling == DynamicScaling(
        factor=3.0, original_max_seq_len=64
    )
    decoder = Decoder(config, params_of(model))
    whole = decoder.forward(ids, decoder.new_cache(96))
    np.testing.assert_allclose(whole, want, rtol=0, atol=5e-4)
    # in pieces: the same, as keys in the cache never change their angle
    cache = decoder.new_cache(96)
    pieces = [
        decoder.forward(ids[a:b], cache) for a, b in [(0, 1), (1, 50), (50, 96)]
    ]
    np.testing.assert_allclose(np.concatenate(pieces), whole, atol=5e-4)


def test_two_models_with_different_theta_do_not_disturb_one_another():
    # engines have kept one table of angles for the whole process
    scaled = [
        CONFIG,
        dataclasses.replace(CONFIG, rope_theta=50.0),
        dataclasses.replace(CONFIG, rope_scaling=LinearScaling(factor=3.0)),
    ]
    params = Params.random(CONFIG, 0, impl="numpy")

    def alone(config):
        decoder = Decoder(config, params, impl="numpy")
        return decoder.forward(IDS, decoder.new_cache(len(IDS)))

    want = [alone(config) for config in scaled]
    decoders = [Decoder(config, params, impl="numpy") for config in scaled]
    caches = [decoder.new_cache(len(IDS)) for decoder in decoders]
    got = [[], [], []]
    for token in IDS:  # token by token, the three in turn
        for index, decoder in enumerate(decoders):
            got[index].append(decoder.forward([token], caches[index])[0])
    for index in range(3):
        np.testing.assert_allclose(got[index], want[index], atol=1e-5)
    assert np.abs(want[0] - want[1]).max() > 1e-2
    assert np.abs(want[0] - want[2]).max() > 1e-2


@pytest.mark.parametrize("impl", ["numpy", "torch"])
def test_the_attention_factor_multiplies_the_scores_by_its_square(impl):
    sharp = YarnScaling(
        factor=1.0, original_max_seq_len=64, attention_factor=1.5
    )
    config = dataclasses.replace(CONFIG, rope_scaling=sharp, num_layers=1)
    params = Params.random(config, 1, impl=impl)
    seen = {}

    def observe(name, layer, array):
        seen[name] = array.copy()

    decoder = Decoder(config, params, impl=impl)
    decoder.forward(IDS, decoder.new_cache(len(IDS)), observe=observe)
    for raw, turned in [("q", "q_rot"), ("k", "k_rot")]:
        lengths = np.linalg.norm(seen[turned], axis=-1)
        want = 1.5 * np.linalg.norm(seen[raw], axis=-1)
        np.testing.assert_allclose(lengths, want, rtol=1e-5)


def test_static_ntk_runs_as_a_model_with_a_larger_theta():
    theta = CONFIG.rope_theta * 2.0 ** (8 / 6)
    params = Params.random(CONFIG, 0, impl="numpy")
    logits = [
        decoder.forward(IDS, decoder.new_cache(len(IDS)))
        for decoder in (
            Decoder(dataclasses.replace(CONFIG, **change), params, impl="numpy")
            for change in (
                {"rope_scaling": NTKScaling(factor=2.0)},
                {"rope_theta": theta},
            )
        )
    ]
    np.testing.assert_allclose(*logits, rtol=0, atol=1e-6)
