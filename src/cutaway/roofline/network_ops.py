"""The operations of feed-forward networks, dense and of experts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from cutaway.core.checks import check_int
from cutaway.core.moe_config import MoEConfig
from cutaway.roofline.forward_pass import ForwardPass
from cutaway.roofline.op_count import OpCount


def expected_experts(moe: MoEConfig, num_tokens: int) -> float:
    """Return how many experts of a layer a batch of tokens reaches.

    The mean number of distinct ones, if every token picks its own at
    random: ``E (1 - (1 - k/E)^tokens)``. One token reaches k, and soon
    most weights are read, though each token runs through few.

    Args:
        moe: The mixture of experts.
        num_tokens: Tokens in the pass.

    Raises:
        ArgumentError: The number of tokens is negative.

    >>> moe = MoEConfig(num_experts=256, experts_per_token=6,
    ...     expert_ffn_size=1)
    >>> expected_experts(moe, 1), round(expected_experts(moe, 8), 1)
    (6.0, 44.2)
    """
    check_int("num_tokens", num_tokens, low=0)
    total, chosen = moe.num_experts, moe.experts_per_token
    if num_tokens <= 1:
        return float(num_tokens * chosen)
    return total * (1 - (1 - chosen / total) ** num_tokens)


def network_ops(step: ForwardPass) -> Iterator[OpCount]:
    """Yield the operations of the dense layers, then of the others."""
    config, moe = step.config, step.config.moe
    dense = config.num_layers - config.num_moe_layers
    if dense:
        yield from _network(step, "", config.ffn_size, dense)
    if moe is None:
        return
    layers = config.num_moe_layers
    vectors = ("router" in config.biases) + moe.correction_bias
    yield step.linear(
        "router",
        config.hidden_size,
        moe.num_experts,
        layers=layers,
        vectors=moe.num_experts * vectors,
    )
    for op in _network(step, "expert_", moe.expert_ffn_size, layers):
        yield _of_experts(op, moe, step.q_len)
    if moe.num_shared_experts:
        width = moe.num_shared_experts * moe.expert_ffn_size
        yield from _network(step, "shared_", width, layers)


def _network(
    step: ForwardPass, prefix: str, width: int, layers: int
) -> Iterator[OpCount]:
    """Yield the operations of a network that every token runs through."""
    config, hidden = step.config, step.config.hidden_size
    bias = int("ffn" in config.biases)
    names = ("w_gate", "w_up") if config.ffn.gated else ("w_up",)
    for name in names:
        yield step.linear(
            prefix + name, hidden, width, layers=layers, vectors=bias * width
        )
    moved = config.ffn.num_matrices * width
    yield step.elementwise(prefix + activation_name(step), moved, layers=layers)
    yield step.linear(
        prefix + "w_down", width, hidden, layers=layers, vectors=bias * hidden
    )


def _of_experts(op: OpCount, moe: MoEConfig, num_tokens: int) -> OpCount:
    """Turn the work of one expert into that of those the tokens pick."""
    return replace(
        op,
        flops=moe.experts_per_token * op.flops,
        weight_bytes=expected_experts(moe, num_tokens) * op.weight_bytes,
        activation_bytes=moe.experts_per_token * op.activation_bytes,
    )


def activation_name(step: ForwardPass) -> str:
    """Return what the step between the matrices is called."""
    ffn = step.config.ffn
    if not ffn.gated:
        return ffn.activation
    return {"silu": "swiglu", "gelu_tanh": "geglu", "relu": "reglu"}[
        ffn.activation
    ]
