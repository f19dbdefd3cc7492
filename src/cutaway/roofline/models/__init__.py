"""Published models by name, for planning without their weights.

Every entry is a whole configuration: it equals what ``from_hf`` reads from
the ``config.json`` of that model. Base models, where the instruction-tuned
one states another length.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from cutaway.core.checks import check_choice
from cutaway.core.config import ModelConfig
from cutaway.roofline.models.deepseek import DEEPSEEK
from cutaway.roofline.models.gemma import GEMMA
from cutaway.roofline.models.gpt import GPT
from cutaway.roofline.models.llama import LLAMA
from cutaway.roofline.models.qwen import QWEN

_PUBLISHED = {**LLAMA, **QWEN, **GEMMA, **GPT, **DEEPSEEK}

CONFIGS: Mapping[str, ModelConfig] = MappingProxyType(
    {name: model.config for name, model in _PUBLISHED.items()}
)
"""Configurations by name, sizes as in each model's ``config.json``."""

CONFIG_SOURCES: Mapping[str, str] = MappingProxyType(
    {name: model.source for name, model in _PUBLISHED.items()}
)
"""Where the sizes of each model were read."""


def model_config(name: str) -> ModelConfig:
    """Return a published configuration by name.

    Args:
        name: A key of ``CONFIGS``; case does not matter.

    Raises:
        ArgumentError: The name is unknown; the message lists the known.

    >>> model_config("Qwen3-0.6B").head_dim
    128
    """
    key = str(name).lower()
    check_choice("model", key, tuple(CONFIGS))
    return CONFIGS[key]
