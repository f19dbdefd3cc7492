"""How many sequences it takes until decode stops waiting for memory."""

from __future__ import annotations

from collections.abc import Mapping

from cutaway.core.config import ModelConfig
from cutaway.roofline.batch import counts_of_kinds
from cutaway.roofline.counts import OpCount, forward_counts
from cutaway.roofline.hardware import Hardware
from cutaway.roofline.memory import weight_bytes


def critical_batch(
    config: ModelConfig,
    hardware: Hardware,
    context_len: int,
    *,
    dtype: str = "bfloat16",
    weight_bytes_per_param: float = 2,
    kv_bytes_per_element: float = 2,
) -> int | None:
    """Return the least batch whose decode step waits for arithmetic.

    A sequence brings FLOPs f and reads k bytes of its own; W bytes of
    weights are shared. Arithmetic takes longer than memory when
    ``B f / ridge > W + B k``: never, if the keys and values of one
    sequence take as long to read as all of its arithmetic takes.

    Args:
        config: The model.
        hardware: The machine.
        context_len: Tokens in the cache of each sequence.
        dtype: Which of the machine's peaks the matrix products reach.
        weight_bytes_per_param: Bytes of a weight.
        kv_bytes_per_element: Bytes of a cached number.

    Returns:
        The batch size, whether it fits into memory or not; None if the
        step waits for memory at every batch size.

    Raises:
        ArgumentError: The context is negative, or the machine has no peak
            for ``dtype``.

    >>> from cutaway.roofline.hardware import hardware
    >>> from cutaway.roofline.models import CONFIGS
    >>> model, gpu = CONFIGS["llama-3.1-8b"], hardware("h100-sxm")
    >>> [critical_batch(model, gpu, n) for n in (0, 256, 512)]
    [297, 861, None]
    """
    ridge = hardware.ridge(dtype)
    sizes = {
        "weight_bytes_per_param": weight_bytes_per_param,
        "kv_bytes_per_element": kv_bytes_per_element,
    }
    gained = _gain(config, context_len, ridge, sizes)
    if gained <= 0:
        return None
    # More weights than all of them are never read.
    enough = weight_bytes(config, weight_bytes_per_param) / gained
    low, high = 0, int(enough) + 2
    while high - low > 1:
        middle = (low + high) // 2
        ops = counts_of_kinds(config, {(1, context_len): middle}, sizes)
        if _flops(ops) > ridge * _moved(ops):
            high = middle
        else:
            low = middle
    return high


def compute_bound_context(
    config: ModelConfig,
    hardware: Hardware,
    *,
    dtype: str = "bfloat16",
    weight_bytes_per_param: float = 2,
    kv_bytes_per_element: float = 2,
) -> int | None:
    """Return the longest context at which some batch waits for arithmetic.

    Beyond it decode is memory-bound however many sequences there are.

    Args:
        config: The model.
        hardware: The machine.
        dtype: As in ``critical_batch``.
        weight_bytes_per_param: As in ``critical_batch``.
        kv_bytes_per_element: As in ``critical_batch``.

    Returns:
        The context, at most ``config.max_seq_len``; None if not even the
        first token's step can be.

    >>> from cutaway.roofline.hardware import hardware
    >>> from cutaway.roofline.models import CONFIGS
    >>> compute_bound_context(CONFIGS["llama-3.1-8b"], hardware("h100-sxm"))
    390
    """

    ridge = hardware.ridge(dtype)
    sizes = {
        "weight_bytes_per_param": weight_bytes_per_param,
        "kv_bytes_per_element": kv_bytes_per_element,
    }
    low, high = -1, config.max_seq_len + 1
    while high - low > 1:
        middle = (low + high) // 2
        if _gain(config, middle, ridge, sizes) > 0:
            low = middle
        else:
            high = middle
    return low if low >= 0 else None


def _gain(
    config: ModelConfig,
    context_len: int,
    ridge: float,
    sizes: Mapping[str, float],
) -> float:
    """Return by how many bytes a sequence's arithmetic outlasts its own.

    Its FLOPs take as long as reading ``FLOPs / ridge`` bytes; of its own
    it reads its keys and values, and a row of the embedding.
    """
    ops = forward_counts(config, 1, context_len, logit_rows=1, **sizes)
    row = sum(op.weight_bytes for op in ops if op.name == "embed")
    return _flops(ops) / ridge - sum(op.kv_bytes for op in ops) - row


def _flops(ops: tuple[OpCount, ...]) -> int:
    return sum(op.flops for op in ops)


def _moved(ops: tuple[OpCount, ...]) -> float:
    return sum(op.weight_bytes + op.kv_bytes for op in ops)
