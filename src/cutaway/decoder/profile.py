"""Where the time of a forward pass goes: measured, and predicted, by part."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from cutaway.core.errors import ArgumentError
from cutaway.core.protocols import KVCache
from cutaway.decoder.decoder import Decoder
from cutaway.roofline import OpCount, Prediction

NETWORK = ("w_gate", "w_up", "w_down", "swiglu", "geglu", "gelu_tanh", "relu")
PARTS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "embedding": ("embed",),
        "norms and sums": (
            *("attn_norm", "ffn_norm", "final_norm"),
            *("q_norm", "k_norm", "qk_norm", "kv_norm"),
            *("attn_post_norm", "ffn_post_norm"),
            *("resid_mid", "resid", "residual"),
        ),
        "projections": (
            *("q", "k", "v", "attn_proj", "wq", "wk", "wv", "wo"),
            *("latent_rows", "wq_a", "wq_b", "wkv_a", "wk_b", "wv_b"),
        ),
        "attention": (
            *("q_rot", "k_rot", "attn_out"),
            *("rope", "scores", "values"),
        ),
        "feed-forward": (
            *("ffn_out", "router"),
            *(
                kind + name
                for kind in ("", "expert_", "shared_")
                for name in NETWORK
            ),
        ),
        "output matrix": ("logits", "unembed"),
    }
)
"""Parts of a forward pass, each with the stages that ``Decoder.forward``
reports and the operations that ``forward_counts`` counts."""


def part_of(name: str) -> str:
    """Return the part that a stage or an operation belongs to.

    Raises:
        ArgumentError: No part has a stage or an operation of that name.

    >>> part_of("ffn_out"), part_of("w_gate")
    ('feed-forward', 'feed-forward')
    """
    for part, names in PARTS.items():
        if name in names:
            return part
    raise ArgumentError("name", repr(name), "a stage or an operation")


def profile_forward(
    decoder: Decoder,
    token_ids: Sequence[int],
    cache: KVCache,
    *,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Run one forward pass; return the seconds each part of it took.

    The clock is read each time a stage is done, so the parts add up to the
    whole pass. The logits of the last token only are computed.

    Args:
        decoder: The model.
        token_ids: The tokens to read; the cache grows by them.
        cache: What was read before.
        clock: Returns seconds.

    Returns:
        Seconds by part, in the order of ``PARTS``.

    Raises:
        ArgumentError, CacheFullError: As ``Decoder.forward``.

    >>> from cutaway.core import ModelConfig
    >>> from cutaway.decoder import Params
    >>> config = ModelConfig(num_layers=1, hidden_size=8, num_heads=2,
    ...     num_kv_heads=1, head_dim=4, ffn_size=8, vocab_size=5,
    ...     rope_theta=1e4, norm_eps=1e-5, max_seq_len=16)
    >>> tiny = Decoder(
    ...     config, Params.random(config, 0, impl="numpy"), impl="numpy")
    >>> ticks = iter(range(100))
    >>> spent = profile_forward(
    ...     tiny, [1], tiny.new_cache(1), clock=lambda: next(ticks))
    >>> spent["embedding"], spent["norms and sums"]
    (1.0, 5.0)
    """
    spent = dict.fromkeys(PARTS, 0.0)
    last = clock()

    def lap(name: str, layer: int | None, array: Any) -> None:
        nonlocal last
        now = clock()
        spent[part_of(name)] += now - last
        last = now

    decoder.forward(token_ids, cache, last_only=True, observe=lap)
    return spent


def counts_by_part(ops: Iterable[OpCount]) -> dict[str, tuple[int, float]]:
    """Sum the FLOPs and the bytes of operations by part.

    The bytes are those that must come from memory, weights and cache;
    intermediate results are taken to stay in the processor's caches.

    Args:
        ops: What ``forward_counts`` returned.

    Returns:
        FLOPs and bytes by part, in the order of ``PARTS``.

    >>> from cutaway.roofline import CONFIGS, forward_counts
    >>> parts = counts_by_part(forward_counts(CONFIGS["smollm2-135m"], 1, 0))
    >>> parts["output matrix"]
    (56623104, 113246208.0)
    """
    flops = dict.fromkeys(PARTS, 0)
    moved = dict.fromkeys(PARTS, 0.0)
    for op in ops:
        part = part_of(op.name)
        flops[part] += op.flops
        moved[part] += op.weight_bytes + op.kv_bytes
    return {part: (flops[part], moved[part]) for part in PARTS}


def times_by_part(prediction: Prediction) -> dict[str, float]:
    """Sum the predicted times of a pass by part.

    Args:
        prediction: What ``predict_time`` returned.

    Returns:
        Seconds by part, in the order of ``PARTS``: the least that each
        part can take.

    >>> from cutaway.roofline import (
    ...     CONFIGS, forward_counts, hardware, predict_time)
    >>> ops = forward_counts(CONFIGS["llama-3.1-8b"], 1, 0)
    >>> whole = predict_time(ops, hardware("h100-sxm"), "bfloat16")
    >>> parts = times_by_part(whole)
    >>> abs(sum(parts.values()) - whole.total_s) < 1e-9
    True
    """
    least = dict.fromkeys(PARTS, 0.0)
    for op in prediction.ops:
        least[part_of(op.name)] += op.time_s
    return least
