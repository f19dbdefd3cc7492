"""GPT-2 and OPT: learned positions, LayerNorm, biases everywhere."""

from __future__ import annotations

from cutaway.core.block_config import FFNConfig, NormConfig
from cutaway.core.checks import check
from cutaway.core.hf_config.parts import Config, Fields
from cutaway.core.reading import read_count, read_real, refuse


def gpt2(config: Config) -> Fields:
    """Read a GPT-2: learned positions, LayerNorm, biases everywhere."""
    refuse(config, "activation_function", ("gelu_new",))
    refuse(config, "scale_attn_weights", (True,))
    refuse(config, "scale_attn_by_inverse_layer_idx", (False,))
    refuse(config, "add_cross_attention", (False,))
    hidden = read_count(config, "n_embd")
    length = read_count(config, "n_positions")
    return {
        **_learned(config, hidden, read_count(config, "n_head"), length),
        "num_layers": read_count(config, "n_layer"),
        "ffn_size": read_count(config, "n_inner", 4 * hidden),
        "norm_eps": read_real(config, "layer_norm_epsilon", 1e-5),
        "learned_positions": length,
        "ffn": FFNConfig(gated=False, activation="gelu_tanh"),
    }


def opt(config: Config) -> Fields:
    """Read an OPT: as GPT-2, with ReLU; two rows of positions unused."""
    for key in ("do_layer_norm_before", "layer_norm_elementwise_affine"):
        refuse(config, key, (True,))
    refuse(config, "enable_bias", (True,))
    refuse(config, "_remove_final_layer_norm", (False,))
    refuse(config, "activation_function", ("relu",))
    hidden = read_count(config, "hidden_size")
    refuse(config, "word_embed_proj_dim", (hidden,))
    length = read_count(config, "max_position_embeddings")
    heads = read_count(config, "num_attention_heads")
    return {
        **_learned(config, hidden, heads, length),
        "num_layers": read_count(config, "num_hidden_layers"),
        "ffn_size": read_count(config, "ffn_dim"),
        "norm_eps": 1e-5,
        "learned_positions": length + 2,
        "ffn": FFNConfig(gated=False, activation="relu"),
    }


def _learned(config: Config, hidden: int, heads: int, length: int) -> Fields:
    """Return what GPT-2 and OPT have in common."""
    divides = hidden % heads == 0
    check(divides, "number of heads", heads, f"a divisor of {hidden}")
    return {
        "hidden_size": hidden,
        "num_heads": heads,
        "num_kv_heads": heads,
        "head_dim": hidden // heads,
        "vocab_size": read_count(config, "vocab_size"),
        "rope_theta": None,
        "rope_layout": "half_split",
        "max_seq_len": length,
        "tie_embeddings": bool(config.get("tie_word_embeddings", True)),
        "biases": frozenset({"qkv", "attn_out", "ffn"}),
        "norm": NormConfig(kind="layer"),
    }
