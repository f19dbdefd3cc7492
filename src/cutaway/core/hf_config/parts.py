"""What the families of Hugging Face configurations have in common."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from cutaway.core.checks import check, check_choice, check_int
from cutaway.core.reading import read_count, read_real, refuse
from cutaway.core.rope_scaling_files import rope_scaling_from_hf
from cutaway.core.window_pattern import LayerKind, shortest_pattern

Config = Mapping[str, Any]
Fields = dict[str, Any]

LAYER_KINDS: Mapping[str, LayerKind] = {
    "sliding_attention": "local",
    "full_attention": "global",
}


def base_fields(
    config: Config,
    *,
    theta: float = 1e4,
    tied: bool = False,
    derived: Collection[str] = (),
) -> Fields:
    """Return the fields that every model with RoPE and RMSNorm has.

    Args:
        config: The parsed file.
        theta: Base of the rotary frequencies if the file has none.
        tied: Whether a file that does not say shares the embedding.
        derived: Which of ``num_key_value_heads`` and ``head_dim`` the
            family's files may leave out: as many as query heads, and the
            share of a head. Elsewhere they must be stated.
    """
    refuse(config, "mlp_bias", (False,))
    heads = read_count(config, "num_attention_heads")
    hidden = read_count(config, "hidden_size")
    shares = {
        "num_key_value_heads": heads,
        "head_dim": max(1, hidden // heads),
    }
    by_default = {key: shares[key] for key in derived}
    return {
        "num_layers": read_count(config, "num_hidden_layers"),
        "hidden_size": hidden,
        "num_heads": heads,
        "num_kv_heads": _count_or(config, "num_key_value_heads", by_default),
        "head_dim": _count_or(config, "head_dim", by_default),
        "ffn_size": read_count(config, "intermediate_size"),
        "vocab_size": read_count(config, "vocab_size"),
        "norm_eps": read_real(config, "rms_norm_eps"),
        "max_seq_len": read_count(config, "max_position_embeddings"),
        "rope_layout": "half_split",
        "tie_embeddings": bool(config.get("tie_word_embeddings", tied)),
        **rope_fields(config, theta),
    }


def _count_or(config: Config, key: str, defaults: Mapping[str, int]) -> int:
    """Return an entry, or the default of the family if it has one."""
    return read_count(config, key, defaults.get(key))


def rope_fields(config: Config, theta: float) -> Fields:
    """Return base and scaling of the rotary frequencies.

    Newer files keep both in ``rope_parameters``, older ones in two keys.
    """
    length = read_count(config, "max_position_embeddings")
    rope = mapping_at(config, "rope_parameters")
    scaling = mapping_at(config, "rope_scaling") or rope
    holder = config if "rope_theta" in config else rope
    return {
        "rope_theta": read_real(holder, "rope_theta", theta),
        "rope_scaling": rope_scaling_from_hf(scaling, max_seq_len=length),
    }


def mapping_at(config: Config, key: str) -> Mapping[str, Any]:
    """Return the entry, which is a mapping; an empty one if it is absent."""
    entry = config.get(key)
    entry = {} if entry is None else entry
    check(isinstance(entry, Mapping), key, repr(entry), "a mapping or None")
    return entry


def pattern_fields(config: Config, *, period: int) -> Fields:
    """Return window and pattern of a model with local and global layers.

    Args:
        config: The parsed file.
        period: If it lists no layers, every ``period``-th is global.
    """
    count = read_count(config, "num_hidden_layers")
    if config.get("layer_types") is None:
        kinds: list[LayerKind] = [
            "local" if (index + 1) % period else "global"
            for index in range(count)
        ]
    else:
        kinds = _listed_kinds(config["layer_types"], count)
    window = config.get("sliding_window")
    if window is None or "local" not in kinds:
        return {}
    pattern = shortest_pattern(kinds)
    every = pattern == ("local",)
    return {"window": window, "window_pattern": None if every else pattern}


def _listed_kinds(names: Any, count: int) -> list[LayerKind]:
    """Translate the list of layers, one entry for each."""
    is_list = isinstance(names, list)
    check(is_list, "layer_types", repr(names), "a list")
    check(len(names) == count, "layer_types", len(names), f"{count} entries")
    for name in names:
        check_choice("layer_types", name, tuple(LAYER_KINDS))
    return [LAYER_KINDS[name] for name in names]


def optional_window(config: Config) -> Fields:
    """Return the window of Qwen, which the file may have switched off.

    The first ``max_window_layers`` see everything even when it is on.
    """
    if not config.get("use_sliding_window", False):
        return {}
    config = {"sliding_window": 4096, **config}
    if config.get("layer_types") is None:
        count = read_count(config, "num_hidden_layers")
        first = config.get("max_window_layers", 28)
        check_int("max_window_layers", first, low=0)
        full, local = "full_attention", "sliding_attention"
        kinds = [full] * min(first, count)
        kinds += [local] * (count - len(kinds))
        config = {**config, "layer_types": kinds}
    return pattern_fields(config, period=1)
