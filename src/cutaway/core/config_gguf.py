"""Fields of a configuration from the metadata of a GGUF file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cutaway.core.checks import check, check_choice
from cutaway.core.moe_config import MoEConfig
from cutaway.core.reading import read_count, read_real, required
from cutaway.core.rope_scaling_files import rope_scaling_from_gguf


def gguf_fields(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a ``ModelConfig``, all but ``tie_embeddings``.

    Args:
        metadata: Key-value pairs of a file of architecture ``llama``,
            which is that of a Mixtral too.

    Raises:
        ArgumentError: A key is missing or asks for something else.
    """
    is_mapping = isinstance(metadata, Mapping)
    check(is_mapping, "metadata", type(metadata).__name__, "a mapping")
    arch = required(metadata, "general.architecture")
    check_choice("general.architecture", arch, ("llama",))
    max_seq_len = read_count(metadata, f"{arch}.context_length")
    heads = read_count(metadata, f"{arch}.attention.head_count")
    hidden = read_count(metadata, f"{arch}.embedding_length")
    head_dim = metadata.get(f"{arch}.attention.key_length")
    if head_dim is None:
        head_dim = metadata.get(f"{arch}.rope.dimension_count", hidden // heads)
    tokens = metadata.get("tokenizer.ggml.tokens", [])
    is_list, got = isinstance(tokens, list), type(tokens).__name__
    check(is_list, "tokenizer.ggml.tokens", got, "a list")
    return {
        "num_layers": required(metadata, f"{arch}.block_count"),
        "hidden_size": hidden,
        "num_heads": heads,
        "num_kv_heads": metadata.get(f"{arch}.attention.head_count_kv", heads),
        "head_dim": head_dim,
        "ffn_size": required(metadata, f"{arch}.feed_forward_length"),
        "vocab_size": metadata.get(f"{arch}.vocab_size", len(tokens)),
        "rope_theta": read_real(metadata, f"{arch}.rope.freq_base", 1e4),
        "norm_eps": read_real(
            metadata, f"{arch}.attention.layer_norm_rms_epsilon"
        ),
        "max_seq_len": max_seq_len,
        "rope_layout": "interleaved",
        "rope_scaling": rope_scaling_from_gguf(
            metadata, arch, max_seq_len=max_seq_len
        ),
        "moe": _experts(metadata, arch),
    }


def _experts(metadata: Mapping[str, Any], arch: str) -> MoEConfig | None:
    """Return the mixture of experts; a dense model has none, or says 0.

    An expert is as wide as the network it replaces, if no key says else.
    """
    if not metadata.get(f"{arch}.expert_count"):
        return None
    width = read_count(metadata, f"{arch}.feed_forward_length")
    return MoEConfig(
        num_experts=read_count(metadata, f"{arch}.expert_count"),
        experts_per_token=read_count(metadata, f"{arch}.expert_used_count"),
        expert_ffn_size=read_count(
            metadata, f"{arch}.expert_feed_forward_length", width
        ),
    )
