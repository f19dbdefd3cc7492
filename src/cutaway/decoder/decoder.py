"""The one decoder: token ids in, logits out."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np

from cutaway.attention import (
    AttentionVariant,
    attention,
    causal,
    sliding_window,
)
from cutaway.core.checks import check
from cutaway.core.config import ModelConfig
from cutaway.core.protocols import KVCache
from cutaway.decoder.checks import (
    check_next_tokens,
    check_params,
    check_variant,
)
from cutaway.decoder.params import LayerParams, Params
from cutaway.decoder.support import check_supported
from cutaway.kvcache import ContiguousCache
from cutaway.layers import (
    embed,
    from_numpy,
    inference,
    linear,
    rms_norm,
    rope_tables,
    rotate,
    scaled_frequencies,
    swiglu,
    to_numpy,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Any

    from jaxtyping import Float, Int

    Observe = Callable[[str, int | None, np.ndarray], object]


class Decoder:
    """A Llama-like decoder: embedding, layers, norm, output matrix.

    It holds weights and no other state: what it has read lives in the
    cache that the caller passes. Feeding a text in one piece or in many
    gives the same logits, up to rounding.

    Args:
        config: Sizes and constants.
        params: Weights that fit them.
        impl: ``"numpy"`` or ``"torch"``; the weights must be its arrays.
        variant: What attention does in every layer beside the causal mask
            and the windows of the configuration; None does nothing.

    Raises:
        ArgumentError: The weights do not fit, the configuration asks for
            what this decoder does not do, or the variant is made for
            another number of heads.

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
    ) -> None:
        check_supported(config)
        check_params(config, params, impl=impl)
        check_variant(variant, config)
        self.config = config
        self.params = params
        self.impl = impl
        self._variant = None if variant is None else causal() & variant
        layers = range(config.num_layers)
        self._windows = tuple(map(config.layer_window, layers))
        self.dtype = str(params.embed.dtype).removeprefix("torch.")
        self._frequencies, self._attention_factor = scaled_frequencies(
            config.head_dim,
            cast(float, config.rope_theta),  # or check_supported has raised
            config.rope_scaling,
            num_tokens=config.max_seq_len,
        )

    def new_cache(self, capacity_tokens: int) -> ContiguousCache:
        """Return an empty cache for this model.

        Args:
            capacity_tokens: Tokens that it shall have room for.

        Raises:
            ArgumentError: It is not a positive integer.
        """
        return ContiguousCache(
            self.config, capacity_tokens, impl=self.impl, dtype=self.dtype
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
        ids = check_next_tokens(token_ids, start, self.config)
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

        start = cache.num_tokens
        positions = np.arange(start, start + len(ids))
        x = embed(from_numpy(ids, impl=impl), params.embed, impl=impl)
        see("embed", None, x)
        angles = rope_tables(
            from_numpy(positions, impl=impl),
            self._frequencies,
            dtype=x.dtype,
            impl=impl,
            attention_factor=self._attention_factor,
        )
        for index, layer in enumerate(params.layers):
            x = self._layer(index, layer, x, angles, cache, see)
        if last_only:
            x = x[-1:]
        x = rms_norm(x, params.final_norm, config.norm_eps, impl=impl)
        see("final_norm", None, x)
        logits = linear(x, params.unembed, impl=impl)
        see("logits", None, logits)
        return to_numpy(logits, impl=impl)

    def _layer(
        self,
        index: int,
        weights: LayerParams,
        x: Float[Any, "tokens hidden"],
        angles: tuple[Float[Any, "tokens half"], Float[Any, "tokens half"]],
        cache: KVCache,
        see: Observe,
    ) -> Float[Any, "tokens hidden"]:
        """Run one layer: attention, then the feed-forward network.

        Each adds what it computes to the residual stream ``x``.
        """
        impl, eps = self.impl, self.config.norm_eps
        h = rms_norm(x, weights.attn_norm, eps, impl=impl)
        see("attn_norm", index, h)
        h = self._attend(index, weights, h, angles, cache, see)
        see("attn_proj", index, h)
        x = x + h
        see("resid_mid", index, x)

        h = rms_norm(x, weights.ffn_norm, eps, impl=impl)
        see("ffn_norm", index, h)
        h = swiglu(h, weights.w_gate, weights.w_up, weights.w_down, impl=impl)
        see("ffn_out", index, h)
        x = x + h
        see("resid", index, x)
        return x

    def _attend(
        self,
        index: int,
        weights: LayerParams,
        h: Float[Any, "tokens hidden"],
        angles: tuple[Float[Any, "tokens half"], Float[Any, "tokens half"]],
        cache: KVCache,
        see: Observe,
    ) -> Float[Any, "tokens hidden"]:
        """Project, rotate, remember; attend to all that is remembered."""
        impl, layout = self.impl, self.config.rope_layout
        heads = (len(h), -1, self.config.head_dim)
        q = linear(h, weights.wq, impl=impl).reshape(heads)
        k = linear(h, weights.wk, impl=impl).reshape(heads)
        v = linear(h, weights.wv, impl=impl).reshape(heads)
        see("q", index, q)
        see("k", index, k)
        see("v", index, v)
        q = rotate(q, *angles, layout=layout, impl=impl)
        k = rotate(k, *angles, layout=layout, impl=impl)
        see("q_rot", index, q)
        see("k_rot", index, k)
        cache.append(index, k, v)
        keys, values = cache.view(index)
        variant = self._variant_of(index, len(keys))
        out = attention(q, keys, values, variant=variant, impl=impl).out
        see("attn_out", index, out)
        return linear(out.reshape(len(h), -1), weights.wo, impl=impl)

    def _variant_of(self, index: int, kv_len: int) -> AttentionVariant | None:
        """Return what a layer does; None is the causal mask and no more."""
        window = self._windows[index]
        if window is None or kv_len <= window:
            return self._variant
        local = sliding_window(window)
        return local if self._variant is None else local & self._variant
