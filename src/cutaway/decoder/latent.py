"""Latent attention (MLA) as a layer of the decoder does it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.attention import (
    absorbed_attention,
    expanded_attention,
    latent_rows,
    latent_scale,
    turn_tail,
)
from cutaway.core.config import ModelConfig
from cutaway.core.errors import ArgumentError
from cutaway.core.protocols import AttendingCache, KVCache
from cutaway.decoder.layer_params import LayerParams
from cutaway.decoder.variants import LayerVariants
from cutaway.layers import linear, rms_norm
from cutaway.roofline import absorbed_pays

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from jaxtyping import Float

    from cutaway.decoder.attend import Observe, Rope


class LatentAttention:
    """Attention that caches one short row a token for all its heads.

    Args:
        config: The model, with ``mla``.
        variants: What its layers do beside the causal mask.
        absorbed: Whether the heads' keys and values are left unmade; None
            does what needs fewer FLOPs in each pass.
        impl: ``"numpy"`` or ``"torch"``.

    Source: DeepSeek-V2, arXiv 2405.04434, section 2.1.
    Differs: transformers normalises latents with an eps of 1e-6, whatever
    the model's is; here it is the model's.
    """

    def __init__(
        self,
        config: ModelConfig,
        variants: LayerVariants,
        *,
        absorbed: bool | None = None,
        impl: str,
    ) -> None:
        if config.mla is None:
            raise ArgumentError("config.mla", None, "latent attention")
        self._mla = config.mla
        self._num_heads = config.num_heads
        self._eps = config.norm_eps
        self._scale = latent_scale(config)
        self._variants = variants
        self._absorbed = absorbed
        self._impl = impl

    def __call__(
        self,
        index: int,
        weights: LayerParams,
        h: Float[Any, "tokens hidden"],
        rope: Rope,
        cache: KVCache,
        see: Observe,
    ) -> Float[Any, "tokens hidden"]:
        """Make queries and rows, remember the rows, attend to all of them."""
        if isinstance(cache, AttendingCache):
            kind = type(cache).__name__
            expected = "a cache that keeps rows for latent attention to read"
            raise ArgumentError("cache", kind, expected)
        impl, start = self._impl, cache.num_tokens

        def turn(x: Any) -> Any:
            return rope(x, start)

        q = self._queries(weights, h, turn)
        see("q_rot", index, q)
        rows = latent_rows(
            h,
            weights.wkv_a,
            weights.kv_a_norm,
            turn=turn,
            eps=self._eps,
            impl=impl,
        )
        see("latent_rows", index, rows)
        cache.append(index, rows, rows[..., :0])  # the values are in the row
        out = self._read(index, weights, q, cache)
        see("attn_out", index, out)
        return linear(out.reshape(len(h), -1), weights.wo, impl=impl)

    def _queries(
        self,
        weights: LayerParams,
        h: Float[Any, "tokens hidden"],
        turn: Callable[[Any], Any],
    ) -> Float[Any, "tokens heads head_dim"]:
        """Make the queries, from a latent of their own if there is one."""
        impl, matrix = self._impl, weights.wq
        if self._mla.q_lora_rank is not None:
            h = linear(h, weights.wq_a, impl=impl)
            h = rms_norm(h, weights.q_a_norm, self._eps, impl=impl)
            matrix = weights.wq_b
        q = linear(h, matrix, impl=impl)
        q = q.reshape(len(h), self._num_heads, self._mla.qk_head_dim)
        rope_dim = self._mla.qk_rope_head_dim
        return turn_tail(q, rope_dim, turn=turn, impl=impl)

    def _read(
        self,
        index: int,
        weights: LayerParams,
        q: Float[Any, "tokens heads head_dim"],
        cache: KVCache,
    ) -> Float[Any, "tokens heads value_dim"]:
        """Attend to the rows of a layer, in one form or the other."""
        rows, _ = cache.view(index)
        rows, _ = self._variants.seen(index, len(q), rows, rows)
        variant = self._variants.of(index, len(rows))
        absorbed = self._absorbed
        if absorbed is None:
            absorbed = absorbed_pays(self._mla, len(q), len(rows) - len(q))
        form = absorbed_attention if absorbed else expanded_attention
        own = variant is not None and variant.scale is not None
        return form(
            q,
            rows,
            weights.wkv_b,
            scale=None if own else self._scale,
            variant=variant,
            impl=self._impl,
        ).out
