"""What a number format would do to a model: pass its weights through it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check, check_choice
from cutaway.core.config import ModelConfig
from cutaway.decoder.params import Params
from cutaway.decoder.shapes import weight_shapes
from cutaway.layers import from_numpy
from cutaway.weights import (
    BLOCK_TYPES,
    QUANTIZERS,
    dequantize,
    fitting_type,
    quantize,
)

if TYPE_CHECKING:
    from typing import Any

FEW = re.compile(r"(^positions|\.router|\.b_\w+)$")  # kept in F32


def quantization_plan(config: ModelConfig, type_name: str) -> Mapping[str, str]:
    """Say in which type llama.cpp would store each weight of a model.

    Matrices of the layers get the type asked for, or the one that stands
    in where its blocks do not divide the rows (``fitting_type``). The
    output matrix, which is the embedding when these are tied, gets Q6_K,
    or Q8_0 where that is asked for or 256 does not divide the rows. Norms,
    biases, routers and learned positions stay F32: they are few.

    Args:
        config: The model's sizes.
        type_name: One of ``QUANTIZERS``.

    Returns:
        A read-only mapping from the name of each weight to its type.

    Raises:
        ArgumentError: The type is unknown, or no type fits a row.

    Source: llama.cpp, src/llama-quant.cpp.
    Differs: its mixtures, such as Q4_K_M, give some layers more bits.

    >>> from cutaway.roofline import CONFIGS
    >>> plan = quantization_plan(CONFIGS["smollm2-135m"], "Q4_K")
    >>> plan["layers[0].w_down"], plan["layers[0].w_up"], plan["embed"]
    ('Q4_K', 'Q5_0', 'Q8_0')
    """
    check_choice("type_name", type_name, QUANTIZERS)
    plain = BLOCK_TYPES[type_name].block_size == 1
    output = type_name if plain or type_name == "Q8_0" else "Q6_K"
    tied = config.tie_embeddings
    types = {}
    for name, shape in weight_shapes(config).items():
        wanted = type_name
        if len(shape) == 1 or FEW.search(name):
            wanted = "F32"
        elif name == "unembed" or (name == "embed" and tied):
            wanted = output
        types[name] = fitting_type(wanted, shape[-1])
    return MappingProxyType(types)


def planned_bytes(config: ModelConfig, plan: Mapping[str, str]) -> int:
    """Return the bytes that a model's weights take in these types.

    Args:
        config: The model's sizes.
        plan: A type for each weight, as ``quantization_plan`` gives them.

    Raises:
        ArgumentError: The plan lacks a weight, or a type is unknown.

    >>> from cutaway.roofline import CONFIGS
    >>> smollm2 = CONFIGS["smollm2-135m"]
    >>> planned_bytes(smollm2, quantization_plan(smollm2, "Q4_1"))
    96576768
    """
    total = 0
    for name, shape in weight_shapes(config).items():
        check(name in plan, "plan", f"no type for {name}", "one for each")
        kind = BLOCK_TYPES[check_choice(name, plan[name], BLOCK_TYPES)]
        total += int(np.prod(shape)) // kind.block_size * kind.block_bytes
    return total


def requantize(params: Params, plan: Mapping[str, str]) -> Params:
    """Return the weights as they come back from a file of these types.

    Args:
        params: The weights; not changed.
        plan: A type for each weight to pass through one; weights that it
            does not name, and those of type F32, are shared, not copied.

    Returns:
        Weights of the same kind of array and dtype.

    Raises:
        ArgumentError: The plan names what is no weight, an unknown type,
            or one whose blocks do not divide the rows; or ``unembed``,
            which is the embedding, when these are tied.

    Cost: as for ``quantize`` and ``dequantize``; 4 bytes of memory for
    each weight that passes.
    Differs: engines keep the packed bytes and multiply with those; here
    the floats they stand for are what the forward pass sees.

    >>> from cutaway.core import ModelConfig
    >>> config = ModelConfig(num_layers=1, hidden_size=32, num_heads=2,
    ...     num_kv_heads=1, head_dim=16, ffn_size=32, vocab_size=5,
    ...     rope_theta=1e4, norm_eps=1e-5, max_seq_len=16)
    >>> params = Params.random(config, 0, impl="numpy")
    >>> rough = requantize(params, {"layers[0].wq": "Q4_0"})
    >>> bool((rough["layers[0].wq"] == params["layers[0].wq"]).all())
    False
    """
    for name, type_name in plan.items():
        check_choice(f"plan[{name!r}]", type_name, QUANTIZERS)
        row = params[name].shape[-1]
        size = BLOCK_TYPES[type_name].block_size
        rows = f"a type whose blocks divide rows of {row}"
        check(row % size == 0, f"plan[{name!r}]", type_name, rows)
    tied = params.unembed is params.embed
    untied = "no type: it is tied, embed has one for both"
    refused = tied and "unembed" in plan
    check(not refused, "plan['unembed']", plan.get("unembed"), untied)

    passed = {
        name: _through(params[name], type_name)
        for name, type_name in plan.items()
        if type_name != "F32"
    }
    layers = []
    for index, layer in enumerate(params.layers):
        prefix = f"layers[{index}]."
        own = {
            name.removeprefix(prefix): weight
            for name, weight in passed.items()
            if name.startswith(prefix)
        }
        layers.append(replace(layer, **own))
    outside = {name: w for name, w in passed.items() if "." not in name}
    if tied:
        outside["unembed"] = outside.get("embed", params.embed)
    return replace(params, layers=tuple(layers), **outside)


def _through(weight: Any, type_name: str) -> Any:
    """Pack a weight and unpack it, in the array type it came in."""
    impl = "numpy" if isinstance(weight, np.ndarray) else "torch"
    array = np.asarray(weight)
    raw = quantize(array, type_name)
    back = dequantize(raw, type_name, array.shape, array.dtype)
    return from_numpy(back, impl=impl)
