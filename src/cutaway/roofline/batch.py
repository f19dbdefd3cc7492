"""Many sequences in one pass: the weights once, every cache by itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from cutaway.core.checks import check_int
from cutaway.core.config import ModelConfig
from cutaway.roofline.counts import OpCount, forward_counts
from cutaway.roofline.hardware import Hardware
from cutaway.roofline.roofline import Bound, predict_time


def batch_counts(
    config: ModelConfig,
    sequences: Iterable[tuple[int, int]],
    *,
    weight_bytes_per_param: float = 4,
    kv_bytes_per_element: float = 4,
    activation_bytes_per_element: float = 4,
    last_only: bool = True,
) -> tuple[OpCount, ...]:
    """Count the work of one forward pass over several sequences.

    To a weight matrix a batch is one long list of tokens: it is read once
    for all of them. Arithmetic, activations and each sequence's own keys
    and values add up.

    Args:
        config: The model.
        sequences: For each its new tokens and the tokens already in its
            cache, such as ``[(1, 1024)] * 64`` for 64 in decode; a
            sequence without new tokens costs nothing.
        weight_bytes_per_param: As in ``forward_counts``.
        kv_bytes_per_element: As in ``forward_counts``.
        activation_bytes_per_element: As in ``forward_counts``.
        last_only: Compute the logits of each sequence's last token only.

    Returns:
        The operations in order; one sequence gives ``forward_counts``.

    Raises:
        ArgumentError: A length is negative, or a size not positive.

    >>> from cutaway.roofline.models import CONFIGS
    >>> ops = batch_counts(CONFIGS["smollm2-135m"], [(1, 0)] * 8)
    >>> round(sum(op.flops for op in ops) / sum(op.total_bytes for op in ops))
    4
    """
    sizes = {
        "weight_bytes_per_param": weight_bytes_per_param,
        "kv_bytes_per_element": kv_bytes_per_element,
        "activation_bytes_per_element": activation_bytes_per_element,
    }
    kinds = Counter(map(_checked, sequences))
    return counts_of_kinds(config, kinds, sizes, last_only)


def counts_of_kinds(
    config: ModelConfig,
    kinds: Mapping[tuple[int, int], int],
    sizes: Mapping[str, float],
    last_only: bool = True,
) -> tuple[OpCount, ...]:
    """Count a batch given as how many sequences there are of each kind.

    Args:
        config: The model.
        kinds: Number of sequences by new tokens and tokens in the cache.
        sizes: The byte sizes, by the names that ``forward_counts`` has.
        last_only: As in ``batch_counts``.
    """
    kinds = {pair: count for pair, count in kinds.items() if pair[0] > 0}
    rows = sum(q_len * count for (q_len, _), count in kinds.items())
    logit_rows = sum(kinds.values()) if last_only else None
    total = forward_counts(config, rows, 0, logit_rows=logit_rows, **sizes)
    # Of this pass over all tokens only the weights hold: its tokens would
    # look at one another.
    ops = [replace(op, flops=0, kv_bytes=0, activation_bytes=0) for op in total]
    for (q_len, context_len), count in kinds.items():
        last = 1 if last_only else None
        one = forward_counts(
            config, q_len, context_len, logit_rows=last, **sizes
        )
        ops = [_added(a, b, count) for a, b in zip(ops, one, strict=True)]
    return tuple(ops)


@dataclass(frozen=True, kw_only=True)
class OperatingPoint:
    """Where one pass stands under the roofline of a machine.

    Attributes:
        num_tokens: New tokens of all sequences.
        flops: Floating-point operations.
        moved_bytes: Bytes of weights and caches; results in between are
            taken to stay on the chip.
        time_s: The least time of the pass, operation after operation.
        bound: What most of that time is spent waiting for.

    Invariants: ``flops_per_s`` lies on or under the roof.
    """

    num_tokens: int
    flops: int
    moved_bytes: float
    time_s: float
    bound: Bound

    @property
    def intensity(self) -> float:
        """FLOPs per byte; 0 for a pass that moves nothing."""
        return self.flops / self.moved_bytes if self.moved_bytes else 0.0

    @property
    def flops_per_s(self) -> float:
        """The rate of arithmetic at the least time."""
        return self.flops / self.time_s if self.time_s else 0.0

    @property
    def tokens_per_s(self) -> float:
        """New tokens a second at the least time."""
        return self.num_tokens / self.time_s if self.time_s else 0.0


def operating_point(
    config: ModelConfig,
    hardware: Hardware,
    sequences: Iterable[tuple[int, int]],
    *,
    dtype: str = "bfloat16",
    weight_bytes_per_param: float = 2,
    kv_bytes_per_element: float = 2,
) -> OperatingPoint:
    """Predict one pass over several sequences on a machine.

    Args:
        config: The model.
        hardware: The machine.
        sequences: As in ``batch_counts``; the logits of each one's last
            token are computed.
        dtype: Which of the machine's peaks the matrix products reach.
        weight_bytes_per_param: 2 for 16 bits, 0.5 for 4 bits.
        kv_bytes_per_element: Bytes of a cached number.

    Raises:
        ArgumentError: The machine has no peak for ``dtype``, or as
            ``batch_counts``.

    >>> from cutaway.roofline.hardware import hardware
    >>> from cutaway.roofline.models import CONFIGS
    >>> model, gpu = CONFIGS["llama-3.1-8b"], hardware("h100-sxm")
    >>> decode = operating_point(model, gpu, [(1, 1024)])
    >>> decode.bound, round(decode.intensity, 2), round(decode.tokens_per_s)
    ('memory', 1.03, 221)
    """
    lengths = list(sequences)
    ops = batch_counts(
        config,
        lengths,
        weight_bytes_per_param=weight_bytes_per_param,
        kv_bytes_per_element=kv_bytes_per_element,
    )
    least = predict_time(ops, hardware, dtype, activations=False)
    return OperatingPoint(
        num_tokens=sum(q_len for q_len, _ in lengths),
        flops=sum(op.flops for op in ops),
        moved_bytes=sum(op.weight_bytes + op.kv_bytes for op in ops),
        time_s=least.total_s,
        bound=least.bound,
    )


def _checked(pair: tuple[int, int]) -> tuple[int, int]:
    q_len, context_len = pair
    return (
        check_int("q_len", q_len, low=0),
        check_int("context_len", context_len, low=0),
    )


def _added(total: OpCount, one: OpCount, count: int) -> OpCount:
    """Add everything but the weights of ``count`` sequences."""
    return replace(
        total,
        flops=total.flops + count * one.flops,
        kv_bytes=total.kv_bytes + count * one.kv_bytes,
        activation_bytes=(
            total.activation_bytes + count * one.activation_bytes
        ),
    )
