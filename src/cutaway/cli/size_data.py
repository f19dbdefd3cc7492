"""The figures of ``cutaway size``, as plain data."""

from __future__ import annotations

from typing import Any

from cutaway.cli.dtypes import bytes_of, cache_format_of
from cutaway.cli.model_files import NamedModel


def measure(
    model: NamedModel,
    tokens: int,
    batch: int,
    formats: dict[str, str],
    *,
    tp: int = 1,
) -> dict[str, Any]:
    """Return every figure of the report.

    Args:
        model: The model.
        tokens: Tokens of each sequence.
        batch: Sequences.
        formats: ``dtype`` of the weights, ``kv_dtype`` of the cache.
        tp: Devices; sizes in bytes are those of one of them.

    Raises:
        ArgumentError: A format is unknown, or the heads cannot be spread.
    """
    weight_size = bytes_of("--dtype", formats["dtype"])
    cache_format = cache_format_of("--cache-dtype", formats["kv_dtype"])
    layout = model.layout
    floor = layout.floor_bytes(tokens, cache_format, tp=tp)
    reserved = layout.reserved_bytes(tokens, cache_format, tp=tp)
    params = _params(model)
    known = params["num_params"]
    weights = None if known is None else known * weight_size / tp
    return {
        "model": model.name,
        "source": model.source,
        **params,
        "tp": tp,
        "dtype": formats["dtype"],
        "weight_bytes": weights,
        "file_tensor_bytes": model.tensor_bytes,
        "kv_dtype": formats["kv_dtype"],
        "kv_bytes_per_token": layout.bytes_per_token(cache_format, tp=tp),
        "kv_state_bytes": layout.state_bytes(cache_format, tp=tp),
        "tokens": tokens,
        "batch": batch,
        "kv_bytes": batch * floor,
        "kv_bytes_if_every_layer_is_full": batch * reserved,
        "total_bytes": None if weights is None else weights + batch * floor,
        "max_batch": None if weights is None else _max_batch(weights, floor),
    }


def _params(model: NamedModel) -> dict[str, int | None]:
    """Return how many parameters a model has, if that is known."""
    from cutaway.roofline import active_params, num_params

    if model.config is None:
        return {"num_params": None, "active_params": None}
    return {
        "num_params": num_params(model.config),
        "active_params": active_params(model.config),
    }


def _max_batch(weights: float, cache: float) -> dict[str, int | None]:
    """Return how many sequences fit on each accelerator, or on each of tp.

    None where there is nothing to count: an empty sequence takes no room.
    """
    from cutaway.roofline import HARDWARE, sequences_that_fit

    return {
        name: sequences_that_fit(entry.memory_bytes, weights, cache)
        for name, entry in HARDWARE.items()
    }
