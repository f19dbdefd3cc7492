"""The kind of norm that a model has, as one function."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.core.config import ModelConfig
from cutaway.layers import layer_norm, rms_norm

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float


class Norm:
    """Normalises rows as ``config.norm.kind`` says.

    Args:
        config: The model.
        impl: ``"numpy"`` or ``"torch"``.
    """

    def __init__(self, config: ModelConfig, *, impl: str) -> None:
        self._kind = config.norm.kind
        self._eps = config.norm_eps
        self._impl = impl

    def __call__(
        self,
        x: Float[Any, "*rows hidden"],
        weight: Float[Any, " hidden"],
        bias: Float[Any, " hidden"] | None = None,
    ) -> Float[Any, "*rows hidden"]:
        """Return the rows, each normalised and scaled by channel.

        Args:
            x: The rows.
            weight: As stored.
            bias: Of a LayerNorm.
        """
        if self._kind == "layer":
            return layer_norm(x, weight, bias, self._eps, impl=self._impl)
        return rms_norm(x, self.scale(weight), self._eps, impl=self._impl)

    def scale(self, weight: Any) -> Float[Any, " hidden"]:
        """Return the factor of each channel, which Gemma stores minus 1."""
        return 1 + weight if self._kind == "rms_plus_one" else weight
