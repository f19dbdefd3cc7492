"""What a configuration must satisfy: each value, and all together."""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

from cutaway.core.block_config import (
    AttentionConfig,
    BiasedPart,
    FFNConfig,
    NormConfig,
    RopeLayout,
)
from cutaway.core.checks import (
    check,
    check_choice,
    check_flag,
    check_int,
    check_real,
)
from cutaway.core.mla_config import MLAConfig
from cutaway.core.moe_config import MoEConfig
from cutaway.core.rope_scaling import RopeScaling
from cutaway.core.window_pattern import check_window_pattern

if TYPE_CHECKING:
    from cutaway.core.config import ModelConfig

SIZES = (
    "num_layers",
    "hidden_size",
    "num_heads",
    "num_kv_heads",
    "head_dim",
    "ffn_size",
    "vocab_size",
    "max_seq_len",
)
OPTIONAL_REALS = (
    "rope_theta",
    "local_rope_theta",
    "embed_scale",
    "logit_softcap",
)
PARTS = {
    "norm": NormConfig,
    "ffn": FFNConfig,
    "attention": AttentionConfig,
    "moe": MoEConfig,
    "mla": MLAConfig,
    "rope_scaling": RopeScaling,
}
OPTIONAL_PARTS = ("moe", "mla", "rope_scaling")


def check_config(config: ModelConfig) -> None:
    """Raise ``ArgumentError`` at the first field that cannot be."""
    for name in SIZES:
        check_int(name, getattr(config, name), low=1)
    for name in OPTIONAL_REALS:
        if getattr(config, name) is not None:
            check_real(name, getattr(config, name), 0, open_low=True)
    check_real("norm_eps", config.norm_eps, 0)
    check_choice("rope_layout", config.rope_layout, get_args(RopeLayout))
    check_flag("tie_embeddings", config.tie_embeddings)
    for name, kind in PARTS.items():
        value = getattr(config, name)
        absent = value is None and name in OPTIONAL_PARTS
        fits = absent or isinstance(value, kind)
        check(fits, name, repr(value), f"a {kind.__name__}")
    check(
        config.num_heads % config.num_kv_heads == 0,
        "num_kv_heads",
        config.num_kv_heads,
        f"a divisor of num_heads = {config.num_heads}",
    )
    _check_positions(config)
    _check_window(config)
    _check_parts(config)


def _check_positions(config: ModelConfig) -> None:
    """Raise unless the model has RoPE or a table of positions."""
    rows, theta = config.learned_positions, config.rope_theta
    if rows is not None:
        check_int("learned_positions", rows, low=config.max_seq_len)
        for name in ("rope_theta", "rope_scaling"):
            got = getattr(config, name)
            check(got is None, name, got, "None beside learned_positions")
        return
    expected = "a number > 0, or learned_positions"
    check(theta is not None, "rope_theta", theta, expected)
    even = config.head_dim % 2 == 0
    check(even, "head_dim", config.head_dim, "an even number")


def _check_window(config: ModelConfig) -> None:
    """Raise unless window, pattern and local base fit together."""
    if config.window is not None:
        check_int("window", config.window, low=1)
    for name in ("window_pattern", "local_rope_theta"):
        got = getattr(config, name)
        fits = got is None or config.window is not None
        check(fits, name, got, "None without a window")
    if config.window_pattern is not None:
        check_window_pattern(config.window_pattern)


def _check_parts(config: ModelConfig) -> None:
    """Raise unless biases, experts and latent widths fit the sizes."""
    is_set = isinstance(config.biases, frozenset)
    check(is_set, "biases", repr(config.biases), "a frozenset")
    for part in config.biases:
        check_choice("biases", part, get_args(BiasedPart))
    if config.moe is not None:
        name = "moe.num_dense_layers"
        dense = config.moe.num_dense_layers
        check_int(name, dense, 0, config.num_layers - 1)
    if config.mla is not None:
        wide, got = config.mla.qk_head_dim, config.head_dim
        check(got == wide, "head_dim", got, f"{wide}, as mla.qk_head_dim")
        heads, got = config.num_heads, config.num_kv_heads
        expected = f"num_heads = {heads} beside mla"
        check(got == heads, "num_kv_heads", got, expected)
