"""The decoder beside LlamaForCausalLM of transformers, on equal weights."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from cutaway.core import ModelConfig
from cutaway.decoder import Decoder, LayerParams, Params

# "The capital of Germany is Berlin, and the capital of France is"
PROMPT = [504, 3575, 282, 4521, 314, 11452, 28, 284, 260, 3575, 282, 4649, 314]


def permuted(weight, heads):
    """Rows of wq or wk: from half-split order to interleaved order."""
    half = weight.shape[0] // heads // 2
    moved = weight.reshape(heads, 2, half, -1).swapaxes(1, 2)
    return moved.reshape(weight.shape)


def unpermuted(weight, heads):
    """The way back: from interleaved order to half-split order."""
    half = weight.shape[0] // heads // 2
    moved = weight.reshape(heads, half, 2, -1).swapaxes(1, 2)
    return moved.reshape(weight.shape)


def llama(config: ModelConfig):
    """An empty LlamaForCausalLM of the same sizes, without memory."""
    from transformers import LlamaConfig, LlamaForCausalLM
    from transformers.models.llama.modeling_llama import LlamaRotaryEmbedding

    hf_config = LlamaConfig(
        num_hidden_layers=config.num_layers,
        hidden_size=config.hidden_size,
        num_attention_heads=config.num_heads,
        num_key_value_heads=config.num_kv_heads,
        head_dim=config.head_dim,
        intermediate_size=config.ffn_size,
        vocab_size=config.vocab_size,
        rope_parameters={
            "rope_type": "default",
            "rope_theta": config.rope_theta,
        },
        rms_norm_eps=config.norm_eps,
        max_position_embeddings=config.max_seq_len,
        tie_word_embeddings=config.tie_embeddings,
        attn_implementation="sdpa",
    )
    with torch.device("meta"):
        model = LlamaForCausalLM(hf_config)
    model.model.rotary_emb = LlamaRotaryEmbedding(hf_config)
    return model.eval(), hf_config


HF_NAMES = {
    "attn_norm": "input_layernorm",
    "wq": "self_attn.q_proj",
    "wk": "self_attn.k_proj",
    "wv": "self_attn.v_proj",
    "wo": "self_attn.o_proj",
    "ffn_norm": "post_attention_layernorm",
    "w_gate": "mlp.gate_proj",
    "w_up": "mlp.up_proj",
    "w_down": "mlp.down_proj",
}


def hf_state(params: Params, config: ModelConfig):
    """Our weights under the names, and in the row order, of transformers."""
    heads = {"wq": config.num_heads, "wk": config.num_kv_heads}
    state = {
        "model.embed_tokens.weight": params.embed,
        "model.norm.weight": params.final_norm,
        "lm_head.weight": params.unembed,
    }
    for index, layer in enumerate(params.layers):
        for ours, theirs in HF_NAMES.items():
            weight = torch.as_tensor(getattr(layer, ours))
            if ours in heads and config.rope_layout == "interleaved":
                weight = unpermuted(weight, heads[ours])
            state[f"model.layers.{index}.{theirs}.weight"] = weight
    return {name: torch.as_tensor(array) for name, array in state.items()}


class Float64Rotary(nn.Module):
    """The rotary tables of transformers, which stop at float32."""

    def __init__(self, config):
        super().__init__()
        exponents = torch.arange(0, config.head_dim, 2).double()
        theta = config.rope_parameters["rope_theta"]
        self.frequencies = theta ** -(exponents / config.head_dim)

    def forward(self, x, position_ids):
        angles = position_ids[..., None].double() * self.frequencies
        angles = torch.cat((angles, angles), dim=-1)
        return angles.cos(), angles.sin()


def hf_logits(model, ids):
    with torch.inference_mode():
        return model(torch.tensor([list(ids)])).logits[0].numpy()


@pytest.mark.parametrize("layout", ["interleaved", "half_split"])
@pytest.mark.parametrize("tied", [True, False])
def test_a_tiny_model_equals_transformers_in_float64(layout, tied):
    config = ModelConfig(
        num_layers=2,
        hidden_size=24,
        num_heads=6,
        num_kv_heads=2,
        head_dim=8,
        ffn_size=28,
        vocab_size=31,
        rope_theta=1e4,
        norm_eps=1e-5,
        max_seq_len=64,
        rope_layout=layout,
        tie_embeddings=tied,
    )
    params = Params.random(config, 3, impl="numpy", dtype="float64")
    model, hf_config = llama(config)
    model.load_state_dict(hf_state(params, config), assign=True)
    model.model.rotary_emb = Float64Rotary(hf_config)
    for module in list(model.modules()):  # their norms stop at float32 too
        for name, child in module.named_children():
            if type(child).__name__ == "LlamaRMSNorm":
                norm = nn.RMSNorm(24, config.norm_eps)
                norm.weight = child.weight
                setattr(module, name, norm)
    ids = [5, 0, 30, 7, 7, 12, 29, 1, 18]
    want = hf_logits(model, ids)
    assert want.dtype == np.float64
    for impl in ("numpy", "torch"):
        drawn = Params.random(config, 3, impl=impl, dtype="float64")
        decoder = Decoder(config, drawn, impl=impl)
        got = decoder.forward(ids, decoder.new_cache(len(ids)))
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-10)


def test_the_two_permutations_undo_each_other():
    weight = torch.randn(24, 5)
    assert torch.equal(unpermuted(permuted(weight, 3), 3), weight)
    assert not torch.equal(permuted(weight, 3), weight)


@pytest.mark.model
def test_the_real_model_equals_transformers_in_float32(real_decoder):
    config, params = real_decoder.config, real_decoder.params
    assert isinstance(params.layers[0], LayerParams)
    model, _ = llama(config)
    missing = model.load_state_dict(hf_state(params, config), assign=True)
    assert missing == ([], [])
    want = hf_logits(model, PROMPT)
    got = real_decoder.forward(PROMPT, real_decoder.new_cache(len(PROMPT)))
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-3)
    assert np.array_equal(got.argmax(-1), want.argmax(-1))
