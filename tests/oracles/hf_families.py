"""Tiny random models of transformers, computed in float64 throughout."""

from __future__ import annotations

import copy
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from cutaway.core import ModelConfig
from cutaway.decoder import Decoder, Params
from cutaway.weights import HFFolder

SIZES = {
    "num_hidden_layers": 3,
    "hidden_size": 24,
    "num_attention_heads": 6,
    "num_key_value_heads": 2,
    "head_dim": 8,
    "intermediate_size": 20,
    "vocab_size": 37,
    "max_position_embeddings": 64,
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
IDS = [5, 0, 30, 7, 7, 12, 29, 1, 18, 3, 3, 36, 20, 11]


WINDOW = 4
EXPERTS = {"num_local_experts": 5, "num_experts_per_tok": 2}
GEMMA = {
    **SIZES,
    "sliding_window": WINDOW,
    "query_pre_attn_scalar": 12,
}
NORM_EPS = {"rms_norm_eps": 1e-3}  # large enough to be seen
YARN = {
    "rope_type": "yarn",
    "rope_theta": 1.5e5,
    "factor": 4.0,
    "original_max_position_embeddings": 16,
    "beta_fast": 32.0,
    "beta_slow": 1.0,
    "truncate": False,
}
GPT2 = {"n_layer": 3, "n_embd": 24, "n_head": 6, "n_positions": 64}
GPT2 = {**GPT2, "vocab_size": 37}
OPT = {
    "num_hidden_layers": 3,
    "hidden_size": 24,
    "word_embed_proj_dim": 24,
    "num_attention_heads": 6,
    "ffn_dim": 20,
    "vocab_size": 37,
    "max_position_embeddings": 64,
}
FAMILIES = {
    "llama": ("Llama", SIZES),
    "llama-tied": ("Llama", {**SIZES, "tie_word_embeddings": True}),
    "mistral": ("Mistral", {**SIZES, "sliding_window": WINDOW}),
    "mixtral": ("Mixtral", {**SIZES, **EXPERTS, "sliding_window": None}),
    "mixtral-window": (
        "Mixtral",
        {**SIZES, **EXPERTS, "sliding_window": WINDOW},
    ),
    "qwen2": ("Qwen2", SIZES),
    "qwen2-window": (
        "Qwen2",
        {
            **SIZES,
            "use_sliding_window": True,
            "sliding_window": WINDOW,
            "max_window_layers": 1,
        },
    ),
    "qwen3": ("Qwen3", {**SIZES, "head_dim": 10}),
    "qwen3_moe": (
        "Qwen3Moe",
        {
            **SIZES,
            "num_experts": 5,
            "num_experts_per_tok": 2,
            "moe_intermediate_size": 12,
            "norm_topk_prob": False,
        },
    ),
    "qwen3_moe-renormalised": (
        "Qwen3Moe",
        {
            **SIZES,
            "num_experts": 5,
            "num_experts_per_tok": 3,
            "moe_intermediate_size": 12,
            "norm_topk_prob": True,
        },
    ),
    "gemma2": (
        "Gemma2",
        {
            **GEMMA,
            "attn_logit_softcapping": 2.0,
            "final_logit_softcapping": 3.0,
        },
    ),
    "gemma3": (
        "Gemma3",
        {
            **GEMMA,
            "layer_types": [
                "sliding_attention",
                "full_attention",
                "sliding_attention",
            ],
            "rope_parameters": {
                "full_attention": {
                    "rope_type": "linear",
                    "factor": 8.0,
                    "rope_theta": 1e6,
                },
                "sliding_attention": {
                    "rope_type": "default",
                    "rope_theta": 1e4,
                },
            },
        },
    ),
    "gpt_oss": (
        "GptOss",
        {
            **SIZES,
            **EXPERTS,
            "sliding_window": WINDOW,
            "rope_parameters": YARN,
            "swiglu_limit": 0.5,
        },
    ),
    "gpt2": ("GPT2", GPT2),
    "opt": ("OPT", OPT),
}
CONFIG_NAMES = {"gemma3": "Gemma3Text"}
NO_RMS_NORM = {"gpt2", "opt"}


class Wide(TorchFunctionMode):
    """Computes in float64 where transformers asks for float32."""

    def __torch_function__(self, func, types, args=(), kwargs=None):
        if func is torch.Tensor.float:
            func = torch.Tensor.double
        args = [self._wider(value) for value in args]
        kwargs = {key: self._wider(v) for key, v in (kwargs or {}).items()}
        return func(*args, **kwargs)

    @staticmethod
    def _wider(value):
        return torch.float64 if value is torch.float32 else value


@contextmanager
def in_float64():
    """Make and run models in float64; the default comes back afterwards."""
    before = torch.get_default_dtype()
    torch.set_default_dtype(torch.float64)
    try:
        with Wide(), torch.no_grad():
            yield
    finally:
        torch.set_default_dtype(before)


class Peer(NamedTuple):
    """A model of transformers, and the folder it was saved to."""

    model: torch.nn.Module
    path: object

    def logits(self, ids=IDS):
        with in_float64():
            logits = self.model(torch.tensor([ids])).logits[0].numpy()
        assert logits.dtype == np.float64
        return logits


def make_peer(path, name, *, config_name=None, seed=0, stored=None, **settings):
    """Return a random model of a class, saved as transformers does.

    Args:
        path: An empty folder.
        name: Its class, without ``ForCausalLM``.
        config_name: That of its configuration, without ``Config``.
        seed: Of the weights.
        stored: Dtype that the weights are rounded to and saved in.
        settings: Of the configuration, beside ``SIZES``.
    """
    import transformers

    config = getattr(transformers, (config_name or name) + "Config")
    kind = "LMHeadModel" if name == "GPT2" else "ForCausalLM"
    model_class = getattr(transformers, name + kind)
    with in_float64():
        settings |= {
            "attn_implementation": "eager",
            "experts_implementation": "eager",
        }
        model = model_class(config(**settings)).double().eval()
        generator = torch.Generator().manual_seed(seed)
        for weight in model.parameters():
            spread = 0.3 if weight.dim() > 1 else 0.2
            noise = torch.randn(weight.shape, generator=generator)
            scale = weight if weight.dim() == 1 else 0  # 1 of a norm, or 0
            weight.copy_(spread * noise + scale)
            if stored is not None:
                weight.copy_(weight.to(stored).double())
    saved = copy.deepcopy(model)  # its tables are not to be rounded
    saved.to(stored or torch.float64).save_pretrained(path)
    return Peer(model, path)


def decoder_of(peer, impl):
    """Our decoder, from the folder."""
    with HFFolder(peer.path) as folder:
        config = ModelConfig.from_hf(folder.config)
        params = Params.from_hf(folder, config, impl=impl, dtype="float64")
    return Decoder(config, params, impl=impl)


def read(decoder, ids, cuts=(), kind="contiguous"):
    """Logits of all tokens, read in pieces that end at the cuts."""
    cache = decoder.new_cache(len(ids), kind=kind)
    ends = [*cuts, len(ids)]
    return np.concatenate(
        [
            decoder.forward(ids[start:stop], cache)
            for start, stop in zip([0, *cuts], ends, strict=True)
        ]
    )


def random_cuts(rng, length):
    """Some places between 1 and length - 1, in order."""
    count = rng.integers(1, length)
    return sorted(rng.choice(np.arange(1, length), count, replace=False))


def make_family(path, case, **changes):
    """Return the model of one of ``FAMILIES``, as ``make_peer`` does."""
    name, settings = FAMILIES[case]
    if case not in NO_RMS_NORM:
        settings = {**settings, **NORM_EPS}
    config_name = CONFIG_NAMES.get(case)
    return make_peer(path, name, config_name=config_name, **settings, **changes)
