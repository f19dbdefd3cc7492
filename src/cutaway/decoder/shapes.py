"""Names and shapes of the weights of a decoder."""

from __future__ import annotations

from cutaway.core.config import ModelConfig

Shape = tuple[int, ...]
Shapes = dict[str, Shape]


def layer_shapes(config: ModelConfig, layer: int) -> Shapes:
    """Return the shape of each weight of a layer, in reading order.

    A matrix is ``[out, in]``. In a layer with experts ``w_gate``,
    ``w_up``, ``w_down`` and their biases have one more axis in front, the
    expert's number.

    Args:
        config: The model.
        layer: Number of the layer, from 0.

    >>> from cutaway.roofline import CONFIGS
    >>> layer_shapes(CONFIGS["mixtral-8x7b"], 0)["w_down"]
    (8, 4096, 14336)
    """
    shapes = {
        **_norm(config, "attn_norm"),
        **(_grouped(config) if config.mla is None else _latent(config)),
    }
    if config.norm.after:
        shapes |= _norm(config, "attn_post_norm")
    shapes |= _norm(config, "ffn_norm")
    moe = config.moe
    if moe is None or layer < moe.num_dense_layers:
        shapes |= _network(config, config.ffn_size)
    else:
        shapes |= _experts(config)
    if config.norm.after:
        shapes |= _norm(config, "ffn_post_norm")
    return shapes


def weight_shapes(config: ModelConfig) -> Shapes:
    """Return the shape of each weight by name, in reading order.

    With tied embeddings there is no ``unembed``.

    >>> from cutaway.roofline import CONFIGS
    >>> shapes = weight_shapes(CONFIGS["smollm2-135m"])
    >>> shapes["embed"], shapes["layers[29].wk"], "unembed" in shapes
    ((49152, 576), (192, 576), False)
    """
    table = (config.vocab_size, config.hidden_size)
    shapes: Shapes = {"embed": table}
    if config.learned_positions is not None:
        shapes["positions"] = (config.learned_positions, config.hidden_size)
    for index in range(config.num_layers):
        for name, shape in layer_shapes(config, index).items():
            shapes[f"layers[{index}].{name}"] = shape
    shapes |= _norm(config, "final_norm")
    if not config.tie_embeddings:
        shapes["unembed"] = table
    return shapes


def _norm(config: ModelConfig, name: str) -> Shapes:
    """Return a norm of the residual stream; LayerNorm has a bias."""
    shapes: Shapes = {name: (config.hidden_size,)}
    if config.norm.kind == "layer":
        shapes[f"{name}_bias"] = (config.hidden_size,)
    return shapes


def _grouped(config: ModelConfig) -> Shapes:
    """Return attention with keys and values by head."""
    hidden, head_dim = config.hidden_size, config.head_dim
    q_size = config.num_heads * head_dim
    kv_size = config.num_kv_heads * head_dim
    shapes: Shapes = {}
    for matrix, bias, size in (
        ("wq", "bq", q_size),
        ("wk", "bk", kv_size),
        ("wv", "bv", kv_size),
    ):
        shapes[matrix] = (size, hidden)
        if "qkv" in config.biases:
            shapes[bias] = (size,)
    if config.norm.qk:
        shapes |= {"q_norm": (head_dim,), "k_norm": (head_dim,)}
    if config.attention.sink_logits:
        shapes["sinks"] = (config.num_heads,)
    shapes["wo"] = (hidden, q_size)
    if "attn_out" in config.biases:
        shapes["bo"] = (hidden,)
    return shapes


def _latent(config: ModelConfig) -> Shapes:
    """Return latent attention; see ``cutaway.attention.mla``."""
    mla = config.mla
    assert mla is not None  # the caller has looked
    hidden, heads = config.hidden_size, config.num_heads
    q_size, q_rank = heads * mla.qk_head_dim, mla.q_lora_rank
    shapes: Shapes = {}
    if q_rank is None:
        shapes["wq"] = (q_size, hidden)
    else:
        shapes["wq_a"] = (q_rank, hidden)
        shapes["q_a_norm"] = (q_rank,)
        shapes["wq_b"] = (q_size, q_rank)
    by_head = mla.qk_nope_head_dim + mla.v_head_dim
    return shapes | {
        "wkv_a": (mla.cache_width, hidden),
        "kv_a_norm": (mla.kv_lora_rank,),
        "wkv_b": (heads * by_head, mla.kv_lora_rank),
        "wo": (hidden, heads * mla.v_head_dim),
    }


def _network(config: ModelConfig, width: int, *lead: int) -> Shapes:
    """Return a network of a width, or as many as ``lead`` says."""
    hidden = config.hidden_size
    shapes: Shapes = {}
    for part in ("gate", "up") if config.ffn.gated else ("up",):
        shapes[f"w_{part}"] = (*lead, width, hidden)
        if "ffn" in config.biases:
            shapes[f"b_{part}"] = (*lead, width)
    shapes["w_down"] = (*lead, hidden, width)
    if "ffn" in config.biases:
        shapes["b_down"] = (*lead, hidden)
    return shapes


def _experts(config: ModelConfig) -> Shapes:
    """Return a mixture of experts: router, experts, shared network."""
    moe = config.moe
    assert moe is not None  # the caller has looked
    hidden, count = config.hidden_size, moe.num_experts
    shapes: Shapes = {"router": (count, hidden)}
    if "router" in config.biases:
        shapes["router_bias"] = (count,)
    if moe.correction_bias:
        shapes["choice_bias"] = (count,)
    shapes |= _network(config, moe.expert_ffn_size, count)
    width = moe.num_shared_experts * moe.expert_ffn_size
    if width:
        for name, shape in _network(config, width).items():
            shapes[name.replace("_", "_shared_")] = shape
    return shapes
