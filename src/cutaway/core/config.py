"""The shape of a model: everything a forward pass must know but weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cutaway.core.block_config import (
    AttentionConfig,
    BiasedPart,
    FFNConfig,
    NormConfig,
    RopeLayout,
)
from cutaway.core.checks import check_int
from cutaway.core.config_checks import check_config
from cutaway.core.config_gguf import gguf_fields
from cutaway.core.hf_config import hf_fields
from cutaway.core.kv_shape import KVShape
from cutaway.core.mla_config import MLAConfig
from cutaway.core.moe_config import MoEConfig
from cutaway.core.rope_scaling import RopeScaling
from cutaway.core.window_pattern import WindowPattern

NORM_OF_LLAMA = NormConfig()
FFN_OF_LLAMA = FFNConfig()
ATTENTION_OF_LLAMA = AttentionConfig()


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Sizes and constants of a decoder-only transformer.

    ``head_dim`` is stated, never derived: for Qwen3-4B or gpt-oss it is not
    ``hidden_size / num_heads``. Absent features are ``None``; what is left
    out is as in Llama.

    Attributes:
        num_layers: Decoder layers.
        hidden_size: Width of the residual stream.
        num_heads: Query heads.
        num_kv_heads: Key/value heads; divides ``num_heads``.
        head_dim: Width of one query head; even, since RoPE turns pairs.
        ffn_size: Width of the dense feed-forward network.
        vocab_size: Rows of the embedding.
        rope_theta: Base of the rotary frequencies; None without RoPE.
        norm_eps: Added to the mean square in RMSNorm.
        max_seq_len: Positions the model was made for.
        rope_layout: Which dimensions make a rotary pair: neighbours
            (``interleaved``, GGUF llama) or i and i + head_dim/2
            (``half_split``, Hugging Face).
        rope_scaling: How the frequencies are stretched to longer texts,
            or None.
        local_rope_theta: Base in the local layers, if they have another;
            it is not stretched.
        learned_positions: Rows of a table of position vectors, or None.
            If it has more than ``max_seq_len``, the first are unused.
        window: Keys a token sees, itself included; None sees all.
        window_pattern: Which layers have the window, repeated over all
            layers, as ``("local", "global")``; None is every layer.
        tie_embeddings: The output matrix is the embedding.
        embed_scale: Factor of the embedding on its way in, or None.
        logit_softcap: Logits become ``cap * tanh(logits / cap)``, or None.
        biases: Which matrices add a bias, of ``"qkv"``, ``"attn_out"``,
            ``"ffn"`` and ``"router"``.
        norm: Kind of the norms, and which are added.
        ffn: Gated or not, and the activation.
        attention: Scale, cap and sinks of the scores.
        moe: Mixture-of-experts settings, or None.
        mla: Latent-attention settings, or None.

    Raises:
        ArgumentError: A size is not a positive integer, or two do not fit.
    """

    num_layers: int
    hidden_size: int
    num_heads: int
    num_kv_heads: int
    head_dim: int
    ffn_size: int
    vocab_size: int
    rope_theta: float | None
    norm_eps: float
    max_seq_len: int
    rope_layout: RopeLayout = "interleaved"
    rope_scaling: RopeScaling | None = None
    local_rope_theta: float | None = None
    learned_positions: int | None = None
    window: int | None = None
    window_pattern: WindowPattern | None = None
    tie_embeddings: bool = False
    embed_scale: float | None = None
    logit_softcap: float | None = None
    biases: frozenset[BiasedPart] = frozenset()
    norm: NormConfig = NORM_OF_LLAMA
    ffn: FFNConfig = FFN_OF_LLAMA
    attention: AttentionConfig = ATTENTION_OF_LLAMA
    moe: MoEConfig | None = None
    mla: MLAConfig | None = None

    def __post_init__(self) -> None:
        check_config(self)

    @property
    def group_size(self) -> int:
        """Query heads that share one key/value head."""
        return self.num_heads // self.num_kv_heads

    @property
    def rope_dim(self) -> int:
        """Width of the part of a head that positions turn."""
        return self.head_dim if self.mla is None else self.mla.qk_rope_head_dim

    @property
    def kv_shape(self) -> KVShape:
        """Heads and widths of what a token caches in one layer.

        Latent attention caches one vector for all heads: the latent and,
        behind it, the shared rotary key. Values are made of the latent.
        """
        if self.mla is not None:
            return KVShape(1, self.mla.cache_width, 0)
        return KVShape(self.num_kv_heads, self.head_dim, self.head_dim)

    @property
    def num_moe_layers(self) -> int:
        """Layers whose network is a mixture of experts."""
        moe = self.moe
        return 0 if moe is None else self.num_layers - moe.num_dense_layers

    @property
    def num_local_layers(self) -> int:
        """Layers that look through the window."""
        windows = map(self.layer_window, range(self.num_layers))
        return sum(window is not None for window in windows)

    def layer_window(self, layer: int) -> int | None:
        """Return the keys that a token sees in a layer; None sees all.

        Args:
            layer: Number of the layer, from 0.

        Raises:
            ArgumentError: There is no such layer.

        >>> from cutaway.roofline import CONFIGS
        >>> [CONFIGS["gemma-2-9b"].layer_window(i) for i in range(3)]
        [4096, None, 4096]
        """
        check_int("layer", layer, 0, self.num_layers - 1)
        pattern = self.window_pattern or ("local",)
        is_local = pattern[layer % len(pattern)] == "local"
        return self.window if is_local else None

    @classmethod
    def from_gguf(
        cls, metadata: Mapping[str, Any], *, tie_embeddings: bool
    ) -> ModelConfig:
        """Read the configuration from the metadata of a GGUF file.

        Args:
            metadata: Key-value pairs, as ``GGUFFile.metadata`` gives them.
            tie_embeddings: Whether the file lacks an ``output.weight``.

        Raises:
            ArgumentError: A key is missing, the architecture is not
                ``llama``, or the file asks for a scaling of the rotary
                frequencies that its keys do not define.
        """
        return cls(**gguf_fields(metadata), tie_embeddings=tie_embeddings)

    @classmethod
    def from_hf(cls, config: Mapping[str, Any]) -> ModelConfig:
        """Read the configuration from a Hugging Face ``config.json``.

        Args:
            config: The parsed file. Model types: llama, mistral, mixtral,
                qwen2, qwen3, qwen3_moe, gemma2, gemma3_text, gemma3 (its
                text part), gpt2, opt, gpt_oss, deepseek_v2, deepseek_v3.

        Raises:
            ArgumentError: A key is missing, the model type is unknown, or
                a setting has a value that no field here can express.
        """
        return cls(**hf_fields(config))
