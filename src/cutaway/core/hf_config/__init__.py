"""Fields of a configuration from a Hugging Face ``config.json``.

The files leave out what has the default of the model's class, so each
family states its own defaults.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cutaway.core.checks import check, check_choice
from cutaway.core.hf_config.deepseek import deepseek_v2, deepseek_v3
from cutaway.core.hf_config.dense import llama, mistral, qwen2, qwen3
from cutaway.core.hf_config.experts import gpt_oss, mixtral, qwen3_moe
from cutaway.core.hf_config.gemma import gemma2, gemma3, gemma3_text
from cutaway.core.hf_config.learned import gpt2, opt
from cutaway.core.hf_config.parts import Config, Fields
from cutaway.core.reading import required

READERS: Mapping[str, Callable[[Config], Fields]] = {
    "llama": llama,
    "mistral": mistral,
    "mixtral": mixtral,
    "qwen2": qwen2,
    "qwen3": qwen3,
    "qwen3_moe": qwen3_moe,
    "gemma2": gemma2,
    "gemma3_text": gemma3_text,
    "gemma3": gemma3,
    "gpt2": gpt2,
    "opt": opt,
    "gpt_oss": gpt_oss,
    "deepseek_v2": deepseek_v2,
    "deepseek_v3": deepseek_v3,
}
"""A reader for each ``model_type``."""


def hf_fields(config: Config) -> Fields:
    """Return the fields of a ``ModelConfig``.

    Args:
        config: The parsed file.

    Raises:
        ArgumentError: A key is missing, the model type is unknown, or a
            setting has a value that no field can express.
    """
    is_mapping = isinstance(config, Mapping)
    check(is_mapping, "config", type(config).__name__, "a mapping")
    kind = required(config, "model_type")
    check_choice("model_type", kind, tuple(READERS))
    return READERS[kind](config)
