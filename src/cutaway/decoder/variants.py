"""What attention does in each layer of a model beside the causal mask."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import and_
from typing import TYPE_CHECKING

from cutaway.attention import (
    AttentionVariant,
    causal,
    sink_logits,
    sliding_window,
    softcap,
)
from cutaway.core.config import ModelConfig
from cutaway.decoder.layer_params import LayerParams
from cutaway.layers import to_numpy

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float


class LayerVariants:
    """The mask, the scores and the sinks of every layer.

    They are put together once: window, scale, cap and sinks of the
    configuration, then what the caller wants besides.

    Args:
        config: The model.
        layers: Its weights, for the sinks.
        extra: A variant for all layers, or None.
        impl: The backend of the weights.

    Raises:
        ArgumentError: ``extra`` contradicts the model, for instance by a
            scale of its own.
    """

    def __init__(
        self,
        config: ModelConfig,
        layers: Sequence[LayerParams],
        *,
        extra: AttentionVariant | None,
        impl: str,
    ) -> None:
        self._relative = extra is None
        self._windows = [
            config.layer_window(index) for index in range(len(layers))
        ]
        # Each layer's variant without its window, and with it.
        self._wide: list[AttentionVariant | None] = []
        self._local: list[AttentionVariant | None] = []
        for window, layer in zip(self._windows, layers, strict=True):
            parts = _scores(config, layer, impl)
            parts += [] if extra is None else [extra]
            wide = reduce(and_, parts, causal()) if parts else None
            local = wide
            if window is not None:
                local = reduce(and_, parts, sliding_window(window))
            self._wide.append(wide)
            self._local.append(local)

    def of(
        self, layer: int, kv_len: int | None = None
    ) -> AttentionVariant | None:
        """Return what a layer does; None is the causal mask and no more.

        With ``kv_len`` keys or fewer than the window nothing is hidden.
        """
        window = self._windows[layer]
        hides = window is not None and (kv_len is None or kv_len > window)
        return self._local[layer] if hides else self._wide[layer]

    def seen(
        self,
        layer: int,
        q_len: int,
        keys: Float[Any, "kv_len ..."],
        values: Float[Any, "kv_len ..."],
    ) -> tuple[Float[Any, "seen ..."], Float[Any, "seen ..."]]:
        """Return the last keys and values, all that any query sees.

        Args:
            layer: Which layer.
            q_len: Queries; they are the last tokens.
            keys: Of all tokens.
            values: Likewise.
        """
        window = self._windows[layer]
        if window is None or not self._relative:
            return keys, values  # an extra variant may count from the start
        nearest = q_len + window - 1
        return keys[-nearest:], values[-nearest:]


def _scores(
    config: ModelConfig, layer: LayerParams, impl: str
) -> list[AttentionVariant]:
    """Return what the configuration does to the scores of a layer."""
    attention = config.attention
    parts = []
    usual = config.head_dim**-0.5
    # Latent attention has a scale of its own and gives it itself.
    if config.mla is None and attention.scale not in (None, usual):
        parts.append(AttentionVariant(name="scale", scale=attention.scale))
    if attention.softcap is not None:
        parts.append(softcap(attention.softcap))
    if layer.sinks is not None:
        parts.append(sink_logits(to_numpy(layer.sinks, impl=impl).tolist()))
    return parts
