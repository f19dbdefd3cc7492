"""The factor of the scores in latent attention."""

from __future__ import annotations

from cutaway.core.config import ModelConfig
from cutaway.core.errors import ArgumentError
from cutaway.core.rope_scaling import YarnScaling
from cutaway.layers import yarn_mscale


def latent_scale(config: ModelConfig) -> float:
    """Return the factor of the scores in latent attention.

    One over the root of a whole query head, with and without position.
    Where YaRN stretches the positions, DeepSeek sharpens the scores by the
    square of its ``mscale_all_dim`` factor, here and not in RoPE.

    Args:
        config: A model with latent attention.

    Raises:
        ArgumentError: It has none.

    Source: DeepSeek-V2, arXiv 2405.04434, equation 17, and its code.

    >>> from cutaway.roofline import CONFIGS
    >>> round(latent_scale(CONFIGS["deepseek-v3"]) * 192**0.5, 5)
    1.87385
    """
    mla = config.mla
    if mla is None:
        raise ArgumentError("config.mla", mla, "latent attention")
    scale = config.attention.scale or mla.qk_head_dim**-0.5
    scaling = config.rope_scaling
    if isinstance(scaling, YarnScaling) and scaling.mscale_all_dim:
        scale *= yarn_mscale(scaling.factor, scaling.mscale_all_dim) ** 2
    return scale
