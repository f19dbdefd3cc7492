"""The data of the roofline explorer: models, machines, number formats.

The widget computes in JavaScript what ``operating_point`` computes here.
So that it needs to know no architecture, each operation of a model is given
by four numbers, found by counting passes of one and of two tokens.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cutaway.core.checks import check, check_choice, check_int
from cutaway.core.config import ModelConfig
from cutaway.core.errors import ArgumentError
from cutaway.roofline import (
    CONFIGS,
    HARDWARE,
    OpCount,
    forward_counts,
    num_params,
)

ATTENTION = ("scores", "values")
FORMATS: tuple[Mapping[str, Any], ...] = (
    {"name": "16-bit", "weight": 2, "cache": 2, "peaks": ["bfloat16"]},
    {
        "name": "8-bit weights and cache",
        "weight": 1,
        "cache": 1,
        "peaks": ["float8", "bfloat16"],
    },
    {
        "name": "4-bit weights, 16-bit cache",
        "weight": 0.5,
        "cache": 2,
        "peaks": ["bfloat16"],
    },
)
"""Bytes of a weight and of a cached number, and the peak that is reached:
the first that a machine has. Scales of quantised blocks are left out."""

MAX_BATCH_SIZE = 2**10
MAX_KV_LEN = 2**17
"""Where the sliders of the widget end."""


def is_dense(config: ModelConfig) -> bool:
    """Whether every token meets every weight and caches keys and values.

    >>> is_dense(CONFIGS["llama-3.1-8b"])
    True
    """
    return config.moe is None and config.mla is None


def explorer_data(
    model: str, machine: str, *, batch_size: int = 1, kv_len: int = 1024
) -> dict[str, Any]:
    """Return what the roofline explorer needs.

    It knows the dense models of ``CONFIGS`` and all of ``HARDWARE``.

    Args:
        model: Name of the model that it shows first.
        machine: Name of the machine that it shows first.
        batch_size: Sequences in decode at first; a power of two up to
            1,024, where the slider ends.
        kv_len: Tokens of each sequence at first; a power of two up to
            131,072 and to what the model can hold.

    Raises:
        ArgumentError: A name is unknown, the model is not dense, or a
            number no power of two or off its slider.

    >>> data = explorer_data("llama-3.1-8b", "h100-sxm")
    >>> data["machines"][data["start"]["machine"]]["name"]
    'NVIDIA H100 SXM5 80 GB'
    """
    models = {name: c for name, c in CONFIGS.items() if is_dense(c)}
    check_choice("model", model, tuple(models))
    check_choice("machine", machine, tuple(HARDWARE))
    longest = min(MAX_KV_LEN, models[model].max_seq_len)
    for name, number, high in (
        ("batch_size", batch_size, MAX_BATCH_SIZE),
        ("kv_len", kv_len, longest),
    ):
        count = check_int(name, number, low=1, high=high).bit_count()
        check(count == 1, name, number, "a power of two")
    return {
        "models": [model_entry(name, c) for name, c in models.items()],
        "machines": [
            {
                "name": gpu.name,
                "bandwidth": gpu.bandwidth_bytes_per_s,
                "memory": gpu.memory_bytes,
                "peaks": dict(gpu.peak_flops),
            }
            for gpu in HARDWARE.values()
        ],
        "formats": [dict(one) for one in FORMATS],
        "start": {
            "model": list(models).index(model),
            "machine": list(HARDWARE).index(machine),
            "batch": batch_size,
            "context": kv_len,
        },
    }


def model_entry(name: str, config: ModelConfig) -> dict[str, Any]:
    """Return a model as coefficients, one list for each operation.

    Args:
        name: What the reader calls it.
        config: A dense model.

    Returns:
        ``ops``: for each operation but those of attention ``[flops a
        token, flops a row of logits, weights, weights a token, cached
        elements a token]``. ``pair_flops`` and ``key_elements``: of one
        of the two products of attention in one layer, for each query-key
        pair and for each key. ``local`` of ``layers`` see ``window`` keys.

    Raises:
        ArgumentError: The model is not dense.

    >>> entry = model_entry("tiny", CONFIGS["smollm2-135m"])
    >>> entry["pair_flops"], entry["key_elements"], entry["params"]
    (1152, 192, 134515008)
    """
    check(is_dense(config), "config", name, "a dense model")
    one, two, all_rows = (
        _by_name(config, rows, logit_rows)
        for rows, logit_rows in ((1, 1), (2, 1), (2, 2))
    )
    ops = []
    for key in one:
        if key in ATTENTION:
            continue
        a, b, c = one[key], two[key], all_rows[key]
        token_flops = b.flops - a.flops
        logit_flops = c.flops - b.flops
        row_weights = b.weight_bytes - a.weight_bytes
        fixed = a.weight_bytes - row_weights
        entry = [token_flops, logit_flops, fixed, row_weights, a.kv_bytes]
        if any(entry):
            ops.append([_whole(key, number) for number in entry])
    scores = one["scores"]
    layers = config.num_layers
    return {
        "name": name,
        "longest": config.max_seq_len,
        "params": num_params(config),
        "layers": layers,
        "local": config.num_local_layers,
        "window": config.window,
        "pair_flops": scores.flops // layers,
        "key_elements": _whole("scores", scores.kv_bytes / layers),
        "ops": ops,
    }


def _by_name(
    config: ModelConfig, rows: int, logit_rows: int
) -> dict[str, OpCount]:
    """Count a pass in which every number takes one byte."""
    ops = forward_counts(
        config,
        rows,
        0,
        logit_rows=logit_rows,
        weight_bytes_per_param=1,
        kv_bytes_per_element=1,
    )
    return {op.name: op for op in ops}


def _whole(name: str, number: float) -> int:
    """Return a count of elements as an int."""
    if number != int(number):
        raise ArgumentError(name, number, "a whole number of elements")
    return int(number)
