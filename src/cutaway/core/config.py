"""The shape of a model: everything a forward pass must know but weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from cutaway.core.checks import check, check_choice, check_int, check_real
from cutaway.core.errors import ArgumentError

RopeLayout = Literal["interleaved", "half_split"]

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


@dataclass(frozen=True, kw_only=True)
class ModelConfig:
    """Sizes and constants of a decoder-only transformer.

    ``head_dim`` is stated, never derived: for Qwen3-4B or gpt-oss it is not
    ``hidden_size / num_heads``. Absent features are ``None``.

    Attributes:
        num_layers: Decoder layers.
        hidden_size: Width of the residual stream.
        num_heads: Query heads.
        num_kv_heads: Key/value heads; divides ``num_heads``.
        head_dim: Width of one head; even, since RoPE turns pairs.
        ffn_size: Width of the gated feed-forward network.
        vocab_size: Rows of the embedding.
        rope_theta: Base of the rotary frequencies.
        rope_layout: Which dimensions make a rotary pair: neighbours
            (``interleaved``, GGUF llama) or i and i + head_dim/2
            (``half_split``, Hugging Face).
        norm_eps: Added to the mean square in RMSNorm.
        max_seq_len: Positions the model was made for.
        window: Keys a token sees, itself included; None sees all.
        tie_embeddings: The output matrix is the embedding.
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
    rope_theta: float
    norm_eps: float
    max_seq_len: int
    rope_layout: RopeLayout = "interleaved"
    window: int | None = None
    tie_embeddings: bool = False
    moe: None = None
    mla: None = None

    def __post_init__(self) -> None:
        for name in SIZES:
            check_int(name, getattr(self, name), low=1)
        check_real("rope_theta", self.rope_theta, 0, open_low=True)
        check_real("norm_eps", self.norm_eps, 0)
        check_choice(
            "rope_layout", self.rope_layout, ("interleaved", "half_split")
        )
        check(
            self.num_heads % self.num_kv_heads == 0,
            "num_kv_heads",
            self.num_kv_heads,
            f"a divisor of num_heads = {self.num_heads}",
        )
        check(
            self.head_dim % 2 == 0, "head_dim", self.head_dim, "an even number"
        )
        if self.window is not None:
            check_int("window", self.window, low=1)

    @property
    def group_size(self) -> int:
        """Query heads that share one key/value head."""
        return self.num_heads // self.num_kv_heads

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
                ``llama``, or the file asks for scaled rotary frequencies.
        """
        arch = _required(metadata, "general.architecture")
        check_choice("general.architecture", arch, ("llama",))
        _refuse(metadata, f"{arch}.rope.scaling.type", ("none",))
        heads = _required(metadata, f"{arch}.attention.head_count")
        hidden = _required(metadata, f"{arch}.embedding_length")
        head_dim = metadata.get(f"{arch}.attention.key_length")
        if head_dim is None:
            head_dim = metadata.get(
                f"{arch}.rope.dimension_count", hidden // heads
            )
        tokens = metadata.get("tokenizer.ggml.tokens", ())
        vocab = metadata.get(f"{arch}.vocab_size", len(tokens))
        return cls(
            num_layers=_required(metadata, f"{arch}.block_count"),
            hidden_size=hidden,
            num_heads=heads,
            num_kv_heads=metadata.get(f"{arch}.attention.head_count_kv", heads),
            head_dim=head_dim,
            ffn_size=_required(metadata, f"{arch}.feed_forward_length"),
            vocab_size=vocab,
            rope_theta=float(metadata.get(f"{arch}.rope.freq_base", 1e4)),
            norm_eps=float(
                _required(metadata, f"{arch}.attention.layer_norm_rms_epsilon")
            ),
            max_seq_len=_required(metadata, f"{arch}.context_length"),
            rope_layout="interleaved",
            tie_embeddings=tie_embeddings,
        )

    @classmethod
    def from_hf(cls, config: Mapping[str, Any]) -> ModelConfig:
        """Read the configuration from a Hugging Face ``config.json``.

        Args:
            config: The parsed file of a Llama-like model.

        Raises:
            ArgumentError: A key is missing, the model type is unknown, or
                the model has what the decoder lacks: biases, another
                activation, scaled rotary frequencies.
        """
        kind = _required(config, "model_type")
        check_choice("model_type", kind, ("llama", "mistral"))
        _refuse(config, "hidden_act", ("silu",))
        _refuse(config, "attention_bias", (False,))
        _refuse(config, "mlp_bias", (False,))
        _refuse(config, "rope_scaling", ())
        heads = _required(config, "num_attention_heads")
        hidden = _required(config, "hidden_size")
        rope = config.get("rope_parameters") or {}
        _refuse(rope, "rope_type", ("default",))
        theta = config.get("rope_theta", rope.get("rope_theta", 1e4))
        return cls(
            num_layers=_required(config, "num_hidden_layers"),
            hidden_size=hidden,
            num_heads=heads,
            num_kv_heads=config.get("num_key_value_heads") or heads,
            head_dim=config.get("head_dim") or hidden // heads,
            ffn_size=_required(config, "intermediate_size"),
            vocab_size=_required(config, "vocab_size"),
            rope_theta=float(theta),
            norm_eps=float(_required(config, "rms_norm_eps")),
            max_seq_len=_required(config, "max_position_embeddings"),
            rope_layout="half_split",
            window=config.get("sliding_window"),
            tie_embeddings=bool(config.get("tie_word_embeddings", False)),
        )


def _required(mapping: Mapping[str, Any], key: str) -> Any:
    """Return ``mapping[key]`` or say which key the model lacks."""
    try:
        return mapping[key]
    except KeyError:
        raise ArgumentError(key, "no such key", "a value") from None


def _refuse(
    mapping: Mapping[str, Any], key: str, allowed: tuple[Any, ...]
) -> None:
    """Raise if a setting is there and is none that the decoder computes."""
    value = mapping.get(key)
    if value is not None and value not in allowed:
        expected = " or ".join(repr(choice) for choice in (*allowed, None))
        raise ArgumentError(key, repr(value), expected)
