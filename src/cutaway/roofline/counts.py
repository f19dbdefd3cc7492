"""FLOPs and bytes of every operation of a forward pass.

Conventions. A multiply-add is 2 FLOPs. Only matrix products count FLOPs:
norms, RoPE, softmax and activations are 0, as in the closed forms of the
literature (2 FLOPs a weight and token). Causal attention counts the pairs
it needs, exactly; kernels that compute the whole rectangle do more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cutaway.core.checks import check_int, check_real
from cutaway.core.config import ModelConfig
from cutaway.roofline.memory import matmul_params


@dataclass(frozen=True, kw_only=True)
class OpCount:
    """One kind of operation in a forward pass, summed over its layers.

    Attributes:
        name: The operation; matrix products bear the name of the weight.
        layer_count: How many times it runs, once a layer; the fields
            below are totals over all of them.
        flops: Floating-point operations of its matrix products.
        weight_bytes: Bytes of parameters read.
        kv_bytes: Bytes of the KV cache read or written.
        activation_bytes: Bytes of inputs read and outputs written, if
            nothing is fused.

    >>> op = OpCount(name="wo", layer_count=1, flops=64, weight_bytes=16)
    >>> op.total_bytes, op.intensity
    (16, 4.0)
    """

    name: str
    layer_count: int
    flops: int = 0
    weight_bytes: float = 0
    kv_bytes: float = 0
    activation_bytes: float = 0

    @property
    def total_bytes(self) -> float:
        """Bytes of weights, cache and activations together."""
        return self.weight_bytes + self.kv_bytes + self.activation_bytes

    @property
    def intensity(self) -> float:
        """FLOPs per byte; 0 for an operation that moves nothing."""
        return self.flops / self.total_bytes if self.total_bytes else 0.0


def causal_pairs(
    q_len: int, context_len: int, window: int | None = None
) -> int:
    """Return how many (query, key) pairs causal attention looks at.

    Query i (from 0) sees the context, itself and the i new tokens before
    it. Counted exactly: not the full rectangle, and not its half.

    Args:
        q_len: New tokens.
        context_len: Tokens already in the cache.
        window: Keys a query may see, itself included; None for all.

    >>> causal_pairs(3, 2)  # 3 + 4 + 5
    12
    """
    check_int("q_len", q_len, low=0)
    check_int("context_len", context_len, low=0)
    if window is None:
        return q_len * context_len + q_len * (q_len + 1) // 2
    check_int("window", window, low=1)
    # The first rows still see everything; the rest see a full window.
    growing = min(q_len, max(0, window - context_len))
    full_rows = q_len - growing
    return causal_pairs(growing, context_len) + full_rows * window


def attention_flops_per_token(config: ModelConfig, num_keys: int) -> int:
    """Return the FLOPs of one query over ``num_keys`` keys, all layers.

    Twice for the scores and twice for the weighted sum of values, in every
    *query* head: sharing key/value heads saves bytes, not FLOPs.

    Source: Chowdhery et al. 2022 (PaLM), appendix B, forward part.

    >>> from cutaway.roofline.models import CONFIGS
    >>> attention_flops_per_token(CONFIGS["smollm2-135m"], 1)
    69120
    """
    check_int("num_keys", num_keys, low=0)
    width = config.num_heads * config.head_dim
    return 4 * config.num_layers * width * num_keys


def equal_context(config: ModelConfig) -> float:
    """Return the keys at which attention costs as much as the weights.

    Below it, "2 FLOPs a parameter" tells most of a token's cost; above
    it, attention does.

    >>> from cutaway.roofline.models import CONFIGS
    >>> round(equal_context(CONFIGS["smollm2-135m"]))
    3891
    """
    return 2 * matmul_params(config) / attention_flops_per_token(config, 1)


@dataclass(frozen=True)
class _Pass:
    """The sizes of one forward pass, and the op kinds made from them."""

    config: ModelConfig
    q_len: int
    context_len: int
    weight_size: float
    kv_size: float
    act_size: float

    def linear(
        self, name: str, width_in: int, width_out: int, kv_out: int = 0
    ) -> OpCount:
        """Return a projection of every new token, in every layer."""
        layers, rows = self.config.num_layers, self.q_len
        weights = layers * width_in * width_out
        moved = layers * rows * (width_in + width_out)
        return OpCount(
            name=name,
            layer_count=layers,
            flops=2 * rows * weights,
            weight_bytes=weights * self.weight_size if rows else 0,
            kv_bytes=layers * rows * kv_out * self.kv_size,
            activation_bytes=moved * self.act_size,
        )

    def elementwise(
        self, name: str, moved_per_token: int, weights: int = 0
    ) -> OpCount:
        """Return an operation without a matrix product."""
        layers, rows = self.config.num_layers, self.q_len
        return OpCount(
            name=name,
            layer_count=layers,
            weight_bytes=layers * weights * self.weight_size if rows else 0,
            activation_bytes=layers * rows * moved_per_token * self.act_size,
        )

    def attention(self, name: str) -> OpCount:
        """Return one of the two products of attention: QK^T, or PV."""
        cfg, rows = self.config, self.q_len
        pairs = causal_pairs(rows, self.context_len, cfg.window)
        keys = self.context_len + rows if rows else 0
        if cfg.window is not None:
            keys = min(keys, cfg.window + rows - 1)
        q_width = cfg.num_heads * cfg.head_dim
        read = keys * cfg.num_kv_heads * cfg.head_dim
        moved = rows * q_width + pairs * cfg.num_heads
        return OpCount(
            name=name,
            layer_count=cfg.num_layers,
            flops=2 * cfg.num_layers * q_width * pairs,
            kv_bytes=cfg.num_layers * read * self.kv_size,
            activation_bytes=cfg.num_layers * moved * self.act_size,
        )

    def layers(self) -> Iterator[OpCount]:
        """Yield the operations of the decoder layers, in order."""
        cfg = self.config
        hidden, ffn = cfg.hidden_size, cfg.ffn_size
        q_width = cfg.num_heads * cfg.head_dim
        kv_width = cfg.num_kv_heads * cfg.head_dim
        yield self.elementwise("attn_norm", 2 * hidden, weights=hidden)
        yield self.linear("wq", hidden, q_width)
        yield self.linear("wk", hidden, kv_width, kv_out=kv_width)
        yield self.linear("wv", hidden, kv_width, kv_out=kv_width)
        yield self.elementwise("rope", 2 * (q_width + kv_width))
        yield self.attention("scores")
        yield self.attention("values")
        yield self.linear("wo", q_width, hidden)
        yield self.elementwise("ffn_norm", 2 * hidden, weights=hidden)
        yield self.linear("w_gate", hidden, ffn)
        yield self.linear("w_up", hidden, ffn)
        yield self.elementwise("swiglu", 3 * ffn)
        yield self.linear("w_down", ffn, hidden)
        yield self.elementwise("residual", 2 * 3 * hidden)

    def ends(self, logit_rows: int) -> tuple[OpCount, OpCount, OpCount]:
        """Return the lookup, the final norm and the output matrix."""
        hidden, vocab = self.config.hidden_size, self.config.vocab_size
        looked_up = self.q_len * hidden
        embed = OpCount(
            name="embed",
            layer_count=1,
            weight_bytes=looked_up * self.weight_size,
            activation_bytes=looked_up * self.act_size,
        )
        norm = OpCount(
            name="final_norm",
            layer_count=1,
            weight_bytes=hidden * self.weight_size if logit_rows else 0,
            activation_bytes=2 * logit_rows * hidden * self.act_size,
        )
        matrix = hidden * vocab
        moved = logit_rows * (hidden + vocab)
        unembed = OpCount(
            name="unembed",
            layer_count=1,
            flops=2 * logit_rows * matrix,
            weight_bytes=matrix * self.weight_size if logit_rows else 0,
            activation_bytes=moved * self.act_size,
        )
        return embed, norm, unembed


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
    step = _Pass(config, q_len, context_len, *sizes.values())
    embed, norm, unembed = step.ends(rows)
    return (embed, *step.layers(), norm, unembed)
