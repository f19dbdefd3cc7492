"""Which layer is of which kind, from a Hugging Face ``config.json``."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cutaway.core.checks import check, check_int
from cutaway.core.hf_config.parts import mapping_at
from cutaway.core.reading import read_count
from cutaway.roofline.kv_layout.hf_parts import Config

Reader = Callable[[Config], list[str]]

FULL, LOCAL, STATE = "full_attention", "sliding_attention", "linear_attention"
COUNT = "num_hidden_layers"
OLD_NAMES = {
    "attention": FULL,
    "mamba": STATE,
    "recurrent": STATE,
    "conv": STATE,
    "chunked_attention": LOCAL,
    "deepseek_sparse_attention": "indexed_attention",
}
"""What other files call the kinds of layers."""

NEMOTRON = {"M": STATE, "*": FULL, "-": "mlp", "E": "moe"}
"""Letters of the pattern in Nemotron's files."""


def num_layers(config: Config) -> int:
    """Return the layers that the file counts; GPT-2 has its own key."""
    return read_count(config, "n_layer" if "n_layer" in config else COUNT)


def all_full(config: Config) -> list[str]:
    """Every layer sees everything."""
    return [FULL] * num_layers(config)


def all_local(config: Config) -> list[str]:
    """Every layer has the window, if the file has one."""
    return [LOCAL] * num_layers(config)


def all_state(config: Config) -> list[str]:
    """No layer attends."""
    return [STATE] * num_layers(config)


def all_indexed(config: Config) -> list[str]:
    """Every layer keeps a small key beside, to choose tokens by."""
    return ["indexed_attention"] * num_layers(config)


def all_both(config: Config) -> list[str]:
    """Every layer attends and has a state."""
    return ["hybrid"] * num_layers(config)


def every(
    period: int,
    *,
    key: str | None = None,
    one: str = FULL,
    other: str = LOCAL,
) -> Reader:
    """Return a reader: one layer in each period differs, the last one.

    Args:
        period: If the file does not say.
        key: Where the file says it.
        one: Kind of that layer.
        other: Kind of the others.
    """

    def kinds(config: Config) -> list[str]:
        step = period if key is None else read_count(config, key, period)
        return [
            other if (layer + 1) % step else one
            for layer in range(num_layers(config))
        ]

    return kinds


def qwen2(config: Config) -> list[str]:
    """The window is switched on by a flag, and not for the first layers."""
    count = num_layers(config)
    if not config.get("use_sliding_window", False):
        return [FULL] * count
    first = check_int("max_window_layers", config["max_window_layers"], low=0)
    return [FULL if layer < first else LOCAL for layer in range(count)]


def qwen2_moe(config: Config) -> list[str]:
    """With the flag, every second of the first layers has the window."""
    count = num_layers(config)
    first = check_int("max_window_layers", config["max_window_layers"], low=0)
    flag = config.get("use_sliding_window", False)
    return [
        LOCAL if flag and (layer + 1) % 2 and layer < first else FULL
        for layer in range(count)
    ]


def qwen3_moe(config: Config) -> list[str]:
    """The flag gives every layer the window."""
    local = config.get("use_sliding_window", False)
    return [LOCAL if local else FULL] * num_layers(config)


def jamba(config: Config) -> list[str]:
    """One attention layer in each period, at an offset."""
    period = read_count(config, "attn_layer_period")
    offset = check_int("attn_layer_offset", config["attn_layer_offset"], low=0)
    return [
        FULL if layer % period == offset else STATE
        for layer in range(num_layers(config))
    ]


def listed(key: str, *, default: bool = False) -> Reader:
    """Return a reader: a list has the numbers of the attention layers.

    Args:
        key: Of the list.
        default: Without a list: does every layer attend, or none?
    """

    def kinds(config: Config) -> list[str]:
        count = num_layers(config)
        found = config.get(key)
        if found is None:
            found = range(count) if default else ()
        check(_is_list(found), key, repr(found), "a list of layers")
        return [FULL if n in found else STATE for n in range(count)]

    return kinds


def kimi(config: Config) -> list[str]:
    """The file counts its attention layers from 1."""
    count = num_layers(config)
    nested = mapping_at(config, "linear_attn_config")
    if "full_attn_layers" in nested and "kda_layers" in nested:
        found = nested["full_attn_layers"]
        check(_is_list(found), "full_attn_layers", repr(found), "a list")
        return [FULL if n + 1 in found else STATE for n in range(count)]
    return [FULL if n and n % 4 == 0 else STATE for n in range(count)]


def olmo_hybrid(config: Config) -> list[str]:
    """Every fourth layer attends, and at least one."""
    kinds = every(4, other=STATE)(config)
    return kinds if FULL in kinds else [*kinds[:-1], FULL]


def nemotron(config: Config) -> list[str]:
    """A text with a letter for every layer."""
    text = config.get("hybrid_override_pattern")
    is_text = isinstance(text, str) and set(text) <= set(NEMOTRON)
    expected = f"a text of {', '.join(NEMOTRON)}, or layers_block_type"
    check(is_text, "hybrid_override_pattern", repr(text), expected)
    return [NEMOTRON[letter] for letter in str(text)]


def recurrent_gemma(config: Config) -> list[str]:
    """A short pattern of blocks, repeated; attention has the window."""
    names = config["block_types"]
    is_list = _is_list(names) and len(names) > 0
    check(is_list, "block_types", repr(names), "a list of blocks")
    kinds = [STATE if name == "recurrent" else LOCAL for name in names]
    return [kinds[n % len(kinds)] for n in range(num_layers(config))]


def llama4(config: Config) -> list[str]:
    """Layers without RoPE see everything, the others a chunk."""
    count = num_layers(config)
    flags = config.get("no_rope_layers")
    if not flags:
        step = read_count(config, "no_rope_layer_interval", 4)
        flags = [(layer + 1) % step != 0 for layer in range(count)]
    is_list = _is_list(flags) and len(flags) >= count
    check(is_list, "no_rope_layers", repr(flags), f"{count} flags in a list")
    return [LOCAL if flag else FULL for flag in flags[:count]]


def zamba2(config: Config) -> list[str]:
    """States, and now and then attention beside one; 54 layers."""
    ends = [6, 12, 18, 24, 30, 36, 42, 47, 51]
    kinds = ["hybrid" if n in ends else STATE for n in range(54)]
    count = num_layers(config)
    check(count == 54, "num_hidden_layers", count, "54, or layers_block_type")
    return kinds


def _is_list(value: object) -> bool:
    return isinstance(value, Sequence | range) and not isinstance(value, str)
