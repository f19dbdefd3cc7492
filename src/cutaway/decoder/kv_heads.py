"""The same decoder with another number of key/value heads."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from cutaway.attention.heads import HeadMerge, merge_heads, repeat_heads
from cutaway.core.checks import check
from cutaway.core.config import ModelConfig
from cutaway.decoder.params import Params
from cutaway.layers import from_numpy

if TYPE_CHECKING:
    from jaxtyping import Float


def with_kv_heads(
    config: ModelConfig,
    params: Params,
    num_kv_heads: int,
    *,
    how: HeadMerge = "mean",
    rng: np.random.Generator | None = None,
) -> tuple[ModelConfig, Params]:
    """Return a model whose layers have fewer, or more, key/value heads.

    Fewer: neighbouring heads become one, and the model another one, worse
    until it is trained again. More: heads are copied, and the model
    computes exactly what it did, from a larger cache.

    Args:
        config: The model.
        params: Its weights; not changed.
        num_kv_heads: Heads that the result shall have: a divisor of
            ``config.num_kv_heads``, or a multiple of it that divides
            ``config.num_heads``.
        how: As for ``merge_heads``.
        rng: As for ``merge_heads``.

    Returns:
        The new configuration and weights; all but the key and value
        matrices are shared with the old ones.

    Raises:
        ArgumentError: The numbers do not divide, or the model has latent
            attention or biases on its keys.

    Cost: a copy of the key and value matrices.
    Source: Ainslie et al. 2023, arXiv 2305.13245, section 2.1.

    >>> config = ModelConfig(num_layers=1, hidden_size=8, num_heads=4,
    ...     num_kv_heads=2, head_dim=4, ffn_size=8, vocab_size=5,
    ...     rope_theta=1e4, norm_eps=1e-5, max_seq_len=16)
    >>> params = Params.random(config, 0, impl="numpy")
    >>> config, params = with_kv_heads(config, params, 1)
    >>> config.num_kv_heads, params.layers[0].wk.shape
    (1, (4, 8))
    """
    plain = config.mla is None and "qkv" not in config.biases
    expected = "a model without latent attention and biases of keys"
    check(plain, "config", "one with either", expected)
    before = config.num_kv_heads
    changed = replace(config, num_kv_heads=num_kv_heads)

    def turn(weight: Any) -> Float[Any, "rows hidden"]:
        impl = "numpy" if isinstance(weight, np.ndarray) else "torch"
        array = np.asarray(weight)
        if num_kv_heads > before:
            array = repeat_heads(array, before, num_kv_heads)
        else:
            array = merge_heads(array, before, num_kv_heads, how=how, rng=rng)
        return from_numpy(array, impl=impl)

    layers = tuple(
        replace(layer, wk=turn(layer.wk), wv=turn(layer.wv))
        for layer in params.layers
    )
    return changed, replace(params, layers=layers)
