"""What a decoder refuses, before it has changed anything."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cutaway.core.checks import check
from cutaway.core.config import ModelConfig
from cutaway.core.errors import ArgumentError
from cutaway.decoder.params import Params, layer_shapes
from cutaway.layers import check_array

if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from jaxtyping import Int


def check_token_ids(
    token_ids: Sequence[int], start: int, config: ModelConfig
) -> Int[np.ndarray, " tokens"]:
    """Return the ids as int64, or say which one cannot be read.

    Args:
        token_ids: What the caller wants read.
        start: Position of the first of them.
        config: The model, for its vocabulary and its longest text.

    Raises:
        ArgumentError: They are not a flat, non-empty list of token ids,
            or reach beyond ``config.max_seq_len``.
    """
    try:
        ids = np.asarray(token_ids)
    except ValueError:  # lists of different lengths
        ids = np.empty((0, 0))
    shown = f"{token_ids!r:.60}"
    flat = ids.ndim == 1 and ids.size > 0
    check(flat, "token_ids", shown, "a flat, non-empty list of token ids")
    whole = np.issubdtype(ids.dtype, np.integer)
    check(whole, "token_ids", shown, "integers")
    last = config.vocab_size - 1
    wrong = np.flatnonzero((ids < 0) | (ids > last))
    if wrong.size:
        name = f"token_ids[{wrong[0]}]"
        raise ArgumentError(name, ids[wrong[0]], f"a token id from 0 to {last}")
    check(
        start + len(ids) <= config.max_seq_len,
        "token_ids",
        f"{len(ids)} tokens behind {start}",
        f"at most max_seq_len = {config.max_seq_len} tokens together",
    )
    return ids.astype(np.int64)


def check_params(config: ModelConfig, params: Params, *, impl: str) -> None:
    """Raise unless every weight has the shape, kind and dtype it must.

    Args:
        config: The sizes that the weights must have.
        params: The weights; all of one dtype.
        impl: The backend that they must belong to.

    Raises:
        ArgumentError: It names the first weight that does not fit.
    """
    table = (config.vocab_size, config.hidden_size)

    def fit(name: str, array: Any, shape: tuple[int, ...]) -> None:
        name = f"params.{name}"
        check_array(name, array, shape, impl=impl)
        dtype = params.embed.dtype
        check(array.dtype == dtype, f"{name}.dtype", array.dtype, f"{dtype}")

    fit("embed", params.embed, table)
    got, expected = len(params.layers), config.num_layers
    check(got == expected, "params.layers", got, f"{expected} layers")
    for index, layer in enumerate(params.layers):
        for name, shape in layer_shapes(config).items():
            fit(f"layers[{index}].{name}", getattr(layer, name), shape)
    fit("final_norm", params.final_norm, (config.hidden_size,))
    fit("unembed", params.unembed, table)
