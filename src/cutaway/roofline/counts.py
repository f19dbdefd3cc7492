"""FLOPs and bytes of every operation of a forward pass.

Conventions. A multiply-add is 2 FLOPs. Only matrix products count FLOPs:
norms, RoPE, softmax and activations are 0, as in the closed forms of the
literature (2 FLOPs a weight and token). Causal attention counts the pairs
it needs, exactly; kernels that compute the whole rectangle do more.
"""

from __future__ import annotations

from collections.abc import Iterator

from cutaway.core.checks import check_int, check_real
from cutaway.core.config import ModelConfig
from cutaway.roofline.attention_ops import attention_ops
from cutaway.roofline.forward_pass import ForwardPass
from cutaway.roofline.network_ops import network_ops
from cutaway.roofline.op_count import OpCount
from cutaway.roofline.pair_ops import (
    causal_pairs,
    layers_by_window,
    pair_widths,
)
from cutaway.roofline.params import matmul_params, norm_params

__all__ = [
    "OpCount",
    "attention_flops_per_token",
    "causal_pairs",
    "equal_context",
    "forward_counts",
]


def attention_flops_per_token(config: ModelConfig, num_keys: int) -> int:
    """Return the FLOPs of one query over ``num_keys`` keys, all layers.

    Twice for the scores and twice for the weighted sum of values, in every
    *query* head: sharing key/value heads saves bytes, not FLOPs. A layer
    with a window looks at no more keys than that. Latent attention is
    counted in the form that multiplies with the cached vectors.

    Source: Chowdhery et al. 2022 (PaLM), appendix B, forward part.

    >>> from cutaway.roofline.models import CONFIGS
    >>> attention_flops_per_token(CONFIGS["smollm2-135m"], 1)
    69120
    """
    check_int("num_keys", num_keys, low=0)
    width = sum(pair_widths(config, absorbed=True))
    keys = sum(
        layers * (num_keys if window is None else min(num_keys, window))
        for window, layers in layers_by_window(config).items()
    )
    return 2 * width * keys


def equal_context(config: ModelConfig) -> float:
    """Return the keys at which attention costs as much as the weights.

    Below it, "2 FLOPs a parameter" tells most of a token's cost; above
    it, attention does. A window counts as if there were none.

    >>> from cutaway.roofline.models import CONFIGS
    >>> round(equal_context(CONFIGS["smollm2-135m"]))
    3891
    """
    return 2 * matmul_params(config) / attention_flops_per_token(config, 1)


def forward_counts(
    config: ModelConfig,
    q_len: int,
    context_len: int,
    *,
    weight_bytes_per_param: float = 4,
    kv_bytes_per_element: float = 4,
    activation_bytes_per_element: float = 4,
    logit_rows: int | None = None,
) -> tuple[OpCount, ...]:
    """Count the work of one forward pass, operation by operation.

    Of a mixture of experts, ``expected_experts`` are read and every token
    computes its own. Latent attention is counted in the form with fewer
    FLOPs, as ``absorbed_pays`` says: a prompt makes keys and values of all
    its tokens, while one token, or some behind a context, use the cached
    rows as they are.

    Args:
        config: The model.
        q_len: New tokens read in this pass; 1 in decode.
        context_len: Tokens already in the cache.
        weight_bytes_per_param: 4 for float32; a mean for mixed files.
        kv_bytes_per_element: Bytes of a cached number.
        activation_bytes_per_element: Bytes of an intermediate number.
        logit_rows: Tokens whose logits are computed; None for all.

    Returns:
        The operations in the order in which a token meets them.

    Raises:
        ArgumentError: A size is negative, or ``logit_rows > q_len``.

    Differs: torch's ``FlopCounterMode`` counts attention over the full
    rectangle; this counts the causal pairs.

    >>> from cutaway.roofline.models import CONFIGS
    >>> ops = forward_counts(CONFIGS["smollm2-135m"], 1, 0)
    >>> sum(op.flops for op in ops)  # 2 x 134,479,872 + 69,120
    269028864
    """
    check_int("q_len", q_len, low=0)
    check_int("context_len", context_len, low=0)
    sizes = {
        "weight_bytes_per_param": weight_bytes_per_param,
        "kv_bytes_per_element": kv_bytes_per_element,
        "activation_bytes_per_element": activation_bytes_per_element,
    }
    for name, size in sizes.items():
        check_real(name, size, 0, open_low=True)
    rows = q_len
    if logit_rows is not None:
        rows = check_int("logit_rows", logit_rows, low=0, high=q_len)
    step = ForwardPass(config, q_len, context_len, *sizes.values())
    return (_embed(step), *_layers(step), *_ends(step, rows))


def _embed(step: ForwardPass) -> OpCount:
    """Return the lookup of the tokens, and of their positions."""
    hidden, tables = step.config.hidden_size, 1
    if step.config.learned_positions is not None:
        tables = 2
    looked_up = step.q_len * hidden
    return OpCount(
        name="embed",
        layer_count=1,
        weight_bytes=tables * looked_up * step.weight_size,
        activation_bytes=looked_up * step.act_size,
    )


def _layers(step: ForwardPass) -> Iterator[OpCount]:
    """Yield the operations of the decoder layers, in order."""
    after = step.config.norm.after
    yield step.norm("attn_norm")
    yield from attention_ops(step)
    if after:
        yield step.norm("attn_post_norm")
    yield step.norm("ffn_norm")
    yield from network_ops(step)
    if after:
        yield step.norm("ffn_post_norm")
    yield step.elementwise("residual", 2 * 3 * step.config.hidden_size)


def _ends(step: ForwardPass, logit_rows: int) -> tuple[OpCount, OpCount]:
    """Return the final norm and the output matrix."""
    config, hidden = step.config, step.config.hidden_size
    vectors = norm_params(config)
    norm = OpCount(
        name="final_norm",
        layer_count=1,
        weight_bytes=vectors * step.weight_size if logit_rows else 0,
        activation_bytes=2 * logit_rows * hidden * step.act_size,
    )
    matrix = hidden * config.vocab_size
    moved = logit_rows * (hidden + config.vocab_size)
    unembed = OpCount(
        name="unembed",
        layer_count=1,
        flops=2 * logit_rows * matrix,
        weight_bytes=matrix * step.weight_size if logit_rows else 0,
        activation_bytes=moved * step.act_size,
    )
    return norm, unembed
