"""The data of the KV-cache calculator: models, machines, formats.

The widget computes in JavaScript what ``KVLayout``, ``max_tokens`` and
``sequences_that_fit`` compute here. A model is given by its caches and its
states, each with the number of layers that have it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from cutaway.core.checks import check, check_choice, check_int
from cutaway.roofline import (
    CACHE_FILES,
    CONFIGS,
    HARDWARE,
    AttentionCache,
    CacheFormat,
    KVLayout,
    StateCache,
    bits_per_value,
    model_layout,
    num_params,
)

_Q8_0 = bits_per_value(8, group_size=32) / 8
_Q4_0 = bits_per_value(4, group_size=32) / 8
_INT4 = bits_per_value(4, group_size=32, zero_bits=16) / 8
_INT2 = bits_per_value(2, group_size=32, zero_bits=16) / 8

FORMATS: tuple[Mapping[str, Any], ...] = (
    {"name": "16 bits", "key": 2, "value": 2},
    {"name": "8 bits, no scales", "key": 1, "value": 1},
    {"name": "8 bits (q8_0)", "key": _Q8_0, "value": _Q8_0},
    {"name": "q8_0 keys, q4_0 values", "key": _Q8_0, "value": _Q4_0},
    {"name": "4 bits, scale and zero", "key": _INT4, "value": _INT4},
    {"name": "2 bits, scale and zero", "key": _INT2, "value": _INT2},
)
"""Bytes of a number of a key and of a value; groups are of 32."""

WEIGHTS: tuple[Mapping[str, Any], ...] = (
    {"name": "16 bits", "weight": 2},
    {"name": "8 bits", "weight": 1},
    {"name": "4 bits (q4_0)", "weight": _Q4_0},
)
"""Bytes of a weight."""

MAX_TOKENS = 2**20
MAX_SEQUENCES = 2**10
MAX_DEVICES = 2**6
"""Where the sliders of the widget end."""


def calculator_data(
    model: str, machine: str, *, sequences: int = 1, tokens: int = 4096
) -> dict[str, Any]:
    """Return what the calculator needs.

    It knows all models of ``CONFIGS`` and ``CACHE_FILES``.

    Args:
        model: Name of the model that it shows first.
        machine: Name of the machine that it shows first.
        sequences: Sequences at first; a power of two up to 1,024.
        tokens: Tokens of each at first; a power of two up to 1,048,576
            and to what the model was made for.

    Raises:
        ArgumentError: A name is unknown, or a number no power of two or
            off its slider.

    >>> data = calculator_data("llama-3.1-8b", "h100-sxm")
    >>> data["models"][data["start"]["model"]]["caches"]
    [[32, 8, 128, 128, None]]
    """
    entries = _entries()
    names = [entry["name"] for entry in entries]
    check_choice("model", model, names)
    check_choice("machine", machine, tuple(HARDWARE))
    chosen = names.index(model)
    longest = min(MAX_TOKENS, entries[chosen]["longest"])
    for name, number, high in (
        ("sequences", sequences, MAX_SEQUENCES),
        ("tokens", tokens, longest),
    ):
        count = check_int(name, number, low=1, high=high).bit_count()
        check(count == 1, name, number, "a power of two")
    return {
        "models": entries,
        "machines": [
            {"name": gpu.name, "memory": gpu.memory_bytes}
            for gpu in HARDWARE.values()
        ],
        "formats": [dict(one) for one in FORMATS],
        "weights": [dict(one) for one in WEIGHTS],
        "start": {
            "model": chosen,
            "machine": list(HARDWARE).index(machine),
            "sequences": sequences,
            "tokens": tokens,
        },
    }


def layout_entry(layout: KVLayout) -> dict[str, list[list[Any]]]:
    """Return a layout as two lists of numbers.

    Args:
        layout: What a model caches.

    Returns:
        ``caches``: ``[layers, heads, key width, value width, window]``;
        ``states``: ``[layers, heads, elements of a head, bytes of one]``.

    >>> layout_entry(model_layout("jamba-1.5-mini"))["states"]
    [[28, 8192, 16, 4], [28, 8192, 3, 2]]
    """
    caches: Counter[tuple[Any, ...]] = Counter()
    states: Counter[tuple[Any, ...]] = Counter()
    usual = CacheFormat()
    sizes = {"recurrent": usual.recurrent_bytes, "conv": usual.conv_bytes}
    for layer in layout.layers:
        for part in layer:
            if isinstance(part, AttentionCache):
                caches[*part.shape, part.window] += 1
            elif isinstance(part, StateCache):
                key = (part.num_heads, part.elements_per_head)
                states[*key, sizes[part.kind]] += 1
    return {
        "caches": [[count, *entry] for entry, count in caches.items()],
        "states": [[count, *entry] for entry, count in states.items()],
    }


def _entries() -> list[dict[str, Any]]:
    """Return every model by name; parameters where they are known."""
    lengths = {
        **{name: c.max_seq_len for name, c in CONFIGS.items()},
        **{n: f["max_position_embeddings"] for n, f in CACHE_FILES.items()},
    }
    return [
        {
            "name": name,
            "layers": model_layout(name).num_layers,
            "params": num_params(CONFIGS[name]) if name in CONFIGS else None,
            "longest": longest,
            **layout_entry(model_layout(name)),
        }
        for name, longest in lengths.items()
    ]
