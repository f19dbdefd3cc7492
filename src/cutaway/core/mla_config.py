"""Multi-head latent attention: the widths of its low-rank matrices."""

from __future__ import annotations

from dataclasses import dataclass

from cutaway.core.checks import check, check_int


@dataclass(frozen=True, kw_only=True)
class MLAConfig:
    """Sizes of DeepSeek's latent attention.

    Keys and values of all heads are made from one short vector a token,
    and only that is cached, beside one rotary key that all heads share.

    Attributes:
        kv_lora_rank: Width of the vector that keys and values come from.
        q_lora_rank: Width of the one that queries come from; None makes
            queries by one full matrix.
        qk_nope_head_dim: Part of a head without position.
        qk_rope_head_dim: Part of a head that RoPE turns; even.
        v_head_dim: Width of a value head.

    Raises:
        ArgumentError: A width is not a positive integer.

    Source: DeepSeek-V2, arXiv 2405.04434, section 2.1.

    >>> mla = MLAConfig(kv_lora_rank=512, q_lora_rank=1536,
    ...     qk_nope_head_dim=128, qk_rope_head_dim=64, v_head_dim=128)
    >>> mla.qk_head_dim, mla.cache_width
    (192, 576)
    """

    kv_lora_rank: int
    q_lora_rank: int | None
    qk_nope_head_dim: int
    qk_rope_head_dim: int
    v_head_dim: int

    def __post_init__(self) -> None:
        names = ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim")
        for name in (*names, "v_head_dim"):
            check_int(f"mla.{name}", getattr(self, name), low=1)
        if self.q_lora_rank is not None:
            check_int("mla.q_lora_rank", self.q_lora_rank, low=1)
        even = self.qk_rope_head_dim % 2 == 0
        got = self.qk_rope_head_dim
        check(even, "mla.qk_rope_head_dim", got, "an even number")

    @property
    def qk_head_dim(self) -> int:
        """Width of a query or key head, both parts together."""
        return self.qk_nope_head_dim + self.qk_rope_head_dim

    @property
    def cache_width(self) -> int:
        """Numbers cached a token and layer, without a factor for heads."""
        return self.kv_lora_rank + self.qk_rope_head_dim
