"""What Hugging Face's folders call the weights of each family."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from cutaway.core.checks import check_choice
from cutaway.core.config import ModelConfig
from cutaway.weights.hf_tables import FAMILIES
from cutaway.weights.stored import Stored


def hf_stored(model_type: str, config: ModelConfig) -> Mapping[str, Stored]:
    """Say where a folder keeps each weight.

    Args:
        model_type: As in its ``config.json``.
        config: The model.

    Returns:
        A read-only mapping from the weight's name, such as
        ``layers[0].wq``. It lists weights that the family may have, among
        them some that this model has not; ``unembed`` always.

    Raises:
        ArgumentError: The names of this model type are not known.

    Cost: O(layers x experts).
    Source: transformers 5, the ``modeling_*.py`` of each family.

    >>> from cutaway.roofline import CONFIGS
    >>> stored = hf_stored("qwen2", CONFIGS["qwen2.5-0.5b"])
    >>> stored["layers[1].bq"].names
    ('model.layers.1.self_attn.q_proj.bias',)
    """
    check_choice("model_type", model_type, tuple(FAMILIES))
    family = FAMILIES[model_type]
    stored = dict(family.model)
    for layer in range(config.num_layers):
        table = family.layer
        moe = config.moe
        if moe is not None and layer >= moe.num_dense_layers:
            table = {**table, **family.experts}
        prefix = family.prefix.format(layer)
        for ours, place in table.items():
            found = place
            if place.stacked and moe is not None:
                count = range(moe.num_experts)
                found = replace(
                    place, names=tuple(place.names[0].format(e) for e in count)
                )
            names = tuple(prefix + name for name in found.names)
            stored[f"layers[{layer}].{ours}"] = replace(found, names=names)
    return MappingProxyType(stored)
