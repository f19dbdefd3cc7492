"""How a model tells a token where it stands: turned heads, or a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cutaway.core.config import ModelConfig
from cutaway.decoder.attend import Rope
from cutaway.layers import Rotation, scaled_frequencies

if TYPE_CHECKING:
    from typing import Any

    from jaxtyping import Float


class Positions:
    """The positions of a model, in whatever form it takes them.

    Args:
        config: The model.
        impl: ``"numpy"`` or ``"torch"``.
    """

    def __init__(self, config: ModelConfig, *, impl: str) -> None:
        self._config = config
        self._impl = impl
        self._windows = [
            config.layer_window(layer) for layer in range(config.num_layers)
        ]
        width, theta = config.rope_dim, config.rope_theta
        self._wide = self._local = None
        if theta is not None:
            self._wide = self._local = scaled_frequencies(
                width,
                theta,
                config.rope_scaling,
                num_tokens=config.max_seq_len,
            )
        if config.local_rope_theta is not None:
            local = config.local_rope_theta
            self._local = scaled_frequencies(width, local, None)

    def added(
        self,
        x: Float[Any, "tokens hidden"],
        start: int,
        table: Float[Any, "positions hidden"] | None,
    ) -> Float[Any, "tokens hidden"]:
        """Return the tokens with the vectors of their positions, if any.

        Args:
            x: The tokens' vectors.
            start: Position of the first.
            table: One vector a position; the last belong to the positions
                0 to ``max_seq_len`` - 1.
        """
        if table is None:
            return x
        first = start + len(table) - self._config.max_seq_len
        return x + table[first : first + len(x)]

    def ropes(self) -> list[Rope]:
        """Return what turns queries and keys in each layer, for one pass.

        Layers that turn alike share their tables.
        """
        wide = local = self._rope(self._wide)
        if self._local is not self._wide:
            local = self._rope(self._local)
        return [wide if window is None else local for window in self._windows]

    def _rope(self, turning: tuple[Any, float] | None) -> Rope:
        """Return a rotation by frequencies and a factor, or none at all."""
        if turning is None:
            return _unturned
        frequencies, factor = turning
        return Rotation(
            frequencies,
            layout=self._config.rope_layout,
            impl=self._impl,
            attention_factor=factor,
        )


def _unturned(x: Any, start: int) -> Any:
    """Return queries or keys as they are, whatever the position."""
    return x
