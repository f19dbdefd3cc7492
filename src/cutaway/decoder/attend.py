"""Attention as a layer of the decoder does it, one block for each kind."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from cutaway.attention import attention
from cutaway.core.checks import check
from cutaway.core.config import ModelConfig
from cutaway.core.protocols import KVCache
from cutaway.decoder.latent import LatentAttention
from cutaway.decoder.layer_params import LayerParams
from cutaway.decoder.norms import Norm
from cutaway.decoder.variants import LayerVariants
from cutaway.layers import linear

if TYPE_CHECKING:
    from jaxtyping import Float

Observe = Callable[[str, int | None, Any], object]
"""Called with a stage's name, its layer, or None, and its array."""

Rope = Callable[[Any, int], Any]
"""Turns ``[tokens, heads, width]`` as at positions start, start + 1, ..."""


class AttentionBlock(Protocol):
    """All that happens between a layer's norm and its residual sum.

    A block holds no weights and no state; it is made once for a model and
    serves all its layers.
    """

    def __call__(
        self,
        index: int,
        weights: LayerParams,
        h: Float[Any, "tokens hidden"],
        rope: Rope,
        cache: KVCache,
        see: Observe,
    ) -> Float[Any, "tokens hidden"]:
        """Read ``cache``, which grows by the tokens; return the projection.

        Args:
            index: Number of the layer.
            weights: Of the layer.
            h: The tokens, normalised.
            rope: How this layer turns queries and keys.
            cache: What was read before.
            see: To be called with each stage.
        """
        ...


class GroupedAttention:
    """Attention with heads of keys and values, each for a group of queries.

    Args:
        config: The model, without ``mla``.
        variants: What its layers do beside the causal mask.
        impl: ``"numpy"`` or ``"torch"``.
    """

    def __init__(
        self, config: ModelConfig, variants: LayerVariants, *, impl: str
    ) -> None:
        self._head_dim = config.head_dim
        self._head_norm = Norm(config, impl=impl) if config.norm.qk else None
        self._variants = variants
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
        """Project, rotate, remember; attend to all that is remembered."""
        impl, heads = self._impl, (len(h), -1, self._head_dim)
        q = linear(h, weights.wq, weights.bq, impl=impl).reshape(heads)
        k = linear(h, weights.wk, weights.bk, impl=impl).reshape(heads)
        v = linear(h, weights.wv, weights.bv, impl=impl).reshape(heads)
        see("q", index, q)
        see("k", index, k)
        see("v", index, v)
        if self._head_norm is not None:
            q = self._head_norm(q, weights.q_norm)
            k = self._head_norm(k, weights.k_norm)
            see("q_norm", index, q)
            see("k_norm", index, k)
        attend = getattr(cache, "attend", None)  # of an AttendingCache
        if attend is not None:
            local = self._variants.of(index)
            out = attend(index, q, k, v, rope=rope, variant=local)
        else:
            start = cache.num_tokens
            q, k = rope(q, start), rope(k, start)
            see("q_rot", index, q)
            see("k_rot", index, k)
            cache.append(index, k, v)
            out = self._read(index, q, cache)
        see("attn_out", index, out)
        return linear(
            out.reshape(len(h), -1), weights.wo, weights.bo, impl=impl
        )

    def _read(
        self, index: int, q: Float[Any, "tokens heads head_dim"], cache: KVCache
    ) -> Float[Any, "tokens heads head_dim"]:
        """Attend to the keys and values that a layer of the cache holds."""
        keys, values = cache.view(index)
        keys, values = self._variants.seen(index, len(q), keys, values)
        variant = self._variants.of(index, len(keys))
        return attention(q, keys, values, variant=variant, impl=self._impl).out


def attention_block(
    config: ModelConfig,
    variants: LayerVariants,
    *,
    absorbed: bool | None = None,
    impl: str,
) -> AttentionBlock:
    """Return the kind of attention that a model has.

    Args:
        config: The model.
        variants: What its layers do beside the causal mask.
        absorbed: Form of latent attention; None where there is none, or
            for the cheaper form.
        impl: ``"numpy"`` or ``"torch"``.

    Raises:
        ArgumentError: A form is asked for where there is none.
    """
    if config.mla is not None:
        return LatentAttention(config, variants, absorbed=absorbed, impl=impl)
    expected = "None, as the model has no latent attention"
    check(absorbed is None, "absorbed", absorbed, expected)
    return GroupedAttention(config, variants, impl=impl)
