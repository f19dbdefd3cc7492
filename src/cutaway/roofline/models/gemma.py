"""Gemma-2 and Gemma-3: local layers between global ones."""

from __future__ import annotations

from typing import Any

from cutaway.core.block_config import AttentionConfig, FFNConfig, NormConfig
from cutaway.core.rope_scaling import LinearScaling
from cutaway.roofline.models.rows import Published, Sizes, rows


def _gemma2(name: str, sizes: Sizes, score_width: int) -> dict[str, Published]:
    return rows(
        "config.json of google/gemma-2-*",
        {name: sizes},
        rope_theta=1e4,
        window=4096,
        window_pattern=("local", "global"),
        logit_softcap=30.0,
        norm=NormConfig(kind="rms_plus_one", after=True),
        attention=AttentionConfig(scale=score_width**-0.5, softcap=50.0),
        **_both(sizes),
    )


def _gemma3(
    name: str, sizes: Sizes, score_width: int, window: int, factor: float | None
) -> dict[str, Published]:
    return rows(
        "config.json of google/gemma-3-*",
        {name: sizes},
        rope_theta=1e6,
        rope_scaling=None if factor is None else LinearScaling(factor=factor),
        local_rope_theta=1e4,
        window=window,
        window_pattern=("local",) * 5 + ("global",),
        norm=NormConfig(kind="rms_plus_one", after=True, qk=True),
        attention=AttentionConfig(scale=score_width**-0.5),
        **_both(sizes),
    )


def _both(sizes: Sizes) -> dict[str, Any]:
    """Return what the two generations have in common."""
    return {
        "norm_eps": 1e-6,
        "embed_scale": sizes[1] ** 0.5,
        "ffn": FFNConfig(activation="gelu_tanh"),
        "tie_embeddings": True,
    }


# layers, hidden, heads, KV heads, head_dim, ffn, vocabulary, length
GEMMA = {
    **_gemma2("gemma-2-2b", (26, 2304, 8, 4, 256, 9216, 256000, 8192), 256),
    **_gemma2("gemma-2-9b", (42, 3584, 16, 8, 256, 14336, 256000, 8192), 256),
    **_gemma2("gemma-2-27b", (46, 4608, 32, 16, 128, 36864, 256000, 8192), 144),
    **_gemma3(
        "gemma-3-1b",
        (26, 1152, 4, 1, 256, 6912, 262144, 32768),
        score_width=256,
        window=512,
        factor=None,
    ),
    **_gemma3(
        "gemma-3-4b",
        (34, 2560, 8, 4, 256, 10240, 262208, 131072),
        score_width=256,
        window=1024,
        factor=8.0,
    ),
    **_gemma3(
        "gemma-3-12b",
        (48, 3840, 16, 8, 256, 15360, 262208, 131072),
        score_width=256,
        window=1024,
        factor=8.0,
    ),
    **_gemma3(
        "gemma-3-27b",
        (62, 5376, 32, 16, 128, 21504, 262208, 131072),
        score_width=168,
        window=1024,
        factor=8.0,
    ),
}
