"""The one decoder: token ids in, logits out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.attention import AttentionVariant
from cutaway.core.checks import check
from cutaway.core.config import ModelConfig
from cutaway.core.protocols import KVCache
from cutaway.decoder.attend import Observe, Rope, attention_block
from cutaway.decoder.checks import (
    check_next_tokens,
    check_params,
    check_variant,
)
from cutaway.decoder.feed_forward import FeedForward
from cutaway.decoder.layer_params import LayerParams
from cutaway.decoder.norms import Norm
from cutaway.decoder.params import Params
from cutaway.decoder.positions import Positions
from cutaway.decoder.support import check_supported
from cutaway.decoder.variants import LayerVariants
from cutaway.kvcache import CacheFactory, make_cache
from cutaway.layers import (
    embed,
    from_numpy,
    inference,
    linear,
    soft_cap,
    to_numpy,
)

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from jaxtyping import Float, Int


class Decoder:
    """A decoder-only transformer: embedding, layers, norm, output matrix.

    What a layer consists of is as in Llama unless the configuration says
    otherwise; ``check_supported`` says what it may not say. It holds
    weights and no other state: what it has read lives in the
    cache that the caller passes. Feeding a text in one piece or in many
    gives the same logits, up to rounding.

    Args:
        config: Sizes and constants.
        params: Weights that fit them.
        impl: ``"numpy"`` or ``"torch"``; the weights must be its arrays.
        variant: What attention does in every layer beside the causal mask
            and the windows of the configuration; None does nothing.
        absorbed: The form that latent attention takes in every pass; None
            chooses the cheaper one, pass by pass.

    Raises:
        ArgumentError: The weights do not fit, the configuration asks for
            what this decoder does not do, the variant is made for another
            number of heads, or ``absorbed`` for other attention.

    Source: Touvron et al. 2023, arXiv 2302.13971, section 2.2.
    Differs: transformers' LlamaForCausalLM keeps q and k rows in
    half-split order; here ``config.rope_layout`` says which order it is.
    It recomputes the frequencies of ``DynamicScaling`` while a text grows,
    beside keys that were turned by the old ones; here they are those of a
    text of ``max_seq_len`` tokens throughout.

    >>> config = ModelConfig(num_layers=2, hidden_size=8, num_heads=4,
    ...     num_kv_heads=2, head_dim=6, ffn_size=8, vocab_size=5,
    ...     rope_theta=1e4, norm_eps=1e-5, max_seq_len=16)
    >>> params = Params.random(config, 0, impl="numpy")
    >>> decoder = Decoder(config, params, impl="numpy")
    >>> cache = decoder.new_cache(capacity_tokens=8)
    >>> decoder.forward([3, 1, 4], cache).shape, cache.num_tokens
    ((3, 5), 3)
    >>> decoder.forward([1], cache).shape, cache.num_tokens
    ((1, 5), 4)
    """

    def __init__(
        self,
        config: ModelConfig,
        params: Params,
        *,
        impl: str = "torch",
        variant: AttentionVariant | None = None,
        absorbed: bool | None = None,
    ) -> None:
        check_supported(config)
        check_params(config, params, impl=impl)
        check_variant(variant, config)
        self.config = config
        self.params = params
        self.impl = impl
        self.dtype = str(params.embed.dtype).removeprefix("torch.")
        variants = LayerVariants(
            config, params.layers, extra=variant, impl=impl
        )
        self._attend = attention_block(
            config, variants, absorbed=absorbed, impl=impl
        )
        self._feed_forward = FeedForward(config, impl=impl)
        self._norm = Norm(config, impl=impl)
        self._positions = Positions(config, impl=impl)

    def new_cache(
        self, capacity_tokens: int, *, kind: str | CacheFactory = "contiguous"
    ) -> KVCache:
        """Return an empty cache for this model.

        Args:
            capacity_tokens: Tokens that it shall be able to read.
            kind: A name in ``kvcache.CACHES``, or a factory.

        Raises:
            ArgumentError: Not a positive integer, or no kind of cache.
        """
        return make_cache(
            kind,
            self.config,
            capacity_tokens,
            impl=self.impl,
            dtype=self.dtype,
        )

    def forward(
        self,
        token_ids: Sequence[int],
        cache: KVCache,
        *,
        last_only: bool = False,
        observe: Observe | None = None,
    ) -> Float[np.ndarray, "rows vocab"]:
        """Read tokens behind those of the cache; return their logits.

        Args:
            token_ids: The next tokens, at least one.
            cache: What was read before; grows by ``len(token_ids)``. On
                any error it is cut back to what it held.
            last_only: Compute the logits of the last token only.
            observe: Called with the name of a stage, its layer (None
                outside the layers) and the array, in the order of the
                computation. The array must not be changed.

        Returns:
            One row of logits per token, or one row, of the dtype of the
            weights. Row i scores the token that follows token i.

        Raises:
            ArgumentError: ``token_ids`` is empty, holds anything but
                token numbers, or goes beyond ``config.max_seq_len``; or
                the cache is not one for this model.
            CacheFullError: The tokens do not fit into the cache.

        Cost: about 2 FLOPs per weight and token, and 4 x heads x
        head_dim x layers per pair of a token and one it sees. A pass reads
        every weight once, whether it has one token or many.
        """
        start = cache.num_tokens
        position = getattr(cache, "next_position", start)
        ids = check_next_tokens(token_ids, position, self.config)
        try:
            with inference(impl=self.impl):
                logits = self._read(ids, cache, last_only, observe)
            check(
                cache.num_tokens == start + len(ids),
                "cache",
                "more layers than the model",
                f"a cache of {self.config.num_layers} layers",
            )
        except BaseException:
            cache.truncate(start)
            raise
        return logits

    def _read(
        self,
        ids: Int[np.ndarray, " tokens"],
        cache: KVCache,
        last_only: bool,
        observe: Observe | None,
    ) -> Float[np.ndarray, "rows vocab"]:
        """Run the whole pass: embed, layers, norm, logits."""
        config, params, impl = self.config, self.params, self.impl

        def see(name: str, layer: int | None, array: Any) -> None:
            if observe is not None:
                observe(name, layer, to_numpy(array, impl=impl))

        x = embed(from_numpy(ids, impl=impl), params.embed, impl=impl)
        if config.embed_scale is not None:
            x = config.embed_scale * x
        x = self._positions.added(x, cache.num_tokens, params.positions)
        see("embed", None, x)
        ropes = self._positions.ropes()
        for index, layer in enumerate(params.layers):
            x = self._layer(index, layer, x, ropes[index], cache, see)
        x = self.final_norm(x[-1:] if last_only else x)
        see("final_norm", None, x)
        logits = self.unembed(x)
        see("logits", None, logits)
        return to_numpy(logits, impl=impl)

    def _layer(
        self,
        index: int,
        weights: LayerParams,
        x: Float[Any, "tokens hidden"],
        rope: Rope,
        cache: KVCache,
        see: Observe,
    ) -> Float[Any, "tokens hidden"]:
        """Run one layer: attention, then the feed-forward network.

        Each adds what it computes to the residual stream ``x``.
        """
        h = self._norm(x, weights.attn_norm, weights.attn_norm_bias)
        see("attn_norm", index, h)
        h = self._attend(index, weights, h, rope, cache, see)
        see("attn_proj", index, h)
        x = x + self._norm_after("attn_post_norm", index, weights, h, see)
        see("resid_mid", index, x)

        h = self._norm(x, weights.ffn_norm, weights.ffn_norm_bias)
        see("ffn_norm", index, h)
        h = self._feed_forward(weights, h)
        see("ffn_out", index, h)
        x = x + self._norm_after("ffn_post_norm", index, weights, h, see)
        see("resid", index, x)
        return x

    def _norm_after(
        self,
        name: str,
        index: int,
        weights: LayerParams,
        h: Float[Any, "tokens hidden"],
        see: Observe,
    ) -> Float[Any, "tokens hidden"]:
        """Normalise what a part of a layer returns, in models that do so."""
        if not self.config.norm.after:
            return h
        bias = getattr(weights, f"{name}_bias")
        h = self._norm(h, getattr(weights, name), bias)
        see(name, index, h)
        return h

    def final_norm(
        self, x: Float[Any, "rows hidden"]
    ) -> Float[Any, "rows hidden"]:
        """Apply the last norm to rows of the residual stream.

        Args:
            x: The rows, arrays of the backend.
        """
        params = self.params
        return self._norm(x, params.final_norm, params.final_norm_bias)

    def unembed(self, x: Float[Any, "rows hidden"]) -> Float[Any, "rows vocab"]:
        """Return the logits of rows that the last norm has left.

        Args:
            x: The rows, arrays of the backend.
        """
        logits = linear(x, self.params.unembed, impl=self.impl)
        cap = self.config.logit_softcap
        return logits if cap is None else soft_cap(logits, cap)
