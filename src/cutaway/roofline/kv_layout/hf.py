"""A model's cache from its Hugging Face ``config.json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cutaway.core.checks import check, check_choice, check_int
from cutaway.core.hf_config.parts import mapping_at
from cutaway.core.kv_shape import KVShape
from cutaway.core.reading import read_count, required
from cutaway.roofline.kv_layout.hf_attention import GROUPED, LATENT
from cutaway.roofline.kv_layout.hf_family import Family
from cutaway.roofline.kv_layout.hf_hybrids import LINEAR, MAMBA
from cutaway.roofline.kv_layout.hf_kinds import (
    COUNT,
    FULL,
    LOCAL,
    OLD_NAMES,
    STATE,
)
from cutaway.roofline.kv_layout.hf_parts import Config
from cutaway.roofline.kv_layout.layout import KVLayout
from cutaway.roofline.kv_layout.parts import (
    AttentionCache,
    Layer,
    SharedCache,
)

FAMILIES: Mapping[str, Family] = {**GROUPED, **LATENT, **MAMBA, **LINEAR}
"""How to read the files of a model type."""


def kv_layout_from_hf(config: Mapping[str, Any]) -> KVLayout:
    """Read what the layers of a model cache.

    More kinds of models than ``ModelConfig.from_hf`` reads: hybrids of
    attention and states too, for nothing but the cache has to be known.
    Settings that leave the cache as it is may have any value.

    Args:
        config: The parsed file; of a model that also sees or hears, the
            part ``text_config`` counts.

    Raises:
        ArgumentError: A key is missing or unfit, or the model type is
            unknown; the message lists the known.

    Source: the configuration classes of transformers 5.24.

    >>> layout = kv_layout_from_hf({
    ...     "model_type": "jamba", "num_hidden_layers": 8,
    ...     "hidden_size": 4096, "num_attention_heads": 32,
    ...     "num_key_value_heads": 8})
    >>> layout.bytes_per_token(), layout.state_bytes()
    (4096, 4014080)
    """
    kind, config = _text_part(config)
    family = FAMILIES[kind]
    stated = {
        key: value
        for key, value in config.items()
        if value is not None or key == family.window  # None: no window
    }
    config = {**family.defaults, **stated}
    names = _layer_names(config, family)
    layers = {name: _layer(name, config, family) for name in set(names)}
    own = tuple(layers[name] for name in names)
    return KVLayout(_with_shared(own, names, config, family))


def _text_part(config: object) -> tuple[str, Config]:
    """Return the model type and the part of the file that has the layers."""
    is_mapping = isinstance(config, Mapping)
    check(is_mapping, "config", type(config).__name__, "a mapping")
    assert isinstance(config, Mapping)
    kind = required(config, "model_type")
    inner = mapping_at(config, "text_config")
    if inner:
        kind, config = inner.get("model_type", kind), inner
    if f"{kind}_text" in FAMILIES:
        kind = f"{kind}_text"
    return check_choice("model_type", kind, tuple(FAMILIES)), config


def _layer_names(config: Config, family: Family) -> list[str]:
    """Return the kind of each layer, as listed or by the family's rule."""
    key = next(
        (k for k in ("layer_types", "layers_block_type") if k in config), None
    )
    if key is None:
        return family.kinds(config)
    names = config[key]
    is_list = isinstance(names, list) and len(names) > 0
    check(is_list, key, repr(names), "a list, not empty")
    if key == "layer_types" and COUNT in config:
        count = read_count(config, COUNT)
        check(len(names) == count, key, len(names), f"{count} entries")
    known = (FULL, LOCAL, STATE, *OLD_NAMES, "hybrid", "indexed_attention")
    for name in names:
        is_text = isinstance(name, str)
        check(is_text, key, repr(name), "the name of a kind of layer")
        check_choice(key, name, (*known, "mlp", "moe"))
    return [OLD_NAMES.get(name, name) for name in map(str, names)]


def _layer(name: str, config: Config, family: Family) -> Layer:
    """Return what a layer of some kind keeps."""
    parts: Layer = ()
    if name in (FULL, LOCAL, "hybrid", "indexed_attention"):
        check(family.shape is not None, "layer_types", repr(name), repr(STATE))
        assert family.shape is not None
        window = None
        if name == LOCAL and config.get(family.window) is not None:
            window = read_count(config, family.window)
        parts = (AttentionCache(shape=family.shape(config), window=window),)
    if name == "indexed_attention":
        width = read_count(config, "index_head_dim")
        parts += (AttentionCache(shape=KVShape(1, width, 0)),)
    if name in (STATE, "hybrid"):
        check(family.states is not None, "layer_types", repr(name), repr(FULL))
        assert family.states is not None
        parts += family.states(config)
    return parts


def _with_shared(
    layers: tuple[Layer, ...], names: list[str], config: Config, family: Family
) -> tuple[Layer, ...]:
    """Let the last layers share the cache of the last one of their kind."""
    if family.shared is None:
        return layers
    count = config[family.shared]
    check_int(family.shared, count, 0, len(layers) - 1)
    first = len(layers) - count
    owners = {name: index for index, name in enumerate(names[:first])}
    shared: list[Layer] = []
    for name in names[first:]:
        has_owner = name in owners
        expected = f"a kind of layer that the first {first} have"
        check(has_owner, "layer_types", repr(name), expected)
        shared.append((SharedCache(layer=owners[name]),))
    return (*layers[:first], *shared)
