"""What files call each tensor of a decoder, and what this package does."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cutaway.core.checks import check_int

MODEL_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "token_embd.weight": "embed",
        "output_norm.weight": "final_norm",
        "output.weight": "unembed",
    }
)
"""Tensors outside the layers; ``output.weight`` is absent when tied."""

LAYER_NAMES: Mapping[str, str] = MappingProxyType(
    {
        "attn_norm.weight": "attn_norm",
        "attn_q.weight": "wq",
        "attn_k.weight": "wk",
        "attn_v.weight": "wv",
        "attn_output.weight": "wo",
        "ffn_norm.weight": "ffn_norm",
        "ffn_gate.weight": "w_gate",
        "ffn_up.weight": "w_up",
        "ffn_down.weight": "w_down",
    }
)
"""Tensors of a layer, without the ``blk.{i}.`` that GGUF puts before."""


def decoder_names(num_layers: int) -> Mapping[str, str]:
    """Map the GGUF tensor names of a Llama-like decoder to parameter names.

    Args:
        num_layers: Decoder layers, at least 1.

    Returns:
        A read-only mapping, in the order of the forward pass. It has no
        two equal values, so it can be turned round. ``output.weight`` is
        listed although a file with tied embeddings lacks it.

    Raises:
        ArgumentError: ``num_layers`` is not a positive integer.

    Cost: O(num_layers).
    Source: llama.cpp, gguf-py/gguf/constants.py (architecture ``llama``).
    Differs: Hugging Face writes ``model.layers.0.self_attn.q_proj.weight``.

    >>> decoder_names(2)["blk.1.attn_output.weight"]
    'layers[1].wo'
    """
    check_int("num_layers", num_layers, low=1)
    names = {"token_embd.weight": MODEL_NAMES["token_embd.weight"]}
    for layer in range(num_layers):
        for theirs, ours in LAYER_NAMES.items():
            names[f"blk.{layer}.{theirs}"] = f"layers[{layer}].{ours}"
    for theirs in ("output_norm.weight", "output.weight"):
        names[theirs] = MODEL_NAMES[theirs]
    return MappingProxyType(names)
