"""Sizes of published models, for planning without their weights.

Only sizes: a model whose rotary frequencies are rescaled (Llama 3.1) has
more constants than these, and does not run from this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cutaway.core.config import SIZES, ModelConfig


def _config(
    *sizes: int, theta: float, tied: bool = False, window: int | None = None
) -> ModelConfig:
    """Return a Llama-like configuration; ``sizes`` go as in ``SIZES``."""
    return ModelConfig(
        **dict(zip(SIZES, sizes, strict=True)),
        rope_theta=theta,
        norm_eps=1e-5,
        rope_layout="half_split",
        tie_embeddings=tied,
        window=window,
    )


def _llama(*sizes: int) -> ModelConfig:
    """Return a configuration of the second Llama generation."""
    return _config(*sizes, theta=1e4)


def _mistral(*sizes: int) -> ModelConfig:
    """Return a configuration of the first Mistral, with its window."""
    return _config(*sizes, theta=1e4, window=4096)


def _llama3(*sizes: int, tied: bool = False) -> ModelConfig:
    """Return a configuration of the third Llama generation."""
    return _config(*sizes, 128256, 131072, theta=5e5, tied=tied)


def _smollm2(*sizes: int, theta: float = 1e5) -> ModelConfig:
    """Return a configuration of the SmolLM2 family."""
    return _config(*sizes, 49152, 8192, theta=theta, tied=True)


CONFIGS: Mapping[str, ModelConfig] = MappingProxyType(
    {
        # layers, hidden, heads, KV heads, head_dim, ffn (, vocab, length)
        "smollm2-135m": _smollm2(30, 576, 9, 3, 64, 1536),
        "smollm2-360m": _smollm2(32, 960, 15, 5, 64, 2560),
        "smollm2-1.7b": _smollm2(24, 2048, 32, 32, 64, 8192, theta=1.3e5),
        "tinyllama-1.1b": _llama(22, 2048, 32, 4, 64, 5632, 32000, 2048),
        "llama-2-7b": _llama(32, 4096, 32, 32, 128, 11008, 32000, 4096),
        "llama-2-13b": _llama(40, 5120, 40, 40, 128, 13824, 32000, 4096),
        "llama-2-70b": _llama(80, 8192, 64, 8, 128, 28672, 32000, 4096),
        "llama-3.1-8b": _llama3(32, 4096, 32, 8, 128, 14336),
        "llama-3.1-70b": _llama3(80, 8192, 64, 8, 128, 28672),
        "llama-3.1-405b": _llama3(126, 16384, 128, 8, 128, 53248),
        "llama-3.2-1b": _llama3(16, 2048, 32, 8, 64, 8192, tied=True),
        "llama-3.2-3b": _llama3(28, 3072, 24, 8, 128, 8192, tied=True),
        "mistral-7b-v0.1": _config(
            32, 4096, 32, 8, 128, 14336, 32000, 32768, theta=1e4, window=4096
        ),
    }
)
"""Configurations by name, sizes as in each model's ``config.json``."""
