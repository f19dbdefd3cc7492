"""What a layer caches, from the keys of a Hugging Face ``config.json``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cutaway.core.hf_config.parts import mapping_at
from cutaway.core.kv_shape import KVShape
from cutaway.core.reading import read_count, read_real
from cutaway.roofline.kv_layout.parts import StateCache

Config = Mapping[str, Any]
States = tuple[StateCache, ...]


def grouped(config: Config) -> KVShape:
    """Read the key/value heads of grouped-query attention.

    A file without them has as many as query heads; one without a head's
    width splits the hidden width.
    """
    heads = read_count(config, "num_attention_heads")
    share = max(1, read_count(config, "hidden_size") // heads)
    width = read_count(config, "head_dim", share)
    kv_heads = read_count(config, "num_key_value_heads", heads)
    return KVShape(kv_heads, width, width)


def gpt(config: Config) -> KVShape:
    """Read the heads of a GPT-2, or of the one with a single KV head."""
    heads = read_count(config, "n_head")
    width = read_count(config, "n_embd") // heads
    kv_heads = 1 if config.get("multi_query", False) else heads
    return KVShape(kv_heads, width, width)


def falcon(config: Config) -> KVShape:
    """Read the heads of a Falcon: one, some, or as many as query heads."""
    heads = read_count(config, "num_attention_heads")
    width = read_count(config, "hidden_size") // heads
    one = config.get("multi_query", True)
    if config.get("new_decoder_architecture", False) or not one:
        return KVShape(read_count(config, "num_kv_heads", heads), width, width)
    return KVShape(1, width, width)


def latent(config: Config) -> KVShape:
    """Read the one vector that latent attention caches."""
    rank = read_count(config, "kv_lora_rank")
    return KVShape(1, rank + read_count(config, "qk_rope_head_dim"), 0)


def doubled(config: Config) -> KVShape:
    """Read the heads of a Zamba2, whose attention is twice as wide."""
    twice = {**config, "hidden_size": 2 * read_count(config, "hidden_size")}
    width = config.get("attention_head_dim")
    return grouped({**twice, "head_dim": width})


def mamba(config: Config, *, expand: str, state: str, kernel: str) -> States:
    """Read the state of a Mamba: some numbers for every channel.

    Args:
        config: The parsed file.
        expand: Key of the channels, in hidden widths. Where nothing else
            needs ``intermediate_size``, that key has them and goes first.
        state: Key of the numbers.
        kernel: Key of the width of the convolution.
    """
    factor = read_real(config, expand)
    channels = int(factor * read_count(config, "hidden_size"))
    if expand == "expand":
        channels = read_count(config, "intermediate_size", channels)
    numbers = read_count(config, state)
    return (
        StateCache(num_heads=channels, elements_per_head=numbers),
        *_conv(read_count(config, kernel), (channels, 1)),
    )


def mamba2(
    config: Config,
    *,
    heads: str,
    width: str,
    groups: str,
    state: str,
    kernel: str,
) -> States:
    """Read the state of a Mamba-2: a matrix for every head.

    The convolution reads the heads and, for each group, two vectors.

    Args:
        config: The parsed file.
        heads: Key of the number of heads.
        width: Key of their width; "auto" splits the expanded width.
        groups: Key of the groups.
        state: Key of the numbers for every channel of a head.
        kernel: Key of the width of the convolution.
    """
    count = read_count(config, heads)
    if config.get(width) in (None, "auto"):
        channels = config.get("mamba_d_ssm")
        if channels is None:
            expand = read_count(config, "mamba_expand", 2)
            channels = expand * read_count(config, "hidden_size")
        head_dim = channels // count
    else:
        head_dim = read_count(config, width)
    numbers = read_count(config, state)
    return (
        StateCache(num_heads=count, elements_per_head=head_dim * numbers),
        *_conv(
            read_count(config, kernel),
            (count, head_dim),
            (read_count(config, groups), 2 * numbers),
        ),
    )


def delta_rule(config: Config) -> States:
    """Read the state of a gated delta rule: keys by values, a value head.

    What a file leaves out is as in OLMo: as many heads as attention, keys
    of three quarters of a share of the hidden width, values twice that.
    """
    default = config.get("num_attention_heads")
    key_heads = read_count(config, "linear_num_key_heads", default)
    value_heads = read_count(config, "linear_num_value_heads", default)
    share = int(0.75 * read_count(config, "hidden_size") / key_heads)
    key_dim = read_count(config, "linear_key_head_dim", max(1, share))
    value_dim = read_count(config, "linear_value_head_dim", 2 * key_dim)
    return (
        StateCache(
            num_heads=value_heads, elements_per_head=key_dim * value_dim
        ),
        *_conv(
            read_count(config, "linear_conv_kernel_dim"),
            (key_heads, 2 * key_dim),
            (value_heads, value_dim),
        ),
    )


def kimi(config: Config) -> States:
    """Read the state of Kimi's delta rule; its file nests the sizes."""
    nested = mapping_at(config, "linear_attn_config")
    heads, width, kernel = (
        read_count(nested, inner, read_count(config, outer))
        for inner, outer in (
            ("num_heads", "linear_num_heads"),
            ("head_dim", "linear_head_dim"),
            ("short_conv_kernel_size", "linear_conv_kernel_dim"),
        )
    )
    return (
        StateCache(num_heads=heads, elements_per_head=width * width),
        *_conv(kernel, (heads, 3 * width)),
    )


def lightning(config: Config) -> States:
    """Read the state of plain linear attention: a matrix, a query head."""
    width = grouped(config).key_dim
    heads = read_count(config, "num_attention_heads")
    return (StateCache(num_heads=heads, elements_per_head=width * width),)


def gated_lru(config: Config) -> States:
    """Read the state of a gated linear recurrence: a number a channel."""
    hidden = read_count(config, "hidden_size")
    channels = read_count(config, "lru_width", hidden)
    return (
        StateCache(num_heads=channels, elements_per_head=1),
        *_conv(read_count(config, "conv1d_width"), (channels, 1)),
    )


def short_conv(config: Config) -> States:
    """Read the state of a layer that is a convolution and nothing else."""
    hidden = read_count(config, "hidden_size")
    return _conv(read_count(config, "conv_L_cache"), (hidden, 1))


def _conv(kernel: int, *channels: tuple[int, int]) -> States:
    """Return what a convolution keeps: all inputs it will see again.

    Args:
        kernel: Tokens that it sees, the newest included.
        channels: Heads, and channels of each.
    """
    if kernel == 1:
        return ()
    return tuple(
        StateCache(
            num_heads=heads,
            elements_per_head=(kernel - 1) * width,
            kind="conv",
        )
        for heads, width in channels
    )
