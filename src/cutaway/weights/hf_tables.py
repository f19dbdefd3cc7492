"""Tensor names of Hugging Face's families, as tables.

Names of a layer's tensors are without what stands before them; ``{}`` is
the number of an expert.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from cutaway.weights.stored import Stored, whole

Table = Mapping[str, Stored]


class Family(NamedTuple):
    """Where the folders of a family keep the weights.

    Attributes:
        prefix: What stands before the tensors of a layer; ``{}`` is its
            number.
        model: Weights outside the layers.
        layer: Weights of a layer.
        experts: Those of a layer with experts, which go before.
    """

    prefix: str
    model: Table
    layer: Table
    experts: Table = MappingProxyType({})


def _per_expert(names: Mapping[str, str]) -> dict[str, Stored]:
    """Say that each expert has a tensor of its own."""
    return {
        ours: Stored((theirs,), stacked=True) for ours, theirs in names.items()
    }


def _packed(
    weight: str, bias: str, weights: str, biases: str, parts: tuple[str, ...]
) -> dict[str, Stored]:
    """Say that one tensor holds several matrices, one their biases."""
    count = len(parts)
    found = {}
    for number, part in enumerate(parts):
        found[weight + part] = Stored(
            (weights,), part=number, parts=count, transposed=True
        )
        found[bias + part] = Stored((biases,), part=number, parts=count)
    return found


LLAMA_MODEL = {
    "embed": "model.embed_tokens.weight",
    "final_norm": "model.norm.weight",
    "unembed": "lm_head.weight",
}
LLAMA_LAYER = {
    "attn_norm": "input_layernorm.weight",
    "wq": "self_attn.q_proj.weight",
    "wk": "self_attn.k_proj.weight",
    "wv": "self_attn.v_proj.weight",
    "wo": "self_attn.o_proj.weight",
    "ffn_norm": "post_attention_layernorm.weight",
    "w_gate": "mlp.gate_proj.weight",
    "w_up": "mlp.up_proj.weight",
    "w_down": "mlp.down_proj.weight",
}
ATTENTION_BIASES = {
    "bq": "self_attn.q_proj.bias",
    "bk": "self_attn.k_proj.bias",
    "bv": "self_attn.v_proj.bias",
    "bo": "self_attn.o_proj.bias",
}
HEAD_NORMS = {
    "q_norm": "self_attn.q_norm.weight",
    "k_norm": "self_attn.k_norm.weight",
}
GEMMA_NORMS = {
    "attn_post_norm": "post_attention_layernorm.weight",
    "ffn_norm": "pre_feedforward_layernorm.weight",
    "ffn_post_norm": "post_feedforward_layernorm.weight",
}
LATENT = {
    "wq_a": "self_attn.q_a_proj.weight",
    "q_a_norm": "self_attn.q_a_layernorm.weight",
    "wq_b": "self_attn.q_b_proj.weight",
    "wkv_a": "self_attn.kv_a_proj_with_mqa.weight",
    "kv_a_norm": "self_attn.kv_a_layernorm.weight",
    "wkv_b": "self_attn.kv_b_proj.weight",
}
MIXTRAL_EXPERTS = {
    **whole({"router": "block_sparse_moe.gate.weight"}),
    **_per_expert(
        {
            "w_gate": "block_sparse_moe.experts.{}.w1.weight",
            "w_up": "block_sparse_moe.experts.{}.w3.weight",
            "w_down": "block_sparse_moe.experts.{}.w2.weight",
        }
    ),
}
QWEN_EXPERTS = {
    **whole({"router": "mlp.gate.weight"}),
    **_per_expert(
        {
            "w_gate": "mlp.experts.{}.gate_proj.weight",
            "w_up": "mlp.experts.{}.up_proj.weight",
            "w_down": "mlp.experts.{}.down_proj.weight",
        }
    ),
}
SHARED_EXPERTS = {
    "choice_bias": "mlp.gate.e_score_correction_bias",
    "w_shared_gate": "mlp.shared_experts.gate_proj.weight",
    "w_shared_up": "mlp.shared_experts.up_proj.weight",
    "w_shared_down": "mlp.shared_experts.down_proj.weight",
}
GPT_OSS_EXPERTS = {
    **whole(
        {
            "router": "mlp.router.weight",
            "router_bias": "mlp.router.bias",
            "b_down": "mlp.experts.down_proj_bias",
        }
    ),
    "w_gate": Stored(
        ("mlp.experts.gate_up_proj",),
        parts=2,
        interleaved=True,
        transposed=True,
    ),
    "w_up": Stored(
        ("mlp.experts.gate_up_proj",),
        part=1,
        parts=2,
        interleaved=True,
        transposed=True,
    ),
    "b_gate": Stored(
        ("mlp.experts.gate_up_proj_bias",), parts=2, interleaved=True
    ),
    "b_up": Stored(
        ("mlp.experts.gate_up_proj_bias",), part=1, parts=2, interleaved=True
    ),
    "w_down": Stored(("mlp.experts.down_proj",), transposed=True),
}
GPT2_MODEL = {
    "embed": "transformer.wte.weight",
    "positions": "transformer.wpe.weight",
    "final_norm": "transformer.ln_f.weight",
    "final_norm_bias": "transformer.ln_f.bias",
    "unembed": "lm_head.weight",
}
GPT2_LAYER = {
    **whole(
        {
            "attn_norm": "ln_1.weight",
            "attn_norm_bias": "ln_1.bias",
            "ffn_norm": "ln_2.weight",
            "ffn_norm_bias": "ln_2.bias",
        }
    ),
    **_packed(
        "w", "b", "attn.c_attn.weight", "attn.c_attn.bias", ("q", "k", "v")
    ),
    **_packed("w", "b", "attn.c_proj.weight", "attn.c_proj.bias", ("o",)),
    **_packed("w_", "b_", "mlp.c_fc.weight", "mlp.c_fc.bias", ("up",)),
    **_packed("w_", "b_", "mlp.c_proj.weight", "mlp.c_proj.bias", ("down",)),
}
OPT_MODEL = {
    "embed": "model.decoder.embed_tokens.weight",
    "positions": "model.decoder.embed_positions.weight",
    "final_norm": "model.decoder.final_layer_norm.weight",
    "final_norm_bias": "model.decoder.final_layer_norm.bias",
    "unembed": "lm_head.weight",
}
OPT_LAYER = {
    **{name: LLAMA_LAYER[name] for name in ("wq", "wk", "wv")},
    **{name: ATTENTION_BIASES[name] for name in ("bq", "bk", "bv")},
    "attn_norm": "self_attn_layer_norm.weight",
    "attn_norm_bias": "self_attn_layer_norm.bias",
    "wo": "self_attn.out_proj.weight",
    "bo": "self_attn.out_proj.bias",
    "ffn_norm": "final_layer_norm.weight",
    "ffn_norm_bias": "final_layer_norm.bias",
    "w_up": "fc1.weight",
    "b_up": "fc1.bias",
    "w_down": "fc2.weight",
    "b_down": "fc2.bias",
}


def _like_llama(
    names: Mapping[str, str] = MappingProxyType({}),
    experts: Table = MappingProxyType({}),
) -> Family:
    """Return a family with Llama's names and some more."""
    layer = whole({**LLAMA_LAYER, **names})
    return Family("model.layers.{}.", whole(LLAMA_MODEL), layer, experts)


FAMILIES: Mapping[str, Family] = MappingProxyType(
    {
        "llama": _like_llama(),
        "mistral": _like_llama(),
        "mixtral": _like_llama(experts=MIXTRAL_EXPERTS),
        "qwen2": _like_llama(ATTENTION_BIASES),
        "qwen3": _like_llama(HEAD_NORMS),
        "qwen3_moe": _like_llama(HEAD_NORMS, QWEN_EXPERTS),
        "gemma2": _like_llama(GEMMA_NORMS),
        "gemma3_text": _like_llama({**GEMMA_NORMS, **HEAD_NORMS}),
        "gpt_oss": _like_llama(
            {**ATTENTION_BIASES, "sinks": "self_attn.sinks"}, GPT_OSS_EXPERTS
        ),
        "deepseek_v2": _like_llama(
            LATENT, {**QWEN_EXPERTS, **whole(SHARED_EXPERTS)}
        ),
        "deepseek_v3": _like_llama(
            LATENT, {**QWEN_EXPERTS, **whole(SHARED_EXPERTS)}
        ),
        "gpt2": Family("transformer.h.{}.", whole(GPT2_MODEL), GPT2_LAYER),
        "opt": Family(
            "model.decoder.layers.{}.", whole(OPT_MODEL), whole(OPT_LAYER)
        ),
    }
)
"""The families by ``model_type``."""
