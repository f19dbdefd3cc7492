"""How many parameters a model has, and how many of them a token meets."""

from __future__ import annotations

from cutaway.core.checks import check_flag
from cutaway.core.config import ModelConfig


def attention_params(config: ModelConfig) -> int:
    """Return the weights of one layer's attention matrices.

    The widths are heads times ``head_dim``, never ``hidden_size``: for
    some models the two differ. Latent attention has low-rank pairs of
    matrices instead of the queries' and of the keys' and values'.

    >>> from cutaway.roofline.models import CONFIGS
    >>> attention_params(CONFIGS["smollm2-135m"])
    884736
    >>> attention_params(CONFIGS["deepseek-v3"])
    187105280
    """
    hidden, mla = config.hidden_size, config.mla
    q_width = config.num_heads * config.head_dim
    if mla is None:
        kv_width = config.num_kv_heads * config.head_dim
        return hidden * (2 * q_width + 2 * kv_width)
    if mla.q_lora_rank is None:
        queries = hidden * q_width
    else:
        queries = mla.q_lora_rank * (hidden + q_width)
    head_width = mla.qk_nope_head_dim + mla.v_head_dim
    down = hidden * mla.cache_width
    up = mla.kv_lora_rank * config.num_heads * head_width
    out = config.num_heads * mla.v_head_dim * hidden
    return queries + down + up + out


def norm_params(config: ModelConfig) -> int:
    """Return the parameters of one norm: LayerNorm has a bias too.

    >>> from cutaway.roofline.models import CONFIGS
    >>> [norm_params(CONFIGS[name]) for name in ("smollm2-135m", "gpt2")]
    [576, 1536]
    """
    return config.hidden_size * (2 if config.norm.kind == "layer" else 1)


def matmul_params(config: ModelConfig) -> int:
    """Return the weights that a token is multiplied with.

    The input embedding is a lookup and does not count; the output matrix
    does, tied to the embedding or not. Norms and biases are element-wise.
    Of a mixture of experts, those count that one token runs through.

    Source: Kaplan et al. 2020, section 2.1 (whose N leaves out the output
    matrix too).

    >>> from cutaway.roofline.models import CONFIGS
    >>> matmul_params(CONFIGS["smollm2-135m"])
    134479872
    """
    moe = config.moe
    chosen = 0 if moe is None else moe.experts_per_token
    attention = config.num_layers * attention_params(config)
    unembed = config.vocab_size * config.hidden_size
    return attention + _network_weights(config, chosen) + unembed


def num_params(config: ModelConfig) -> int:
    """Return all parameters of the model.

    Matrices, biases, norms, positions and sinks; what is shared counts
    once. Layers that only predict further tokens (DeepSeek-V3's MTP) are
    not part of the model.

    >>> from cutaway.roofline.models import CONFIGS
    >>> num_params(CONFIGS["smollm2-135m"])
    134515008
    >>> num_params(CONFIGS["gpt-oss-20b"])
    20914757184
    """
    moe = config.moe
    return _params(config, 0 if moe is None else moe.num_experts)


def active_params(config: ModelConfig, *, input_embedding: bool = True) -> int:
    """Return the parameters that one token runs through.

    All but the experts that it is not sent to. Publications differ in
    whether the input embedding, of which a token reads one row, counts:
    Mixtral's figure has it, that of gpt-oss does not.

    Args:
        config: The model; of a dense one everything is active.
        input_embedding: Count the input embedding. One that is the output
            matrix too counts anyway.

    Raises:
        ArgumentError: ``input_embedding`` is not True or False.

    >>> from cutaway.roofline.models import CONFIGS
    >>> active_params(CONFIGS["mixtral-8x7b"])
    12879925248
    >>> active_params(CONFIGS["gpt-oss-20b"], input_embedding=False)
    3608307264
    """
    check_flag("input_embedding", input_embedding)
    moe = config.moe
    active = _params(config, 0 if moe is None else moe.experts_per_token)
    if input_embedding or config.tie_embeddings:
        return active
    return active - config.vocab_size * config.hidden_size


def _params(config: ModelConfig, num_experts: int) -> int:
    """Return all parameters if a layer had that many routed experts."""
    hidden, layers = config.hidden_size, config.num_layers
    embed = config.vocab_size * hidden
    tables = embed if config.tie_embeddings else 2 * embed
    tables += (config.learned_positions or 0) * hidden
    matrices = layers * attention_params(config)
    matrices += _network_weights(config, num_experts)
    vectors = layers * (_attention_vectors(config) + _norm_vectors(config))
    vectors += _network_vectors(config, num_experts)
    return tables + matrices + vectors + norm_params(config)


def _network_weights(config: ModelConfig, num_experts: int) -> int:
    """Return the matrix weights of all layers' feed-forward networks."""
    per_unit = config.ffn.num_matrices * config.hidden_size
    dense_layers = config.num_layers - config.num_moe_layers
    dense = dense_layers * per_unit * config.ffn_size
    moe = config.moe
    if moe is None:
        return dense
    experts = num_experts + moe.num_shared_experts
    router = config.hidden_size * moe.num_experts
    width = experts * moe.expert_ffn_size
    return dense + config.num_moe_layers * (per_unit * width + router)


def _network_vectors(config: ModelConfig, num_experts: int) -> int:
    """Return the biases of all layers' feed-forward networks."""
    hidden, moe = config.hidden_size, config.moe
    inner = config.ffn.num_matrices - 1
    has_biases = "ffn" in config.biases
    dense_layers = config.num_layers - config.num_moe_layers
    total = dense_layers * (inner * config.ffn_size + hidden) * has_biases
    if moe is None:
        return total
    expert = (inner * moe.expert_ffn_size + hidden) * has_biases
    layer = (num_experts + moe.num_shared_experts) * expert
    layer += moe.num_experts * ("router" in config.biases)
    layer += moe.num_experts * moe.correction_bias
    return total + config.num_moe_layers * layer


def _attention_vectors(config: ModelConfig) -> int:
    """Return one layer's biases, sinks and inner norms of attention."""
    mla, total = config.mla, 0
    heads = config.num_heads + 2 * config.num_kv_heads
    total += heads * config.head_dim * ("qkv" in config.biases)
    total += config.hidden_size * ("attn_out" in config.biases)
    total += 2 * config.head_dim * config.norm.qk
    total += config.num_heads * config.attention.sink_logits
    if mla is not None:
        total += mla.kv_lora_rank + (mla.q_lora_rank or 0)
    return total


def _norm_vectors(config: ModelConfig) -> int:
    """Return one layer's norms of the residual stream."""
    return (4 if config.norm.after else 2) * norm_params(config)
